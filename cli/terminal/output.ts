/** What commands print with: results on stdout, notes on stderr, one JSON document instead where asked for. */
import { styleText } from 'node:util';
import type { CliIo, Terminal } from '../io.ts';
import { safeJson, sanitizeLine } from './sanitize.ts';

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';
/** Text without control sequences of its own, and how to show it. */
export type Segment = string | { readonly text: string; readonly style: Style };
export type Line = Segment | readonly Segment[];

export interface Output {
  readonly json: boolean;
  /** The result: a document for programs, lines for people. */
  result(document: unknown, lines: () => readonly Line[]): void;
  /** A remark for people, on stderr; programs that asked for JSON do not get it. */
  note(line: Line): void;
  /** Bytes as they are. */
  raw(bytes: Uint8Array | string): void;
  /** An error: lines for people or one document, on stderr. */
  error(document: unknown, lines: readonly Line[]): void;
}

/** https://no-color.org: any value that is not empty turns colours off. */
export const coloursOn = (env: CliIo['env'], stream: Terminal): boolean =>
  stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';

export function createOutput(io: CliIo, json: boolean): Output {
  const print = (stream: Terminal, line: Line): void => {
    stream.write(`${renderLine(line, coloursOn(io.env, stream))}\n`);
  };
  return {
    json,
    result: (document, lines) => {
      if (json) io.stdout.write(`${safeJson(document)}\n`);
      else for (const line of lines()) print(io.stdout, line);
    },
    note: (line) => {
      if (!json) print(io.stderr, line);
    },
    raw: (bytes) => {
      io.stdout.write(bytes);
    },
    error: (document, lines) => {
      if (json) io.stderr.write(`${safeJson(document)}\n`);
      else for (const line of lines) print(io.stderr, line);
    },
  };
}

const isSegments = (line: Line): line is readonly Segment[] => Array.isArray(line);

export function renderLine(line: Line, colours: boolean): string {
  const segments = isSegments(line) ? line : [line];
  return segments
    .map((segment) => {
      if (typeof segment === 'string') return sanitizeLine(segment);
      const text = sanitizeLine(segment.text);
      return colours ? styleText(segment.style, text, { validateStream: false }) : text;
    })
    .join('');
}

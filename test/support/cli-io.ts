/** Runs the CLI in this process, with streams that remember, and an environment of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearLine, cursorTo, moveCursor } from 'node:readline';
import { PassThrough, Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { CliIo, Terminal } from '../../cli/io.ts';
import { main } from '../../cli/main.ts';

export interface CliResult {
  code: number;
  stdout: string;
  stderr: string;
  json: () => unknown;
}

export interface CliSetup {
  env?: Record<string, string>;
  stdin?: string;
  cwd?: string;
  tty?: boolean;
  /** Of the terminal. Default: 80. */
  columns?: number;
  now?: () => number;
  /** Called with a function that presses Ctrl-C, once the command listens for it. */
  interrupt?: (press: () => void) => void;
  /** Sees what is written, in order, as it is written. */
  onWrite?: (stream: 'stdout' | 'stderr', text: string) => void;
}

class Collected extends Writable implements Terminal {
  text = '';
  readonly isTTY: boolean;
  readonly columns: number;
  readonly #seen: (text: string) => void;

  constructor(setup: CliSetup, seen: (text: string) => void) {
    super();
    this.isTTY = setup.tty ?? false;
    this.columns = setup.columns ?? 80;
    this.#seen = seen;
  }

  cursorTo(column: number): boolean {
    return cursorTo(this, column);
  }

  clearLine(direction: -1 | 0 | 1): boolean {
    return clearLine(this, direction);
  }

  moveCursor(columns: number, rows: number): boolean {
    return moveCursor(this, columns, rows);
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString('utf8');
    this.#seen(chunk.toString('utf8'));
    done();
  }
}

/** A folder that no test shares, gone with the test. */
export function temporaryFolder(): { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'cognition-cli-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return { path };
}

export async function runCli(argv: readonly string[], setup: CliSetup = {}): Promise<CliResult> {
  const config = temporaryFolder();
  const stdout = new Collected(setup, (text) => setup.onWrite?.('stdout', text));
  const stderr = new Collected(setup, (text) => setup.onWrite?.('stderr', text));
  const stdin =
    setup.stdin === undefined ? new PassThrough().end() : Readable.from([Buffer.from(setup.stdin)]);
  const io: CliIo = {
    argv,
    env: { COGNITION_CONFIG_DIR: config.path, HOME: config.path, AWS_REGION: 'eu-west-1', ...setup.env },
    cwd: setup.cwd ?? process.cwd(),
    stdin,
    stdout,
    stderr,
    onInterrupt: (listener) => {
      let listening = true;
      setup.interrupt?.(() => {
        if (!listening) throw new Error('Ctrl-C would have ended the process here');
        listener('SIGINT');
      });
      return () => {
        listening = false;
      };
    },
    fetch,
    now: setup.now ?? Date.now,
  };
  const code = await main(io);
  return { code, stdout: stdout.text, stderr: stderr.text, json: () => JSON.parse(stdout.text) };
}

/** The AWS chain reads the environment of the process, whatever a command is given. */
const KEY = {
  AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_EC2_METADATA_DISABLED: 'true',
};
Object.assign(process.env, KEY);

/**
 * Finds and parses the frontmatter of a SKILL.md: YAML 1.2 core, strict, without aliases, anchors, tags and
 * directives. The one parser for every endpoint. Lexing and parsing are driven token by token, because only
 * so are nesting depth and tags known before anything recursive runs.
 */
import { Composer, CST, type Document, isScalar, Lexer, type ParsedNode, Parser, visit } from 'yaml';
import type { PackageProblem } from '../../contracts/error-codes.ts';
import { LIMITS } from '../../contracts/limits.ts';
import { positionAt, quote } from './problem-list.ts';

export const SKILL_FILE = 'SKILL.md';
const MAX_PROBLEMS = 100;
/** The rest of a broken document is mostly echo. */
const MAX_YAML_ERRORS = 20;

type Code = PackageProblem['code'];

/** A problem with the line and column of SKILL.md itself. */
export type Report = (code: Code, message: string, offset: number) => void;

export interface Frontmatter {
  /** With LF line ends. */
  readonly yaml: string;
  /** Undefined when problems were reported that leave nothing to look into. */
  readonly document: Document.Parsed<ParsedNode> | undefined;
  /** Reports at an offset of `yaml`. */
  readonly report: Report;
}

type Located = { kind: 'found'; yaml: string } | { kind: 'missing' } | { kind: 'unclosed' };

/** @returns undefined when there is no frontmatter to speak of; the reason has been reported. */
export function readFrontmatter(
  text: string,
  add: (problem: PackageProblem) => void,
): Frontmatter | undefined {
  const located = locate(text);
  if (located.kind === 'missing') {
    add({
      code: 'frontmatter_missing',
      path: SKILL_FILE,
      line: 1,
      message: `${SKILL_FILE} does not begin with frontmatter; let its first line be "---"`,
    });
    return undefined;
  }
  if (located.kind === 'unclosed') {
    add({
      code: 'frontmatter_unclosed',
      path: SKILL_FILE,
      line: 1,
      message: `the frontmatter of ${SKILL_FILE} has no end; close it with a line that is "---" alone`,
    });
    return undefined;
  }
  const { yaml } = located;
  const report = reporter(yaml, add, MAX_PROBLEMS);
  return { yaml, report, document: parse(yaml, report) };
}

/**
 * Turns offsets of the YAML into lines and columns of the file, whose first line is the fence. Each takes a walk
 * through the text, so what comes after `max` reports is dropped before it.
 */
export function reporter(yaml: string, add: (problem: PackageProblem) => void, max: number): Report {
  let reports = 0;
  return (code, message, offset) => {
    reports += 1;
    if (reports > max) return;
    const { line, column } = positionAt(yaml, offset);
    add({ code, path: SKILL_FILE, line: line + 1, column, message });
  };
}

/** A line that is `---`, with trailing spaces at most. */
const isFence = (line: string): boolean => /^---[ \t]*\r?$/.test(line);

function locate(text: string): Located {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const open = text.indexOf('\n', start);
  if (!isFence(text.slice(start, open === -1 ? text.length : open))) return { kind: 'missing' };
  for (let at = open; at !== -1; at = text.indexOf('\n---', at + 1)) {
    if (!text.startsWith('\n---', at)) continue;
    const end = text.indexOf('\n', at + 1);
    if (isFence(text.slice(at + 1, end === -1 ? text.length : end))) {
      return { kind: 'found', yaml: text.slice(open + 1, at + 1).replaceAll('\r\n', '\n') };
    }
  }
  return { kind: 'unclosed' };
}

function parse(yaml: string, report: Report): Document.Parsed<ParsedNode> | undefined {
  if (Buffer.byteLength(yaml, 'utf8') > LIMITS.frontmatterBytes) {
    report(
      'frontmatter_yaml',
      `the frontmatter is longer than ${LIMITS.frontmatterBytes} bytes; shorten it`,
      0,
    );
    return undefined;
  }
  const tokens = tokenize(yaml, report);
  if (tokens === undefined) return undefined;
  const composer = new Composer({ version: '1.2', schema: 'core', strict: true, uniqueKeys: false });
  const [document, ...more] = withoutStacks(() => [...composer.compose(tokens, true, yaml.length)]);
  if (document === undefined) return undefined;
  const errors = document.errors.slice(0, MAX_YAML_ERRORS);
  for (const error of errors) report('frontmatter_yaml', `YAML: ${explain(error.message)}`, error.pos[0]);
  for (const extra of more.slice(0, 1)) {
    report('frontmatter_yaml', 'YAML: a second document begins here; keep one', extra.range[0]);
  }
  if (errors.length > 0 || more.length > 0) return undefined;
  reportDuplicates(document, report);
  return document;
}

/**
 * The composer makes an Error of everything it does not like, and hostile text has one at every character: their
 * stacks, which nobody reads, would take most of the time. The work is synchronous, so nothing else sees this.
 */
function withoutStacks<T>(work: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = limit;
  }
}

/** YAML that is cut short by a character with a meaning is most often prose without quotes. */
const explain = (message: string): string =>
  `${message}; put a value with ": ", "#", quotes or brackets in it between quotes, or use "|"`;

/** The concrete syntax tree; undefined when it holds what is refused before composing. */
function tokenize(yaml: string, report: Report): CST.Token[] | undefined {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let refused = 0;
  let inScalar = false;
  for (const lexeme of new Lexer().lex(yaml)) {
    const type: string | null = inScalar ? 'content' : CST.tokenType(lexeme);
    inScalar = type === 'scalar';
    const offset = parser.offset;
    const refusal = REFUSED[type ?? ''];
    if (refusal !== undefined) {
      refused += 1;
      if (refused <= MAX_YAML_ERRORS) report(refusal.code, refusal.message(lexeme), offset);
    }
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > LIMITS.frontmatterDepth) {
      const message = `YAML: nested deeper than ${LIMITS.frontmatterDepth} levels; flatten it`;
      report('frontmatter_yaml', message, offset);
      return undefined;
    }
  }
  for (const token of parser.end()) tokens.push(token);
  return refused > 0 ? undefined : tokens;
}

const REFUSED: Readonly<Record<string, { code: Code; message: (source: string) => string } | undefined>> = {
  alias: {
    code: 'frontmatter_alias',
    message: (source) =>
      `YAML aliases are refused: ${quote(source)}; put text that begins with "*" between quotes`,
  },
  anchor: {
    code: 'frontmatter_alias',
    message: (source) =>
      `YAML anchors are refused: ${quote(source)}; put text that begins with "&" between quotes`,
  },
  tag: {
    code: 'frontmatter_tag',
    message: (source) =>
      `YAML tags are refused: ${quote(source)}; put text that begins with "!" between quotes`,
  },
  'directive-line': {
    code: 'frontmatter_yaml',
    message: (source) => `YAML directives are refused: ${quote(source)}; remove the line`,
  },
};

/** On our own, since the parser's check compares each key with every other. */
function reportDuplicates(document: Document.Parsed<ParsedNode>, report: Report): void {
  visit(document, {
    Map(_key, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const identity = `${typeof key.value}:${String(key.value)}`;
        if (seen.has(identity)) {
          const message = `the key ${quote(String(key.value))} is there twice; keep one`;
          report('frontmatter_duplicate_key', message, key.range?.[0] ?? 0);
        }
        seen.add(identity);
      }
    },
  });
}

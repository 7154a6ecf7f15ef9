/**
 * JSON as this API takes it: UTF-8 without faults, no key twice, no lone surrogates, no deep nesting.
 * JSON.parse makes the values; before it jsonc-parser reads the same text, because JSON.parse keeps the last
 * of two equal keys in silence and does not say where a fault is.
 */
import { isUtf8 } from 'node:buffer';
import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { invalidRequest, jsonPointer } from './invalid-request.ts';

/** Where `files` and `content` of a package are: their keys and texts have rules and codes of their own. */
const PACKAGE_MEMBERS: readonly PropertyKey[] = ['files', 'content'];

export interface StrictJsonOptions {
  /** Leave names and texts of `files` and `content` to the package rules, which list every problem. */
  readonly packageMembers?: boolean;
}

/** @throws CognitionError `invalid_request` with line and column. */
export function parseStrictJson(bytes: Uint8Array, options: StrictJsonOptions = {}): unknown {
  if (bytes.length === 0) throw invalidRequest('the body is empty; send JSON');
  const text = decodeUtf8(bytes);
  checkText(text, options.packageMembers === true);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw brokenAt(text, positionOf(cause) ?? 0, 'not JSON');
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8').decode(bytes);
  if (isUtf8(bytes)) return text;
  let at = text.indexOf('\ufffd');
  const replaced = (index: number): boolean => {
    const offset = Buffer.byteLength(text.slice(0, index), 'utf8');
    return !Buffer.from('\ufffd').equals(bytes.subarray(offset, offset + 3));
  };
  while (!replaced(at)) at = text.indexOf('\ufffd', at + 1);
  throw brokenAt(text, at, 'not UTF-8');
}

function checkText(text: string, packageMembers: boolean): void {
  const size = sizeOf(text);
  const keysOfObjects: Set<string>[] = [];
  visit(
    text,
    {
      onObjectBegin(offset) {
        size.enter(offset);
        keysOfObjects.push(new Set());
      },
      onObjectProperty(key, offset, _length, _line, _column, path) {
        const keys = keysOfObjects.at(-1);
        if (keys?.has(key))
          throw keyFault(text, offset, [...path(), key], 'the key is given twice; keep one');
        keys?.add(key);
        if (key === '__proto__') refuseProto(text, offset, path(), packageMembers);
        if (!key.isWellFormed()) refuseSurrogate(text, offset, path(), packageMembers);
      },
      onObjectEnd() {
        size.leave();
        keysOfObjects.pop();
      },
      onArrayBegin: size.enter,
      onArrayEnd: size.leave,
      onLiteralValue(value, offset, _length, _line, _column, path) {
        size.count(offset);
        if (typeof value === 'string' && !value.isWellFormed()) {
          refuseSurrogate(text, offset, path(), packageMembers);
        }
      },
      onError(code, offset) {
        throw brokenAt(text, offset, SYNTAX_FAULTS.get(printParseErrorCode(code)) ?? syntaxFault(code));
      },
    },
    { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false },
  );
}

/** How many values there are, and how deep: both bounded before JSON.parse makes anything of them. */
function sizeOf(text: string) {
  let depth = 0;
  let values = 0;
  const count = (offset: number): void => {
    values += 1;
    if (values > LIMITS.jsonValues) throw brokenAt(text, offset, `more than ${LIMITS.jsonValues} values`);
  };
  return {
    count,
    enter: (offset: number): void => {
      count(offset);
      depth += 1;
      if (depth > LIMITS.jsonDepth) {
        throw brokenAt(text, offset, `nested more than ${LIMITS.jsonDepth} levels deep`);
      }
    },
    leave: (): void => {
      depth -= 1;
    },
  };
}

const SYNTAX_FAULTS: ReadonlyMap<string, string> = new Map([
  ['InvalidSymbol', 'not a JSON value'],
  ['PropertyNameExpected', 'a key in double quotes is missing'],
  ['ValueExpected', 'a value is missing'],
  ['ColonExpected', 'a colon is missing'],
  ['CommaExpected', 'a comma is missing'],
  ['CloseBraceExpected', 'a closing brace is missing'],
  ['CloseBracketExpected', 'a closing bracket is missing'],
  ['EndOfFileExpected', 'there is more after the end of the JSON'],
  ['InvalidCommentToken', 'JSON has no comments'],
  ['UnexpectedEndOfString', 'a string does not end'],
]);

/** The parser's own word, e.g. `InvalidEscapeCharacter`, as a phrase. */
const syntaxFault = (code: ParseErrorCode): string =>
  printParseErrorCode(code)
    .replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase();

/** zod's records drop this key, so a value under it would be lost in silence. */
function refuseProto(
  text: string,
  offset: number,
  parent: readonly PropertyKey[],
  packageMembers: boolean,
): void {
  if (packageMembers && parent.length === 1 && parent[0] === 'files') return;
  throw keyFault(text, offset, [...parent, '__proto__'], 'this key is not allowed here; rename it');
}

function refuseSurrogate(
  text: string,
  offset: number,
  path: readonly PropertyKey[],
  packageMembers: boolean,
): void {
  if (packageMembers && path[0] !== undefined && PACKAGE_MEMBERS.includes(path[0])) return;
  throw keyFault(text, offset, path, 'a lone surrogate is not text; escape pairs together');
}

function keyFault(text: string, offset: number, path: readonly PropertyKey[], message: string): Error {
  const pointer = jsonPointer(path);
  const { line, column } = placeOf(text, offset);
  return invalidRequest(`the body, line ${line}, column ${column}, at ${pointer}: ${message}`, [
    { pointer, message: `line ${line}, column ${column}: ${message}` },
  ]);
}

function brokenAt(text: string, offset: number, message: string): Error {
  const { line, column } = placeOf(text, offset);
  return invalidRequest(
    `the body is not JSON as this API takes it: line ${line}, column ${column}: ${message}`,
  );
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lastBreak = before.lastIndexOf('\n');
  return { line: before.split('\n').length, column: offset - lastBreak };
}

function positionOf(error: unknown): number | undefined {
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? undefined : Number(position);
}

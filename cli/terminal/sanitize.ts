/**
 * Text of servers, scripts and callers in lines of ours: escape sequences, control characters and characters that
 * turn the direction of writing are taken out, so that nothing can move the cursor, forge a line or hide a word.
 */
import { stripVTControlCharacters } from 'node:util';

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029\v\f]/g;

/** For one line: line breaks become spaces. */
export function sanitizeLine(text: string): string {
  return sanitizeText(text.replace(LINE_BREAK, ' ')).replaceAll('\n', ' ');
}

/** For several lines: `\n` and tabs stay. */
export function sanitizeText(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROL, '').replace(DIRECTION, '');
}

const JSON_UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** JSON for a terminal: what JSON.stringify leaves as it is, though a terminal may act on it, is escaped too. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(
    JSON_UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

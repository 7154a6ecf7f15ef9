/** What the frontmatter of a skill must say, and what it may say only with a warning. */
import { isMap, isScalar, isSeq, type Pair, type ParsedNode } from 'yaml';
import type { PackageProblem } from '../../contracts/error-codes.ts';
import { LIMITS } from '../../contracts/limits.ts';
import { nameSchema } from '../../contracts/names.ts';
import { quote } from './problem-list.ts';
import { type Report, readFrontmatter, reporter } from './read-frontmatter.ts';

/** The keys of the public Agent Skills format. */
const KNOWN_KEYS = new Set(['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools']);
/** Warnings are stored with every revision, so their number is bounded. */
const MAX_WARNINGS = 50;

/** Cc without tab and line breaks. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const CONTROL_OR_BREAK = /[\u0000-\u001f\u007f-\u009f]/;
/** Format characters, fillers and variation selectors that can hide text from people but not from models. */
const INVISIBLE = /[\p{Cf}\u115f\u1160\u3164\uffa0]|[\u{e0100}-\u{e01ef}]/u;
const INVISIBLE_ALL = new RegExp(INVISIBLE.source, 'gu');
/** A joiner between the parts of one emoji hides nothing. */
const EMOJI_SEQUENCE =
  /\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)+/gu;

export interface FrontmatterCheck {
  /** As written; undefined when it is not text. */
  readonly name: string | undefined;
  readonly description: string;
  readonly warnings: readonly PackageProblem[];
}

interface Entry {
  /** Offset of the key. */
  readonly at: number;
  readonly value: ParsedNode | null;
}
type Entries = ReadonlyMap<string, Entry>;

/** @param name the skill's name, as the request gives it. */
export function checkFrontmatter(
  name: string,
  text: string,
  add: (problem: PackageProblem) => void,
): FrontmatterCheck {
  const warnings: PackageProblem[] = [];
  const frontmatter = readFrontmatter(text, add);
  if (frontmatter?.document === undefined) return { name: undefined, description: '', warnings };
  const { yaml, report } = frontmatter;
  const { contents } = frontmatter.document;
  const empty = contents === null || (isScalar(contents) && contents.value === null);
  if (!empty && !isMap(contents)) {
    report('frontmatter_not_a_map', 'the frontmatter is not made of "key: value" lines', contents.range[0]);
    return { name: undefined, description: '', warnings };
  }
  const warn = reporter(yaml, (warning) => warnings.push(warning), MAX_WARNINGS);
  const entries = isMap(contents) ? readEntries(contents.items, warn) : new Map<string, Entry>();
  const written = checkName(name, entries.get('name'), report);
  const description = checkDescription(entries.get('description'), report);
  warnAboutTools(entries.get('allowed-tools'), warn);
  warnAboutMetadata(entries.get('metadata'), warn);
  warnAboutInvisible(yaml, description, entries.get('description')?.at ?? 0, warn);
  return { name: written, description, warnings };
}

function readEntries(items: readonly Pair<ParsedNode, ParsedNode | null>[], warn: Report): Entries {
  const entries = new Map<string, Entry>();
  for (const { key, value } of items) {
    const name = isScalar(key) ? String(key.value) : 'a collection';
    const isText = isScalar(key) && typeof key.value === 'string';
    if (!isText || !KNOWN_KEYS.has(name)) {
      warn(
        'frontmatter_unknown_key',
        `the key ${quote(name)} is not part of the skill format and has no effect; move it below "metadata"`,
        key.range[0],
      );
    } else if (!entries.has(name)) entries.set(name, { at: key.range[0], value });
  }
  return entries;
}

const isAbsent = (entry: Entry | undefined): entry is undefined =>
  entry === undefined || entry.value === null || (isScalar(entry.value) && entry.value.value === null);

const textOf = ({ value }: Entry): string | undefined =>
  isScalar(value) && typeof value.value === 'string' ? value.value : undefined;

const offsetOf = ({ at, value }: Entry): number => value?.range[0] ?? at;

function checkName(expected: string, entry: Entry | undefined, report: Report): string | undefined {
  if (isAbsent(entry)) {
    report(
      'frontmatter_name_missing',
      `the name is missing; add "name: " and ${quote(expected)}`,
      startOf(entry),
    );
    return undefined;
  }
  const name = textOf(entry);
  const at = offsetOf(entry);
  if (name === undefined) {
    report('frontmatter_name_not_string', 'the name is not text; put it between quotes', at);
    return undefined;
  }
  if (CONTROL_OR_BREAK.test(name)) {
    report('frontmatter_control_character', `the name ${quote(name)} has a control character; remove it`, at);
  } else if (!nameSchema.safeParse(name).success) {
    report('frontmatter_name_invalid', invalidName(name), at);
  }
  if (name !== expected) {
    report(
      'frontmatter_name_mismatch',
      `the name is ${quote(name)} here and ${quote(expected)} in the request; make them equal`,
      at,
    );
  }
  return name;
}

const startOf = (entry: Entry | undefined): number => entry?.at ?? 0;

export const invalidName = (name: string): string =>
  `the name ${quote(name)} is not allowed; use at most ${LIMITS.skillNameLength} lower-case letters and digits, joined by single hyphens`;

function checkDescription(entry: Entry | undefined, report: Report): string {
  if (isAbsent(entry)) {
    report(
      'frontmatter_description_missing',
      'the description is missing; add "description: ..."',
      startOf(entry),
    );
    return '';
  }
  const description = textOf(entry);
  const at = offsetOf(entry);
  if (description === undefined) {
    report('frontmatter_description_not_string', 'the description is not text; put it between quotes', at);
    return '';
  }
  if (description.trim() === '') {
    report('frontmatter_description_empty', 'the description is empty; say what the skill is for', at);
  }
  const length = [...description].length;
  if (length > LIMITS.descriptionLength) {
    const message = `the description has ${length} characters; at most ${LIMITS.descriptionLength} are allowed`;
    report('frontmatter_description_too_long', message, at);
  }
  if (CONTROL.test(description)) {
    report('frontmatter_control_character', 'the description has a control character; remove it', at);
  }
  if (!description.isWellFormed()) {
    report('content_lone_surrogate', 'the description has half of a surrogate pair; use valid Unicode', at);
  }
  return description;
}

function warnAboutTools(entry: Entry | undefined, warn: Report): void {
  if (!isAbsent(entry) && isSeq(entry.value)) {
    const message = 'allowed-tools is a list; the skill format has it as one text, separated by spaces';
    warn('frontmatter_allowed_tools_list', message, entry.at);
  }
}

function warnAboutMetadata(entry: Entry | undefined, warn: Report): void {
  if (isAbsent(entry)) return;
  const isText = (node: unknown): boolean => isScalar(node) && typeof node.value === 'string';
  const { value } = entry;
  const plain = isMap(value) && value.items.every((pair) => isText(pair.key) && isText(pair.value));
  if (!plain) {
    warn(
      'frontmatter_metadata_not_strings',
      'metadata is not a map of text to text; put values between quotes',
      entry.at,
    );
  }
}

/** Those written out, and those that an escape puts into the description. */
function warnAboutInvisible(yaml: string, description: string, describedAt: number, warn: Report): void {
  const seen = new Set<string>();
  const look = (text: string, offset: (index: number) => number): void => {
    if (!INVISIBLE.test(text)) return;
    const shown = text.replace(EMOJI_SEQUENCE, (emoji) => ' '.repeat(emoji.length));
    for (const { 0: character, index } of shown.matchAll(INVISIBLE_ALL)) {
      if (seen.has(character)) continue;
      seen.add(character);
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      warn(
        'frontmatter_invisible_character',
        `an invisible character, U+${code}; remove it unless meant`,
        offset(index),
      );
    }
  };
  look(yaml, (index) => index);
  look(description, () => describedAt);
}

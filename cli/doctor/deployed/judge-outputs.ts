/** What attempts_outputs.py leaves, against what became of it. */
import type { Attempt } from './attempt.ts';

/** Whatever the last moment of the race for its parent was, it is one of these. */
const HONEST: Readonly<Record<string, (text: string) => boolean>> = {
  good: (text) => text === 'good',
  closed: (text) => text === 'closed',
  growing: (text) => /^x*$/.test(text),
  'swapped/passwd': (text) => text === 'of the run',
  'aside/passwd': (text) => text === 'of the run',
};
const MUST_ARRIVE = ['good', 'closed', 'growing'];

const HOSTILE: Readonly<Record<string, string>> = {
  link: 'a symbolic link',
  folder: 'a folder that is a symbolic link',
  loop: 'a symbolic link to itself',
  skills: 'a symbolic link to the packages',
  pipe: 'a pipe',
  socket: 'a socket',
  one: 'a hard link',
  two: 'the other end of a hard link',
  large: 'a file over the limit',
  'not-utf8-\ufffd': 'a name that is not UTF-8',
  'line?break': 'a name with a line break',
};

export interface Outputs {
  /** Paths that were collected, and their bytes as text. */
  readonly collected: ReadonlyMap<string, string>;
  /** Paths that were not, and why. */
  readonly refused: ReadonlyMap<string, string>;
}

/** A list may show a control character as a mark, because it would be a line or worse where it is read. */
const shown = (path: string): string => path.replace(/[\u0000-\u001f\u007f]/g, '?');

export function judgeOutputs(outputs: Outputs): Attempt[] {
  const { collected } = outputs;
  const refused = new Map([...outputs.refused].map(([path, reason]) => [shown(path), reason]));
  const hostile = Object.entries(HOSTILE).map(([path, what]): Attempt => {
    const reason = refused.get(path);
    // A profile may be too small for it.
    const absent = path === 'large' && !collected.has(path);
    return {
      group: 'outputs',
      attempt: what,
      refused: !collected.has(path) && (reason !== undefined || absent),
      detail: reason ?? (absent ? 'it could not be made' : 'nothing says that it was refused'),
    };
  });
  const foreign = [...collected].filter(([path, text]) => HONEST[path]?.(text) !== true);
  const missing = MUST_ARRIVE.filter((path) => !collected.has(path));
  return [
    ...hostile,
    {
      group: 'outputs',
      attempt: 'content of another file by a parent that is swapped',
      refused: foreign.length === 0,
      detail:
        foreign.length === 0
          ? `${collected.size} outputs are the run's own`
          : names(foreign.map(([path]) => path)),
    },
    {
      group: 'outputs',
      attempt: 'hiding honest outputs',
      refused: missing.length === 0,
      detail: missing.length === 0 ? 'they have arrived' : `missing: ${names(missing)}`,
    },
  ];
}

const names = (paths: readonly string[]): string => JSON.stringify(paths).slice(0, 160);

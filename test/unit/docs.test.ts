import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LOCAL_BINDINGS } from '../../infra/local/local-identity.ts';
import {
  ERROR_CODES,
  PACKAGE_PROBLEM_CODES,
  PACKAGE_WARNING_CODES,
} from '../../shared/contracts/error-codes.ts';
import { EVENT_TYPES } from '../../shared/contracts/event.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { sandboxProfilesSchema } from '../../shared/contracts/sandbox-profile.ts';
import { scopeBindingsSchema } from '../../shared/contracts/scope.ts';
import { RUN_TRANSITIONS } from '../../shared/domain/run-transitions.ts';
import { runCli } from '../support/cli-io.ts';

const doc = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

describe('docs say what the code does', () => {
  it('draws exactly the run transitions of the domain', () => {
    const drawn = [...doc('runs.md').matchAll(/^ {2}(\w+) --> (\w+)$/gm)].map(
      ([, from, to]) => `${from}>${to}`,
    );

    const coded = Object.entries(RUN_TRANSITIONS).flatMap(([from, next]) =>
      next.map((to) => `${from}>${to}`),
    );

    expect(drawn.toSorted()).toEqual(coded.toSorted());
  });

  it('names every event type', () => {
    const text = doc('runs.md');

    const missing = EVENT_TYPES.filter((type) => !text.includes(`\`${type}\``));

    expect(missing).toEqual([]);
  });

  it('has cause and fix for every code', () => {
    const rows = new Set([...doc('errors.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code));

    const codes = [...Object.keys(ERROR_CODES), ...PACKAGE_PROBLEM_CODES, ...PACKAGE_WARNING_CODES];

    expect([...rows].toSorted()).toEqual(codes.toSorted());
  });

  it('states every limit with its number', () => {
    const rows = new Map(
      [...doc('limits.md').matchAll(/^\| `(\w+)` \| ([\d,]+) \|/gm)].map(([, name, value]) => [
        name,
        Number(value?.replaceAll(',', '')),
      ]),
    );

    expect(Object.fromEntries(rows)).toEqual(LIMITS);
  });

  it('shows settings files as their schemas take them, the default profile with its values', () => {
    const [bindings, profiles] = [...doc('settings.md').matchAll(/^```json\n([^`]+)```/gm)].map(([, text]) =>
      JSON.parse(text ?? ''),
    );

    expect(scopeBindingsSchema.safeParse(bindings).error).toBeUndefined();
    expect(LOCAL_BINDINGS).toMatchObject([
      { account_id: bindings[0].account_id, role_id: bindings[0].role_id },
    ]);
    expect(profiles).toEqual(sandboxProfilesSchema.parse([{ name: 'default' }]));
  });

  it.each(shownCommands())('shows only commands that exist: cognition %s', async (shown) => {
    const { stderr } = await runCli(shown.split(' '));

    expect(stderr).not.toContain('[usage]');
  });
});

/** Without an endpoint nothing is sent; what is wrong with the words is found before. */
function shownCommands(): string[] {
  const text = `${doc('../README.md')}\n${doc('cli.md')}`;
  return [...text.matchAll(/^npx cognition ([^#\n]*)/gm)].map(([, words]) => (words ?? '').trim());
}

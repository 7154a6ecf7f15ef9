/** Whatever the docs name is there: files, headings, settings, scripts, commands. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEPLOYMENT_SETTINGS } from '../../shared/contracts/deployment-setting-schema.ts';
import { SETTINGS } from '../../shared/contracts/settings.ts';
import { runCli } from '../support/cli-io.ts';

const root = resolve(import.meta.dirname, '../..');
const PAGES = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const read = (page: string): string => readFileSync(join(root, page), 'utf8');

/** As GitHub makes them. */
const anchors = (text: string): string[] =>
  [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) =>
    (heading ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe.each(PAGES)('%s', (page) => {
  const text = read(page);

  it('links to what is there', () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link]) => link ?? '')
      .filter((link) => !/^https?:/.test(link));

    const broken = links.filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(root, page) : join(root, dirname(page), path);
      if (!existsSync(target)) return true;
      return anchor !== undefined && !anchors(readFileSync(target, 'utf8')).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('names settings that exist', () => {
    const known = new Set([...SETTINGS, ...DEPLOYMENT_SETTINGS].map(({ name }) => name));

    const named = [...text.matchAll(/\bCOGNITION_[A-Z0-9_]*[A-Z0-9]\b(?![*_])/g)].map(([name]) => name);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));

    const named = [...text.matchAll(/\bnpm run ([a-z:-]+)/g)].map(([, name]) => name ?? '');
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it('names files of the project that exist', () => {
    const named = [...text.matchAll(/`((?:infra|shared|functions|cli|examples|test|docs)\/[\w./-]+)`/g)].map(
      ([, path]) => path ?? '',
    );

    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it.each(commandsOf(text))('shows a command that exists: cognition %s', async (shown) => {
    const { stderr } = await runCli(shown.split(' '));

    expect(stderr).not.toContain('[usage]');
  });
});

/** In code, alone on a line or within one. Without an endpoint nothing is sent. */
function commandsOf(text: string): string[] {
  return [...text.matchAll(/npx cognition ([^#`)\n]*)/g)].map(([, words]) => (words ?? '').trim());
}

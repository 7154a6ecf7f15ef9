/** docs/operating.md says what the templates, the counted calls, the alarms and the example policies say. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALARMS } from '../../infra/constructs/observability/alarm-table.ts';
import { FUNCTIONS } from '../../infra/functions/function-table.ts';
import { operatingTables, withTables } from '../../infra/price/price-tables.ts';
import { scopeBindingsSchema } from '../../shared/contracts/scope.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import { EXAMPLE_POLICIES, examplePolicy, isAllowed, requestArn } from '../support/iam-policies.ts';
import { resourcesOf, variant } from './support/synthesize.ts';

const root = new URL('../..', import.meta.url).pathname;
const page = readFileSync(join(root, 'docs/operating.md'), 'utf8');

const STACKS = new Set(['storage', 'network', 'sandbox', 'runs', 'api', 'observability']);

/** The text below each heading of a level, up to the next one of that level or above. */
function sections(level: number): ReadonlyMap<string, string> {
  const mark = '#'.repeat(level);
  const parts = page.split(new RegExp(`^(?=#{1,${level}} )`, 'm'));
  return new Map(
    parts
      .filter((part) => part.startsWith(`${mark} `))
      .map((part) => [part.slice(mark.length + 1, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)]),
  );
}

describe('the tables', () => {
  it('are what the templates and the counted calls give; vitest -u writes them', async () => {
    const templates = [...variant('production').templates.values()];

    await expect(withTables(page, operatingTables(templates))).toMatchFileSnapshot(
      join(root, 'docs/operating.md'),
    );
  });
});

describe('the runbook', () => {
  const runbook = page.slice(page.indexOf('\n## Runbook\n'));
  const headings = [...runbook.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);

  it('has a section for each alarm, and none for what is no alarm', () => {
    expect(headings.toSorted()).toEqual(ALARMS.map(({ title }) => title).toSorted());
  });

  it('comes last, so that each alarm’s link leads into it', () => {
    const anchors = headings.map((heading) => heading?.toLowerCase().replaceAll(' ', '-'));

    for (const { runbook: link } of ALARMS) expect(anchors).toContain(link.replace('docs/operating.md#', ''));
    expect(new Set(anchors).size).toBe(anchors.length);
  });

  it.each(ALARMS.map(({ title, impact }) => [title, impact] as const))(
    '%s: what it means, how to look, what to do',
    (title, impact) => {
      const text = sections(3).get(title)?.replaceAll(/\s+/g, ' ').trim() ?? '';

      const [means = '', look = '', act = ''] = text.split(/(?=\*\*(?:Look|Do)\.\*\*)/);
      expect(means).toContain(`**Means.** ${impact}`);
      expect(look).toMatch(/^\*\*Look\.\*\* .{40,}/);
      expect(act).toMatch(/^\*\*Do\.\*\* .{40,}/);
    },
  );

  it('names log groups that the deployment has', () => {
    const templates = [
      ...variant('everything').templates.values(),
      ...variant('production').templates.values(),
    ];
    const made = templates
      .flatMap((template) => resourcesOf(template, 'AWS::Logs::LogGroup'))
      .map(({ Properties }) => Properties?.LogGroupName);

    const named = [...page.matchAll(/\/(?:aws|cognition)\/[\w/-]*\bcognition\b[\w/-]*/g)].map(
      ([name]) => name,
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !made.includes(name))).toEqual([]);
  });

  it('names functions that the deployment has', () => {
    const named = [...page.matchAll(/`cognition-([a-z-]+)`|--function-name cognition-([a-z-]+)/g)].map(
      ([, quoted, asked]) => quoted ?? asked,
    );
    const known = new Set(FUNCTIONS.map(({ name }) => name));

    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => name !== undefined && !known.has(name) && !STACKS.has(name))).toEqual([]);
  });

  it('names words of the log that are logged', () => {
    const logged = execFileSync('grep', ['-rhoE', "'[a-z_]+(\\.| )[a-z_]+'", 'shared', 'functions'], {
      cwd: root,
      encoding: 'utf8',
    });

    const named = [...runbook.matchAll(/`([a-z]+\.[a-z_]+|request (?:failed|refused))`/g)].map(
      ([, word]) => word,
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((word) => !logged.includes(`'${word}'`))).toEqual([]);
  });
});

describe('the example policies', () => {
  it('are all listed', () => {
    for (const name of Object.keys(EXAMPLE_POLICIES)) expect(page).toContain(`| \`${name}.json\` |`);
  });

  it('come out of the commands that are shown as the tests of the policies fill them in', async () => {
    const block = [...page.matchAll(/```sh\n([\s\S]*?)```/g)]
      .map(([, text]) => text ?? '')
      .find((text) => text.includes('sed -e'));
    const commands =
      block
        ?.split('\n')
        .filter((line) => !line.startsWith('aws '))
        .join('\n') ?? '';
    const folder = mkdtempSync(join(tmpdir(), 'cognition-policy-'));

    execFileSync('bash', ['-euc', commands.replace('> acme-builder.json', `> ${folder}/policy.json`)], {
      cwd: root,
    });

    const made: unknown = JSON.parse(readFileSync(join(folder, 'policy.json'), 'utf8'));
    rmSync(folder, { recursive: true });
    const scope = encodeScopeRef({ tenant: 'acme' });
    expect(made).toEqual(examplePolicy('builder', scope));
    expect(await isAllowed({ arn: requestArn('POST', `/v1/scopes/${scope}/skills`), identity: [made] })).toBe(
      true,
    );
  });

  it('shows bindings of another account as the deployment reads them', () => {
    const [bindings] = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) =>
      JSON.parse(text ?? ''),
    );

    expect(scopeBindingsSchema.safeParse(bindings).error).toBeUndefined();
  });
});

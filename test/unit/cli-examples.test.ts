import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { checkPackageFolder } from '../../cli/package-folder/check-package-folder.ts';
import { readAgentFile } from '../../cli/read-agent-file.ts';
import { temporaryFolder } from '../support/cli-io.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));
const analysis = join(examples, 'skills/ticket-analysis');
const TICKETS = readFileSync(join(examples, 'data/tickets.json'), 'utf8');

/** As a sandbox runs it: the script itself, the working directory elsewhere, results in $OUTPUT_DIR. */
function runScript(program: string, script: string, input: string | Buffer, args: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'cognition-example-'));
  try {
    const result = spawnSync(program, [join(examples, 'skills', script), ...args], {
      cwd: folder,
      input,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH ?? '',
        OUTPUT_DIR: join(folder, 'outputs'),
        PYTHONDONTWRITEBYTECODE: '1',
      },
    });
    const names = result.status === 0 ? (OUTPUTS[script] ?? []) : [];
    const read = (name: string) => readFileSync(join(folder, 'outputs', name), 'utf8');
    const outputs = Object.fromEntries(names.map((name) => [name, read(name)]));
    return { code: result.status, stdout: result.stdout, stderr: result.stderr, outputs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const ANALYZE = 'ticket-analysis/scripts/analyze.py';
const DIGEST = 'report-digest/scripts/digest.mjs';
const OUTPUTS: Record<string, string[]> = {
  [ANALYZE]: ['report.json', 'chart.svg'],
  [DIGEST]: ['digest.md'],
};

const analyze = (input: string | Buffer, ...args: string[]) => runScript('python3', ANALYZE, input, args);
const digest = (input: string, ...args: string[]) => runScript(process.execPath, DIGEST, input, args);

const ticket = (changes: Record<string, unknown> = {}) => ({
  id: 'T-1',
  subject: 'Export of report fails',
  category: 'billing',
  priority: 'high',
  created_at: '2026-01-05T09:00:00Z',
  resolved_at: '2026-01-05T19:00:00Z',
  ...changes,
});

describe('the example skills', () => {
  it.each(['ticket-analysis', 'report-digest'])('%s is a valid package without a warning', async (name) => {
    const checked = await checkPackageFolder(join(examples, 'skills', name));

    expect(checked).toMatchObject({ kind: 'valid', name, warnings: [] });
  });

  it.each(['support-analyst.json', 'digest-writer.yaml'])(
    '%s attaches skills that are there',
    async (file) => {
      const agent = await readAgentFile(join(examples, 'agents', file));

      for (const skill of agent.skills ?? []) {
        expect(await checkPackageFolder(join(examples, 'skills', skill))).toMatchObject({ kind: 'valid' });
      }
    },
  );

  it('are no model for a file that is not UTF-8: it is refused, not read with replaced characters', async () => {
    const file = join(temporaryFolder().path, 'agent.yaml');
    writeFileSync(file, Buffer.from('name: a\ndescription: caf\xe9\n', 'latin1'));

    await expect(readAgentFile(file)).rejects.toThrow('is not UTF-8 text');
  });

  it('have data that their generator writes, byte for byte', () => {
    const generated = execFileSync(process.execPath, [join(examples, 'data/generate-tickets.mjs')]);

    expect(generated.toString()).toBe(TICKETS);
  });
});

describe('ticket-analysis', () => {
  const schema = z.fromJSONSchema(
    JSON.parse(readFileSync(join(analysis, 'assets/output-schema.json'), 'utf8')),
  );

  it('writes a report that fits its schema, a chart, and a short summary', () => {
    const result = analyze(TICKETS);

    expect(result.stderr).toBe('');
    expect(result.code).toBe(0);
    const report = JSON.parse(result.outputs['report.json'] ?? '');
    expect(schema.safeParse(report)).toMatchObject({ success: true });
    expect(JSON.parse(result.stdout)).toMatchObject({ tickets: 420, files: ['report.json', 'chart.svg'] });
    expect(report.period.tickets).toBe(JSON.parse(TICKETS).length);
    expect(result.outputs['chart.svg']).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
  });

  it('gives the same report for the same tickets', () => {
    expect(analyze(TICKETS).outputs).toEqual(analyze(TICKETS).outputs);
  });

  it('counts what takes longer than allowed, open tickets by the newest moment of the data', () => {
    const tickets = [
      ticket({ id: 'late' }),
      ticket({ id: 'in-time', resolved_at: '2026-01-05T17:00:00Z' }),
      ticket({ id: 'open-late', resolved_at: null, created_at: '2026-01-05T10:00:00Z' }),
      ticket({ id: 'open-young', resolved_at: undefined, created_at: '2026-01-05T18:00:00Z' }),
    ];

    const report = JSON.parse(analyze(JSON.stringify(tickets)).outputs['report.json'] ?? '');
    const looser = JSON.parse(
      analyze(JSON.stringify(tickets), '--sla', 'high=12').outputs['report.json'] ?? '',
    );

    expect(report.period.as_of).toBe('2026-01-05T19:00:00Z');
    expect(report.sla.worst.map(({ id }: { id: string }) => id)).toEqual(['late', 'open-late']);
    expect(report.resolution_hours.overall).toMatchObject({ count: 2, p50: 9, max: 10 });
    expect(looser.sla.breaches).toBe(0);
  });

  it('reads one ticket a line as well, and a file in inputs/ without being told', () => {
    const folder = temporaryFolder();
    const lines = [ticket(), ticket({ id: 'T-2' })].map((entry) => JSON.stringify(entry)).join('\n');
    const inputs = join(folder.path, 'inputs');
    execFileSync('mkdir', [inputs]);
    writeFileSync(join(inputs, 'tickets.jsonl'), lines);

    const script = join(analysis, 'scripts/analyze.py');
    const env = { PATH: process.env.PATH ?? '', OUTPUT_DIR: folder.path, PYTHONDONTWRITEBYTECODE: '1' };
    const stdout = execFileSync('python3', [script], { cwd: folder.path, env, input: '' });

    expect(JSON.parse(String(stdout))).toMatchObject({ tickets: 2 });
  });

  it.each([
    ['broken JSON', '[\n  {"id": "a",}\n]', /standard input:2:\d+: not JSON/],
    ['a list that is not closed', '[\n{}', /not JSON: a comma or \]/],
    ['text after the list', '[]\nx', /standard input:2:1: not JSON: something follows/],
    ['no tickets', '[]', /no tickets in it/],
    ['nothing at all', '', /standard input is empty and inputs\/ holds nothing/],
    ['a ticket that is no object', '[\n1\n]', /standard input:2: ticket 1: not an object/],
    ['bytes that are not UTF-8', Buffer.from('[\n\xff]', 'latin1'), /standard input:2: not UTF-8 text/],
    ['nesting without end', '['.repeat(100_000), /nested|recursion/],
    ['a number of ten thousand digits', `[${'9'.repeat(10_000)}]`, /standard input:1/],
    [
      'a time without a zone',
      JSON.stringify([ticket({ created_at: '2026-01-05T09:00:00' })]),
      /no time zone/,
    ],
    [
      'a time that is none',
      JSON.stringify([ticket({ created_at: 'yesterday' })]),
      /'yesterday' is not a time/,
    ],
    [
      'a year out of range',
      JSON.stringify([ticket({ created_at: '0001-01-01T00:00:00+23:00' })]),
      /out of range/,
    ],
    ['an unknown priority', JSON.stringify([ticket({ priority: 'hihg' })]), /'hihg' is none of urgent/],
    ['a missing subject', JSON.stringify([ticket({ subject: undefined })]), /subject is missing/],
    ['half a surrogate pair', '[{"id":"\\ud800"}]', /half of a surrogate pair/],
    [
      'an id used twice',
      `[${JSON.stringify(ticket())},\n${JSON.stringify(ticket())}]`,
      /:2: .*used in line 1/,
    ],
    [
      'a resolution before the creation',
      JSON.stringify([ticket({ resolved_at: '2026-01-04T00:00:00Z' })]),
      /resolved_at is before created_at/,
    ],
    [
      'a span of centuries',
      JSON.stringify([ticket(), ticket({ id: 'b', created_at: '1700-01-01T00:00:00Z', resolved_at: null })]),
      /span more than/,
    ],
  ])('refuses %s with exit code 2 and the place', (_case, input, message) => {
    const result = analyze(input);

    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toContain('Traceback');
    expect(result.stdout).toBe('');
  });

  it('names every faulty ticket, not only the first', () => {
    const input = `[${JSON.stringify(ticket({ priority: 'x' }))},\n${JSON.stringify(ticket({ id: '' }))}]`;

    expect(analyze(input).stderr.trimEnd().split('\n')).toHaveLength(2);
  });

  it('writes markup in tickets into the chart as text', () => {
    const { outputs } = analyze(JSON.stringify([ticket({ category: '<script>\u0001&' })]));

    expect(outputs['chart.svg']).toContain('&lt;script&gt;&amp;');
    expect(outputs['chart.svg']).not.toContain('<script>');
    expect(outputs['chart.svg']).not.toContain('\u0001');
  });
});

describe('report-digest', () => {
  const report = analyze(TICKETS).outputs['report.json'] ?? '';

  it('turns a report into Markdown, written and printed', () => {
    const result = digest(report, '--title', 'First half', '--worst', '2');

    expect(result.code).toBe(0);
    expect(result.outputs['digest.md']).toBe(result.stdout);
    expect(result.stdout).toMatch(/^# First half\n\n\*\*420 tickets\*\*/);
    expect(result.stdout.match(/^- \*\*T-/gm)).toHaveLength(2);
  });

  it('writes a report without a resolved ticket, too', () => {
    const open = analyze(JSON.stringify([ticket({ resolved_at: null })])).outputs['report.json'] ?? '';

    const result = digest(open);

    expect(result.code).toBe(0);
    expect(result.stdout).toContain('within **–**');
  });

  it('lets no ticket change the table it stands in', () => {
    const hostile =
      analyze(JSON.stringify([ticket({ category: 'a|b\n# [x](y)' })])).outputs['report.json'] ?? '';

    const { stdout } = digest(hostile);

    expect(stdout).toContain('| a\\|b \\# \\[x\\](y) | 1 |');
  });

  it.each([
    ['something else', '{"a": 1}', /report\.version is not a number/],
    ['another version', '{"version": 2}', /version 2 is not known/],
    ['half a report', '{"version": 1}', /report\.volumes\.by_week is not a list/],
    [
      'a report with holes',
      report.replace('"by_week": [', '"by_week": [null,'),
      /not what ticket-analysis writes/,
    ],
    ['broken JSON', '{', /standard input: /],
    ['nothing at all', '', /no such file.*report\.json/],
  ])('refuses %s with exit code 2', (_case, input, message) => {
    const result = digest(input);

    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(message);
    expect(result.stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

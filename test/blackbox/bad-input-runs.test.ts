/** Requests for runs that are refused before anything is stored, and values a run may well have. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { scopeWithSkill, scriptRun, shellRun } from '../support/run-scope.ts';

const REFUSED_PATHS = [
  '/etc/passwd',
  '/',
  'a//b',
  'a/',
  '.',
  '..',
  './a',
  'a/..',
  'a/../b',
  '../../etc/x',
  'a\\b',
  'a\0b',
  'a\nb',
  '\ud800',
  'x'.repeat(256),
  Array(6).fill('x'.repeat(100)).join('/'),
];

describe('a run', () => {
  let api: Api;
  let artifact_id: string;
  beforeAll(async () => {
    api = await scopeWithSkill({ 'scripts/x.sh': 'true' });
    artifact_id = (await api.call('POST', '/artifacts', { body: 'x' })).json.artifact_id;
  });

  async function refused(request: Record<string, unknown>): Promise<Answer> {
    const answer = await api.post('/runs', request);
    expectProblem(answer, 400, 'invalid_request');
    expect((await api.get('/runs')).json).toEqual({ items: [] });
    return answer;
  }

  it.each(REFUSED_PATHS.map((path) => [path.slice(0, 32), path]))(
    'with the input path %j is refused, and says which',
    async (_, path) => {
      const answer = await refused(shellRun('true', { inputs: [{ artifact_id, path }] }));

      expect(answer.bytes.toString()).toMatch(/\/inputs\/0\/path/);
    },
  );

  it.each([
    ...REFUSED_PATHS.filter((path) => path.length < 250 && path !== 'a//b' && path !== 'a/'),
    '/**',
    '../**',
    '**/../x',
  ])('with the output glob %j is refused, and says which', async (glob) => {
    const answer = await refused(shellRun('true', { outputs: ['ok', glob] }));

    expect(answer.bytes.toString()).toMatch(/\/outputs\/1/);
  });

  it.each([
    ['twice', ['a', 'a']],
    ['below another', ['a', 'a/b']],
    ['above another', ['a/b', 'a']],
  ])('with an input path %s is refused', async (_, paths) => {
    await refused(shellRun('true', { inputs: paths.map((path) => ({ artifact_id, path })) }));
  });

  it.each([
    ['PATH', '/x'],
    ['LD_PRELOAD', '/x.so'],
    ['LD_LIBRARY_PATH', '/x'],
    ['NODE_OPTIONS', '--require=/x'],
    ['PYTHONPATH', '/x'],
    ['PYTHONSTARTUP', '/x'],
    ['BASH_ENV', '/x'],
    ['ENV', '/x'],
    ['AWS_ACCESS_KEY_ID', 'x'],
    ['HOME', '/x'],
    ['OUTPUT_DIR', '/x'],
    ['COGNITION_X', 'x'],
    ['MODE', 'x'],
    ['constructor', 'x'],
  ])('with the variable %s is refused, and says which', async (name, value) => {
    expect((await refused(shellRun('true', { env: { [name]: value } }))).bytes.toString()).toContain(
      `/env/${name}`,
    );
  });

  it.each(['', 'A=B', '1A', 'A B', 'A\0', 'é'])('with the variable name %j is refused', async (name) => {
    await refused(shellRun('true', { env: { [name]: 'x' } }));
  });

  it('with __proto__ as a variable is refused and not lost', async () => {
    const body = '{"agent":"agent","command":{"argv":["true"]},"env":{"__proto__":"x"}}';

    const answer = await api.call('POST', '/runs', { body, headers: { 'content-type': 'application/json' } });

    expectProblem(answer, 400, 'invalid_request');
  });

  const argv = (...args: string[]) => ({ agent: 'agent', command: { argv: args } });
  it.each<[string, Record<string, unknown>]>([
    ['sixty-five arguments', argv(...Array(65).fill('x'))],
    ['32 KiB and one byte of arguments', argv('echo', 'x'.repeat(32 * 1024 - 3))],
    ['a NUL in an argument', argv('echo', 'a\0b')],
    ['an empty program', argv('')],
    ['a lone surrogate in an argument', argv('echo', '\ud800')],
    ['a lone surrogate in standard input', shellRun('true', { stdin: '\udfff' })],
    [
      'thirty-three inputs',
      shellRun('true', {
        inputs: Array.from({ length: 33 }, (_, n) => ({ artifact_id: '0'.repeat(26), path: `${n}` })),
      }),
    ],
    ['thirty-three globs', shellRun('true', { outputs: Array.from({ length: 33 }, (_, n) => `${n}`) })],
    [
      'both kinds of command',
      { agent: 'agent', command: { argv: ['true'], skill: 't1', script: 'scripts/x.sh' } },
    ],
    ['an empty script', scriptRun('')],
    ['an agent that is no name', shellRun('true', { agent: '__proto__' })],
    ['standard input as JSON over the limit', shellRun('true', { stdin_json: 'x'.repeat(1024 * 1024) })],
  ])('with %s is refused', async (_, request) => {
    await refused(request);
  });

  it('with arguments of just 32 KiB starts', async () => {
    const rest = 'x'.repeat(32 * 1024 - 4);

    const run = await api.run(argv('echo', rest));

    expect(run.json.stdout).toBe(`${rest}\n`);
  });

  it('with globs that match nothing succeeds with a warning for each', async () => {
    const run = await api.run(shellRun('true', { outputs: ['*.csv', '[!a]/{b,c}', '((((('] }));

    expect(run.json.status).toBe('succeeded');
    expect(run.json.warnings).toHaveLength(3);
  });

  it('with a glob whose matching would take ages ends with a clear code', async () => {
    const glob = `${'*a'.repeat(60)}b`;
    const run = await api.run(shellRun('touch /outputs/$(printf "a%.0s" $(seq 200))', { outputs: [glob] }));

    expect(['succeeded', 'failed']).toContain(run.json.status);
    if (run.json.status === 'failed') expect(run.json.failure.code).toBe('collection_failed');
  });
});

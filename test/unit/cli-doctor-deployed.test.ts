import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Client } from '../../cli/client/create-client.ts';
import { CONFORMANCE_RUNS } from '../../cli/doctor/deployed/conformance-runs.ts';
import { conformanceSkill } from '../../cli/doctor/deployed/conformance-skill.ts';
import { judgeOutputs } from '../../cli/doctor/deployed/judge-outputs.ts';
import { readAttempts } from '../../cli/doctor/deployed/read-attempts.ts';
import { tryDeployment } from '../../cli/doctor/deployed/try-deployment.ts';
import type { Session } from '../../cli/session.ts';
import type { Run } from '../../shared/contracts/run.ts';
import { sampleRun } from '../support/cli-samples.ts';

const AS_NOBODY =
  process.getuid?.() === 0 ? ['--reuid=65534', '--regid=65534', '--clear-groups', '--'] : ['--'];
const line = (refused: boolean) =>
  JSON.stringify({ group: 'kernel', attempt: 'bpf', refused, detail: 'EPERM' });
const unrefused = (attempts: readonly { refused: boolean; attempt: string }[]) =>
  attempts.filter(({ refused }) => !refused).map(({ attempt }) => attempt);

describe('a report', () => {
  const done = '{"done":"attempts"}';

  it('that is whole is what its lines say', () => {
    expect(unrefused(readAttempts('attempts', `${line(true)}\n${done}\n`))).toEqual([]);
    expect(unrefused(readAttempts('attempts', `${line(false)}\n${done}\n`))).toEqual(['bpf']);
  });

  it.each([
    ['that ends early', `${line(true)}\n`],
    ['of nothing', ''],
    ['that is cut in a line', `${line(true)}\n{"att`],
    ['of another script', `${line(true)}\n{"done":"flood"}\n`],
    ['that goes on after its end', `${done}\n{"done":"other"}\n`],
  ])('%s proves nothing', (_, stdout) => {
    expect(unrefused(readAttempts('attempts', stdout))).toContain('cutting attempts short');
  });

  it.each(['not json', '[]', '{"attempt":"x"}', '{"attempt":"x","group":"y","refused":"true","detail":"z"}'])(
    'with the line %s is no report',
    (odd) => {
      expect(unrefused(readAttempts('attempts', `${odd}\n${done}\n`))).toEqual(['a line of attempts']);
    },
  );
});

describe('outputs', () => {
  const collected = new Map([
    ['good', 'good'],
    ['closed', 'closed'],
    ['growing', 'xxx'],
    ['aside/passwd', 'of the run'],
  ]);
  const refused = new Map(
    [
      'link',
      'folder',
      'loop',
      'skills',
      'pipe',
      'socket',
      'one',
      'two',
      'large',
      'not-utf8-\ufffd',
      'line\nbreak',
    ].map((path) => [path, 'a reason']),
  );

  it('of which only the honest ones were collected are as they must be', () => {
    expect(unrefused(judgeOutputs({ collected, refused }))).toEqual([]);
  });

  it('may be too large to be made at all', () => {
    const small = new Map([...refused].filter(([path]) => path !== 'large'));

    expect(unrefused(judgeOutputs({ collected, refused: small }))).toEqual([]);
  });

  it.each([
    ['link', 'a symbolic link'],
    ['large', 'a file over the limit'],
    ['socket', 'a socket'],
  ])('that were collected although they are hostile are named: %s', (path, attempt) => {
    const found = unrefused(judgeOutputs({ collected: new Map([...collected, [path, 'x']]), refused }));

    expect(found).toContain(attempt);
  });

  it('that nobody has refused were not there, which proves nothing', () => {
    const found = unrefused(judgeOutputs({ collected, refused: new Map() }));

    expect(found).toHaveLength(10);
  });

  it('with the content of another file are not honest', () => {
    const stolen = new Map([...collected, ['swapped/passwd', 'root:x:0:0']]);

    expect(unrefused(judgeOutputs({ collected: stolen, refused }))).toEqual([
      'content of another file by a parent that is swapped',
    ]);
  });

  it('that are missing were hidden', () => {
    const fewer = new Map([...collected].filter(([path]) => path !== 'closed'));

    expect(unrefused(judgeOutputs({ collected: fewer, refused }))).toEqual(['hiding honest outputs']);
  });
});

describe('the verdict on a run', () => {
  const client = (types: readonly string[] = []) =>
    ({
      listRunEvents: async () => ({ items: types.map((type) => ({ type })), run_ended: true }),
      getRunArtifacts: async () => ({ items: [] }),
    }) as unknown as Client;
  const verdict = async (script: string, run: Partial<Run>, types?: readonly string[]) => {
    const conformance = CONFORMANCE_RUNS.find((one) => one.script === script);
    return unrefused((await conformance?.judge({ ...sampleRun(), ...run }, client(types))) ?? []);
  };
  const failed = { code: 'script_failed', stage: 'execute', message: 'it failed' } as const;
  const flood: Partial<Run> = {
    status: 'failed',
    exit_code: 7,
    failure: failed,
    stdout: 'x'.repeat(262_144),
    stdout_truncated: true,
  };

  it('is good for a flood that was cut and believed in nothing', async () => {
    expect(await verdict('flood', flood, ['run.failed'])).toEqual([]);
  });

  it.each<[string, Partial<Run>, string[]]>([
    ['was kept whole', { stdout: 'x'.repeat(262_145) }, []],
    ['was not said to be cut', { stdout_truncated: false }, []],
    ['ended its sandbox', { failure: { ...failed, code: 'sandbox_unavailable' } }, []],
    ['had another exit code', { exit_code: 0 }, []],
    ['forged an event', {}, ['run.succeeded']],
  ])('is bad for a flood that %s', async (_, run, types) => {
    expect(await verdict('flood', { ...flood, ...run }, types)).toHaveLength(1);
  });

  const times = (seconds: number): Run['timings'] => ({
    ...sampleRun().timings,
    started_at: '2026-01-01T00:00:00.000Z',
    exited_at: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString(),
  });
  it.each<[string, Partial<Run>, number]>([
    ['ends in time', { status: 'timed_out', timings: times(4) }, 0],
    ['ends late', { status: 'timed_out', timings: times(60) }, 1],
    ['ends by itself', { status: 'succeeded', timings: times(4) }, 1],
    ['has no end', { status: 'timed_out', timings: { ...times(4), exited_at: null } }, 1],
  ])('on one that lingers and %s', async (_, run, count) => {
    expect(await verdict('linger', run)).toHaveLength(count);
  });

  it.each<[string, Partial<Run>, number]>([
    ['keeps a few', { status: 'succeeded', artifact_count: 256 }, 0],
    ['keeps too many', { status: 'succeeded', artifact_count: 257 }, 1],
    ['fails', { status: 'failed', artifact_count: 0 }, 1],
  ])('on a crowd of outputs that %s', async (_, run, count) => {
    expect(await verdict('crowd', run)).toHaveLength(count);
  });

  it('is bad for attempts whose run has failed, whatever it says', async () => {
    const run: Partial<Run> = {
      status: 'failed',
      failure: failed,
      stdout: `${line(true)}\n{"done":"attempts"}\n`,
    };

    expect(await verdict('attempts', run)).toContain('ending the sandbox from inside');
  });
});

it('what cannot be removed is told, and keeps neither the rest nor the first failure back', async () => {
  const notes: unknown[] = [];
  const removed: string[] = [];
  const client = {
    createSkill: async () => undefined,
    createAgent: async () => {
      throw new Error('no such profile');
    },
    deleteAgent: async () => {
      throw new Error('the connection was lost');
    },
    deleteSkill: async (name: string) => void removed.push(name),
  };
  const session = {
    io: { onInterrupt: () => () => undefined },
    output: { json: true, note: (note: unknown) => void notes.push(note) },
    connect: async () => ({ client }),
  } as unknown as Session;

  await expect(tryDeployment(session, 'missing')).rejects.toThrow('no such profile');

  expect(removed).toEqual([expect.stringMatching(/^cognition-conformance-[0-9a-f]{8}$/)]);
  expect(notes).toEqual([expect.stringContaining(`${removed[0]} was not removed (the connection was lost)`)]);
});

it.each(['attempts', 'linger', 'crowd'])('%s does nothing where there is no sandbox', (script) => {
  // As a plain user, should it do anything all the same; and from where that user can read it.
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o755);
  const scripts = fileURLToPath(new URL('../../cli/doctor/conformance/scripts/', import.meta.url));
  cpSync(scripts, join(folder, 'scripts'), { recursive: true });

  const path = join(folder, 'scripts', `${script}.py`);
  const { status, stdout } = spawnSync('setpriv', [...AS_NOBODY, 'python3', path], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', OUTPUT_DIR: '/tmp' },
    timeout: 20_000,
  });

  expect(status).toBe(1);
  expect(unrefused(readAttempts(script, stdout))).toContain('running without a sandbox');
});

it('the skill is published under the name it is given, with all of its scripts', async () => {
  const files = await conformanceSkill('cognition-conformance-1');

  expect(files.get('SKILL.md')).toMatch(/^---\nname: cognition-conformance-1\n/);
  for (const { script } of CONFORMANCE_RUNS) expect([...files.keys()]).toContain(`scripts/${script}.py`);
});

/** The server killed with -9 at any moment and started again on the same folder. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { RUN_STATUSES, type RunStatus } from '../../shared/contracts/run.ts';
import { Api } from '../support/api.ts';
import { killAndWait, lineFrom, startProgram } from '../support/child-process.ts';
import { freshScope } from '../support/fresh-scope.ts';
import { descendantsOf, killAndLook, survivorsOf } from '../support/process-tree.ts';
import { scopeWithSkill, scriptRun, shellRun } from '../support/run-scope.ts';
import { skillFiles } from '../support/skill-files.ts';
import { newFolder, removeFolder, type StandaloneProcess, startStandalone } from '../support/standalone.ts';
import { refusalOf } from '../support/standalone-refusal.ts';

const folder = newFolder();
const RUNS_AT_ONCE = 12;
const scope = freshScope();
const start = () =>
  startStandalone(
    {
      COGNITION_SANDBOX_POOL_SIZE: '1',
      COGNITION_MAX_TASKS: '4',
      COGNITION_RUNS_AT_ONCE: String(RUNS_AT_ONCE),
      COGNITION_LOG_LEVEL: 'warn',
    },
    folder,
  );
let server: StandaloneProcess | undefined;
afterAll(async () => {
  await server?.stop();
  removeFolder(folder);
});
/** One server lives at a time, on the one folder. */
async function running(): Promise<{ server: StandaloneProcess; api: Api }> {
  server ??= await start();
  return { server, api: new Api(server.target, scope) };
}
async function crash(): Promise<void> {
  const dying = (await running()).server;
  const below = await killAndLook(dying.process.pid ?? 0, dying.kill);
  server = undefined;
  expect(await survivorsOf(below)).toEqual([]);
}

const at = (status: string): number => RUN_STATUSES.map(String).indexOf(status);
const OUTCOMES = ['run_interrupted', 'sandbox_unavailable', 'collection_failed'];

interface Ended {
  readonly status: string;
  readonly code: string | undefined;
}

/** Waits for the end of a run after a restart and sees that it ended in order. */
async function endOf(api: Api, runId: string): Promise<Ended> {
  const { status, failure, timings, stdout } = (await api.finished(runId, 40)).json;
  await api.event(runId, status === 'cancelled' ? 'run.cancelled' : `run.${status}`);
  const events: { type: string; sequence: number }[] = (await api.get(`/runs/${runId}/events`)).json.items;
  const count = (type: string): number => events.filter((event) => event.type === type).length;
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  expect(count('command.started'), 'a script is never started twice').toBeLessThanOrEqual(1);
  expect(count(`run.${status}`)).toBe(1);
  expect(timings.finished_at).not.toBeNull();
  if (status === 'succeeded') expect(stdout).toBe('begun\nended\n');
  else expect(OUTCOMES).toContain(failure.code);
  return { status, code: failure?.code };
}

const files = {
  'scripts/w.sh': 'echo begun; sleep 0.2; for n in $(seq 25); do echo $n > /outputs/$n; done; echo ended\n',
  ...Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`references/${n}.md`, 'x'.repeat(2_000)])),
};

/** Starts runs, kills the server as soon as one of them is seen in the status, or past it. */
async function crashAt(api: Api, status: RunStatus, runs: number): Promise<{ ids: string[]; seen: string }> {
  const started = await Promise.all(
    Array.from({ length: runs }, () => api.post('/runs', scriptRun('scripts/w.sh'))),
  );
  const ids = started.map(({ json }) => json.run_id);
  for (;;) {
    const seen = await Promise.all(ids.map(async (id) => (await api.get(`/runs/${id}`)).json.status));
    const reached = seen.find((each) => at(each) >= at(status));
    if (reached === undefined) continue;
    await crash();
    return { ids, seen: reached };
  }
}

describe('a server killed with -9', () => {
  it.each<[RunStatus, number]>([
    ['queued', 5],
    ['pinned', 4],
    ['launching', 4],
    ['materializing', 1],
    ['running', 1],
    ['collecting', 1],
  ])('while a run is %s: every run ends in order once it is started again', async (status, runs) => {
    const { api } = await running();
    await scopeWithSkill(files, api);

    const { ids } = await crashAt(api, status, runs);

    const again = (await running()).api;
    for (const id of ids) await endOf(again, id);
  });

  it('while a command runs: that run is interrupted, says so, and its sandbox is gone', async () => {
    const { api } = await running();
    await scopeWithSkill(files, api);
    const { run_id } = (await api.post('/runs', shellRun('echo begun; sleep 60'))).json;
    await api.event(run_id, 'command.output');

    await crash();

    const again = (await running()).api;
    const run = (await again.finished(run_id, 20)).json;
    expect(run).toMatchObject({ status: 'failed', stdout: 'begun\n' });
    expect(run.failure).toMatchObject({ code: 'run_interrupted', stage: 'execute' });
    expect(run.failure.message).toMatch(/start the run again/);
    await again.event(run_id, 'sandbox.stopped');
  });

  it('at random moments under load: all runs end, and as many as the quota can start afterwards', async () => {
    const ids: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const { api } = await running();
      await scopeWithSkill(files, api);
      const posts = Promise.allSettled(
        Array.from({ length: 4 }, async () => {
          const { json } = await api.post('/runs', scriptRun('scripts/w.sh'));
          if (json?.run_id !== undefined) ids.push(json.run_id);
        }),
      );
      await sleep(Math.random() * 900);
      await crash();
      await posts;
    }

    const { api } = await running();
    const listed: string[] = (await api.get('/runs?limit=200')).json.items.map(
      (run: { run_id: string }) => run.run_id,
    );
    for (const id of ids) expect(listed, 'an accepted run is not lost').toContain(id);
    for (const id of listed.slice(0, 20)) await endOf(api, id);
    const full = await Promise.all(
      Array.from({ length: RUNS_AT_ONCE }, () => api.post('/runs', shellRun('sleep 20'))),
    );
    const over = await api.post('/runs', shellRun('true'));
    expect(full.map(({ status }) => status)).toEqual(Array(RUNS_AT_ONCE).fill(202));
    expect([over.status, over.json.code]).toEqual([429, 'quota_exceeded']);
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const { json } of full) await api.post(`/runs/${json.run_id}/cancel`, {});
    for (const { json } of full) await api.finished(json.run_id, 30);
    expect((await api.post('/runs', shellRun('true'))).status).toBe(202);
  });
});

/** @param acknowledged gets the digest of each publication that was answered. */
async function publishUntilKilled(
  api: Api,
  prefix: string,
  acknowledged: Map<string, string>,
): Promise<void> {
  for (let n = 0; ; n += 1) {
    const name = `${prefix}-${n % 3}`;
    const files = skillFiles(name, { n: `${n} ${'x'.repeat(30_000)}` });
    const { json } = await api.put(`/skills/${name}`, { files });
    acknowledged.set(name, json.digest);
  }
}

/** A task of which bubblewrap has made the first process, and not yet what is to run in it. */
function isSettingUp(program: number): boolean {
  const seen = descendantsOf(program).filter(({ command }) => command.startsWith('/usr/bin/bwrap --args'));
  return seen.some(({ parent }) => seen.some(({ pid }) => pid === parent));
}

const withEnvironment = (mark: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  });

describe('sandboxes that are being set up', () => {
  it('do not outlive whoever starts them and is killed with -9', { timeout: 120_000 }, async () => {
    for (let round = 0; round < 5; round += 1) {
      const mark = `mark-${process.pid}-${round}`;
      const program = startProgram('start-tasks.ts', mark);
      await lineFrom(program, /^ready$/);
      for (let looks = 0; looks < 200 && !isSettingUp(program.pid ?? 0); looks += 1) await sleep(1);

      await killAndWait(program);

      await expect.poll(() => withEnvironment(mark), { timeout: 5_000, interval: 100 }).toEqual([]);
    }
  });
});

describe('publishing while the server is killed', () => {
  it.each(['config_registry', 'filesystem'])(
    'leaves each skill whole or absent, with %s',
    async (backend) => {
      const own = newFolder();
      const env = {
        COGNITION_SKILLS_BACKEND: backend,
        COGNITION_SANDBOX_POOL_SIZE: '0',
        COGNITION_LOG_LEVEL: 'error',
      };
      const acknowledged = new Map<string, string>();
      for (let round = 0; round < 2; round += 1) {
        const publishing = await startStandalone(env, own);
        const api = new Api(publishing.target, scope);
        const writers = Promise.allSettled(
          [0, 1, 2, 3].map((writer) => publishUntilKilled(api, `s${writer}-${round}`, acknowledged)),
        );
        await sleep(150 + Math.random() * 300);
        await publishing.kill();
        await writers;
      }

      const checking = await startStandalone(env, own);
      const api = new Api(checking.target, scope);
      const { items } = (await api.get('/skills?limit=200')).json;
      const names = items.map(({ name }: { name: string }) => name);
      for (const [name] of acknowledged) expect(names).toContain(name);
      for (const { name, digest } of items) {
        // Which the hash of the bytes was compared with before they were sent.
        const bytes = await api.get(`/skills/${name}/package`);
        expect([name, bytes.status, `"${digest.slice('sha256:'.length)}"`]).toEqual([
          name,
          200,
          bytes.headers.get('etag'),
        ]);
        const revisions = (await api.get(`/skills/${name}/revisions?limit=200`)).json.items;
        expect(revisions[0].digest).toBe(digest);
        for (const { revision } of revisions) {
          expect((await api.get(`/skills/${name}/package?revision=${revision}`)).status).toBe(200);
        }
      }
      expect(temporaries(join(own, 'data'))).toEqual([]);
      await checking.stop();
      removeFolder(own);
    },
  );
});

/** What writers that were killed could have left in the object stores. */
function temporaries(data: string): string[] {
  return ['objects', 'skills'].flatMap((store) => {
    const incoming = join(data, store, 'incoming');
    return existsSync(incoming) ? readdirSync(incoming) : [];
  });
}

describe('a folder', () => {
  it('is refused to a second server in one line, and the first one goes on', async () => {
    const { api, server: first } = await running();

    const refusal = await refusalOf({ COGNITION_DATA_DIR: join(folder, 'data') });

    expect(refusal.code).toBe(1);
    expect(refusal.stderr.trim().split('\n')).toHaveLength(1);
    expect(refusal.stderr).toMatch(/in use.*COGNITION_DATA_DIR/s);
    expect(first.process.exitCode).toBeNull();
    await scopeWithSkill(files, api);
    expect((await api.run(scriptRun('scripts/w.sh'))).json.status).toBe('succeeded');
  });
});

describe('SIGTERM', () => {
  it('ends the server with 0 and every process of its sandboxes, also while runs are under way', async () => {
    const { api, server: ending } = await running();
    await scopeWithSkill(files, api);
    const { run_id } = (await api.post('/runs', shellRun('trap "" TERM; sleep 60'))).json;
    await api.event(run_id, 'command.started');
    const below = descendantsOf(ending.process.pid ?? 0);

    await ending.stop();
    server = undefined;

    expect(below.length).toBeGreaterThan(0);
    expect(ending.process.exitCode).toBe(0);
    expect(await survivorsOf(below)).toEqual([]);
    const run = (await (await running()).api.finished(run_id, 20)).json;
    expect(run.failure.code).toBe('run_interrupted');
  });
});

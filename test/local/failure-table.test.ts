/** The seeds' table "Failures and observability", row by row, on the real server where it can be made to fail so. */
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskRuntime } from '../../infra/local/fargate/task/task-runtime.ts';
import { encodePackage, packageDigest } from '../../shared/domain/canonical-package.ts';
import { scopeFingerprint } from '../../shared/domain/scope.ts';
import { type Answer, Api } from '../support/api.ts';
import { expectProblem, withoutRequestId } from '../support/expect-problem.ts';
import { freshScope } from '../support/fresh-scope.ts';
import { sendHalf } from '../support/half-upload.ts';
import { sandboxesOf } from '../support/process-tree.ts';
import { scopeWithSkill, scriptRun } from '../support/run-scope.ts';
import { createBackstage, publishSkill, putAgent, SCRIPT_RUN, startProcess } from '../support/run-world.ts';
import { client, MANIFEST_DIGEST, openRuntime, run, startTask } from '../support/sandboxd-task.ts';
import { skillFiles } from '../support/skill-files.ts';
import { removeFolder, type StandaloneProcess, startStandalone } from '../support/standalone.ts';

let server: StandaloneProcess;
beforeAll(async () => {
  server = await startStandalone({
    COGNITION_SKILLS_BACKEND: 'filesystem',
    COGNITION_SANDBOX_POOL_SIZE: '1',
  });
});
afterAll(async () => {
  await server.stop();
  removeFolder(server.folder);
});

const freshApi = (): Api => new Api(server.target, freshScope());
/** Where the server keeps the package of the skill `t1`. */
async function packageFile(api: Api, name = 't1'): Promise<string> {
  const digest: string = (await api.get(`/skills/${name}`)).json.digest;
  const stored = `${digest.replace(':', '-')}~`;
  return join(server.folder, 'data/skills/objects/packages', scopeFingerprint(api.scope), stored);
}
const logOf = (id: string): Record<string, unknown>[] =>
  server
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(id))
    .map((line) => JSON.parse(line));
const eventTypes = async (api: Api, id: string): Promise<string[]> =>
  (await api.get(`/runs/${id}/events`)).json.items.map((event: { type: string }) => event.type);
/** Tasks of the server: the pool has one, and no run is under way. */
const tasks = () => sandboxesOf(server.process.pid ?? 0);

/** The run ended before its command started, its sandbox is gone, and events and log say so. */
async function expectNothingRan(api: Api, ended: Answer, code: string, logged = code): Promise<void> {
  const { run_id, status, failure, timings, exit_code } = ended.json;
  expect({ status, exit_code, started_at: timings.started_at }).toEqual({
    status: 'failed',
    exit_code: null,
    started_at: null,
  });
  expect(failure).toMatchObject({ code, stage: 'materialize' });
  await api.event(run_id, 'sandbox.stopped');
  const types = await eventTypes(api, run_id);
  expect(types).toContain('run.failed');
  expect(types).not.toContain('sandbox.sealed');
  expect(types).not.toContain('command.started');
  await expect.poll(() => tasks().length, { timeout: 10_000 }).toBeLessThanOrEqual(1);
  const line = logOf(run_id).find((each) => each.message === 'run.step_failed' && each.code === logged);
  expect(line).toMatchObject({
    level: 'WARN',
    step: 'Materialize',
    fingerprint: scopeFingerprint(api.scope),
  });
}

const SCRIPTS = {
  'scripts/x.sh': 'echo ran; echo ran > /outputs/ran',
  'references/long.md': 'x'.repeat(50_000),
};
/** The server has read the package before, so that what happens to it later is met by a run. */
async function scopeWithKnownPackage(): Promise<Api> {
  const api = await scopeWithSkill(SCRIPTS, freshApi());
  await api.get('/skills/t1/files');
  return api;
}

describe('Scope mismatch or invisible skill: denied without revealing another scope’s metadata', () => {
  it('a run of an agent, of a skill, and every read by the other scope’s ids', async () => {
    const [owner, other] = [await scopeWithSkill(SCRIPTS, freshApi()), freshApi()];
    const done = await owner.run(scriptRun('scripts/x.sh'));
    await other.putAgent('mine', { skills: ['t1'] });

    const byAgent = await other.post('/runs', scriptRun('scripts/x.sh'));
    const bySkill = await other.post('/runs', scriptRun('scripts/x.sh', { agent: 'mine' }));
    const byId = await other.get(`/runs/${done.json.run_id}`);
    const never = await other.get(`/runs/${'0'.repeat(26)}`);

    expectProblem(byAgent, 404, 'agent_not_found');
    expectProblem(bySkill, 404, 'skill_not_found');
    const text = JSON.stringify(withoutRequestId(byId)).replaceAll(done.json.run_id, '0'.repeat(26));
    expect(text).toBe(JSON.stringify(withoutRequestId(never)));
    const { revision, digest } = (await owner.get('/skills/t1')).json;
    for (const { bytes } of [byAgent, bySkill, byId]) {
      expect(bytes.toString()).not.toMatch(
        new RegExp(`${revision}|${digest}|${scopeFingerprint(owner.scope)}`),
      );
    }
    expect((await other.get('/runs')).json.items).toEqual([]);
  });

  it('a refusal is a log line with the fingerprint and no value of the scope', async () => {
    const api = freshApi();

    const answer = await api.get('/skills/t1');

    const [line] = logOf(answer.json.request_id);
    expect(line).toMatchObject({ status: 404, fingerprint: scopeFingerprint(api.scope) });
    expect(server.log()).not.toContain(String(api.scope.tenant));
  });
});

describe('Package store unavailable: retried within policy, then failed before execution', () => {
  it('the folder of the store is no folder any more', async () => {
    const api = await scopeWithKnownPackage();
    const folder = join(server.folder, 'data/skills/objects/packages', scopeFingerprint(api.scope));
    renameSync(folder, `${folder}.away`);
    writeFileSync(folder, 'not a folder');

    const ended = await api.run(scriptRun('scripts/x.sh'));

    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    await expectNothingRan(api, ended, 'package_unavailable', 'cognition_transient');
    const attempts = logOf(ended.json.run_id).filter(
      (each) => each.message === 'run.step_failed' && each.step === 'Materialize',
    );
    expect(attempts.length).toBeGreaterThan(1);
    expect((await api.run(scriptRun('scripts/x.sh'))).json.stdout).toBe('ran\n');
  });
});

describe('Missing object or digest mismatch: materialization fails and the sandbox is terminated', () => {
  const damages: [what: string, code: string, damage: (file: string, other: string) => void][] = [
    ['deleted', 'package_unavailable', (file) => rmSync(file)],
    ['altered in one byte', 'digest_mismatch', (file) => flip(file, 100)],
    ['cut', 'digest_mismatch', (file) => truncateSync(file, 1_000)],
    ['empty', 'digest_mismatch', (file) => truncateSync(file, 0)],
    ['longer', 'digest_mismatch', (file) => writeFileSync(file, 'x', { flag: 'a' })],
    ['another valid package', 'digest_mismatch', (file, other) => copyFileSync(other, file)],
  ];

  it.each(damages)('the stored object is %s: %s', async (_, code, damage) => {
    const api = await scopeWithKnownPackage();
    await api.publish('t2', skillFiles('t2', SCRIPTS));
    damage(await packageFile(api), await packageFile(api, 't2'));

    const ended = await api.run(scriptRun('scripts/x.sh'));

    await expectNothingRan(api, ended, code);
    expect((await api.get(`/runs/${ended.json.run_id}/artifacts`)).json.items).toEqual([]);
    expect((await api.get('/skills/t1/package')).status).toBeGreaterThanOrEqual(500);
  });

  it('publishing the same files again repairs it, under the same revision', async () => {
    const api = await scopeWithKnownPackage();
    const { revision } = (await api.get('/skills/t1')).json;
    flip(await packageFile(api), 500);

    const repaired = await api.put('/skills/t1', { files: skillFiles('t1', SCRIPTS) });

    expect([repaired.status, repaired.json.revision]).toEqual([200, revision]);
    expect((await api.run(scriptRun('scripts/x.sh'))).json.stdout).toBe('ran\n');
  });

  it('an input that is not what was pinned fails the run too', async () => {
    const api = await scopeWithKnownPackage();
    const { artifact_id } = (await api.call('POST', '/artifacts', { body: 'original' })).json;
    const folder = join(server.folder, 'data/objects/objects/inputs', scopeFingerprint(api.scope));
    writeFileSync(join(folder, `${artifact_id}~`), 'replaced');

    const ended = await api.run(scriptRun('scripts/x.sh', { inputs: [{ artifact_id, path: 'i' }] }));

    await expectNothingRan(api, ended, 'materialization_failed');
  });
});

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

describe('Partial upload: the sandbox is discarded and nothing is started', () => {
  let runtime: TaskRuntime;
  beforeAll(async () => {
    runtime = await openRuntime();
  });
  afterAll(() => runtime.close());

  it('a client that dies in the middle: the sandbox has no package, seals nothing and starts nothing', async () => {
    const task = await startTask(runtime);
    const bytes = encodePackage(new Map(Object.entries(skillFiles('t1', SCRIPTS))));
    const digest = packageDigest(bytes);
    await client.bind(task.sandbox, { run_id: task.sandbox.run_id, manifest_digest: MANIFEST_DIGEST });

    await sendHalf(task.sandbox, '/v1/packages/t1', bytes);

    const early = run(task, { command: { argv: ['true'] } });
    await expect(early).rejects.toMatchObject({ code: 'not_sealed' });
    const seal = client.seal(task.sandbox, { packages: [{ name: 't1', digest }], inputs: [] });
    await expect(seal).rejects.toMatchObject({ name: 'SandboxRefused' });
    await expect(run(task, { command: { argv: ['true'] } })).rejects.toThrow();
    await task.process.kill();
  });

  it('a client that dies and comes again starts over: the whole package is sealed', async () => {
    const task = await startTask(runtime);
    const bytes = encodePackage(new Map(Object.entries(skillFiles('t1', SCRIPTS))));
    const digest = packageDigest(bytes);
    await client.bind(task.sandbox, { run_id: task.sandbox.run_id, manifest_digest: MANIFEST_DIGEST });
    await sendHalf(task.sandbox, '/v1/packages/t1', bytes);

    await client.putPackage(task.sandbox, 't1', digest, bytes);

    const receipt = await client.seal(task.sandbox, { packages: [{ name: 't1', digest }], inputs: [] });
    expect(receipt.packages).toEqual([{ name: 't1', digest }]);
    await task.process.kill();
  });

  it('the server gives the sandbox up when an upload breaks and the task is lost', async () => {
    const backstage = createBackstage();
    await publishSkill(backstage);
    await putAgent(backstage);
    const lost = {
      ...backstage.client,
      putPackage: async (...call: Parameters<typeof client.putPackage>) => {
        backstage.sandboxes.loseAll();
        return backstage.client.putPackage(...call);
      },
    };
    const process = startProcess(backstage, { ports: { client: lost } });

    const ended = await process.run(SCRIPT_RUN);

    expect(ended).toMatchObject({
      status: 'failed',
      failure: { code: 'run_interrupted', stage: 'materialize' },
    });
    expect(backstage.sandboxes.execs).toBe(0);
    expect(backstage.sandboxes.alive()).toEqual([]);
  });
});

describe('Skill updated during a run: the run continues with its pinned revision', () => {
  it('updated, disabled and deleted while the command runs', async () => {
    const api = await scopeWithSkill(
      { 'scripts/w.sh': 'sleep 1; cat /skills/t1/v', v: 'pinned' },
      freshApi(),
    );
    const pinned = (await api.get('/skills/t1')).json.revision;
    const { run_id } = (await api.post('/runs', scriptRun('scripts/w.sh'))).json;
    await api.event(run_id, 'command.started');

    await api.publish('t1', skillFiles('t1', { v: 'updated' }));
    await api.patch('/skills/t1', { enabled: false });
    await api.delete('/skills/t1');

    expect((await api.finished(run_id)).json).toMatchObject({ status: 'succeeded', stdout: 'pinned' });
    const { manifest } = (await api.get(`/runs/${run_id}/manifest`)).json;
    expect(manifest.packages[0].revision).toBe(pinned);
  });
});

describe('Cache hit: the current run’s sandbox and manifest are bound', () => {
  it('equal packages of two scopes, run at once: two sandboxes, two manifests, nothing shared', async () => {
    const files = {
      'scripts/x.sh': 'ls /outputs /workspace; echo x > /outputs/x; echo x > /workspace/x; id -u',
    };
    const scopes = await Promise.all([freshApi(), freshApi()].map((api) => scopeWithSkill(files, api)));
    const digests = await Promise.all(scopes.map(async (api) => (await api.get('/skills/t1')).json.digest));

    const runs = await Promise.all(
      scopes.flatMap((api) =>
        [1, 2].map(async () => ({ api, run: (await api.run(scriptRun('scripts/x.sh'))).json })),
      ),
    );

    expect(digests[0]).toBe(digests[1]);
    expect(runs.map(({ run: { status } }) => status)).toEqual(Array(4).fill('succeeded'));
    for (const { run: each } of runs)
      expect(each.stdout).toMatch(/^\/outputs:\n\n\/workspace:\n(inputs\n)?\d+\n$/);
    const sandboxIds = await Promise.all(
      runs.map(async ({ api, run: { run_id } }) => {
        const { items } = (await api.get(`/runs/${run_id}/events`)).json;
        const ready = items.find((event: { type: string }) => event.type === 'sandbox.ready');
        const { manifest } = (await api.get(`/runs/${run_id}/manifest`)).json;
        expect(manifest.scope_fingerprint).toBe(scopeFingerprint(api.scope));
        return ready.data.sandbox_id;
      }),
    );
    expect(new Set(sandboxIds).size).toBe(4);
    const manifestDigests = runs.map(({ run: { manifest_digest } }) => manifest_digest);
    expect(new Set(manifestDigests).size).toBe(2);
  });
});

const ASKS = `
import http.client, os, socket, sys
class Broker(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ['COGNITION_EGRESS_SOCKET'])
c = Broker('crm')
c.request('GET', '/customers')
r = c.getresponse()
print(r.status, r.read().decode())
sys.exit(0 if r.status == 200 else 3)
`;

describe('Egress denial: a structured script failure and an attributed event', () => {
  it('the script is told in JSON and fails by itself; the event names the alias', async () => {
    const api = await scopeWithSkill({ 'scripts/ask.py': ASKS }, freshApi());

    const ended = (await api.run(scriptRun('scripts/ask.py'))).json;

    expect(ended).toMatchObject({ status: 'failed', exit_code: 3, failure: { code: 'script_failed' } });
    const [status, ...rest] = ended.stdout.split(' ');
    expect(status).toBe('403');
    expect(JSON.parse(rest.join(' '))).toMatchObject({ code: 'egress_denied', alias: 'crm' });
    const { items } = (await api.get(`/runs/${ended.run_id}/events`)).json;
    const denied = items.filter((event: { type: string }) => event.type === 'egress.denied');
    expect(denied).toMatchObject([{ stage: 'execute', data: { alias: 'crm' } }]);
  });
});

describe('Teardown failure: an operational error with sandbox and run correlation', () => {
  it('is an event and an error in the log, never the status of the run', async () => {
    const backstage = createBackstage();
    await publishSkill(backstage);
    await putAgent(backstage);
    const provisioner = {
      ...backstage.provisioner,
      stop: async () => {
        throw new Error('the provider says no');
      },
    };
    const process = startProcess(backstage, { ports: { provisioner } });

    const ended = await process.run(SCRIPT_RUN);

    expect(ended).toMatchObject({ status: 'succeeded', failure: null });
    const sandbox_id = [...backstage.sandboxes.tasks.values()][0]?.request.sandbox_id;
    const line = process.log.find(({ message }) => message === 'sandbox.teardown_failed');
    expect(line).toMatchObject({ level: 'error', fields: { run_id: ended.run_id, sandbox_id } });
    expect(line?.fields.reason).toContain('the provider says no');
  });
});

describe('the stores after all of this', () => {
  it('hold no half-written object', () => {
    for (const store of ['objects', 'skills']) {
      const incoming = join(server.folder, 'data', store, 'incoming');
      expect(existsSync(incoming) ? readdirSync(incoming) : []).toEqual([]);
    }
  });
});

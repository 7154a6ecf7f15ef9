/**
 * The acceptance criteria of the registry's proposal and the decisions of ADR-0001 that apply so far, each by its
 * words. The attempts against a sandbox are in acceptance-sandbox and acceptance-limits, the failures in failure-table.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifestDigest } from '../../shared/domain/manifest-digest.ts';
import { scopeFingerprint } from '../../shared/domain/scope.ts';
import { Api, scopeRef } from '../support/api.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { freshScope } from '../support/fresh-scope.ts';
import { descendantsOf, type SeenProcess, sandboxesOf, survivorsOf } from '../support/process-tree.ts';
import { scopeWithSkill, scriptRun, shellRun } from '../support/run-scope.ts';
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
const freshApi = (): Api => new Api(server.target, freshScope('tenant-value-9b1d'));
const SCRIPTS = { 'scripts/x.sh': '#!/bin/sh\necho ran "$@"; echo out > "$OUTPUT_DIR/out.txt"\n' };

const below = (): SeenProcess[] => descendantsOf(server.process.pid ?? 0);
const tasks = (): SeenProcess[] => sandboxesOf(server.process.pid ?? 0);

async function untilSome<T>(look: () => readonly T[]): Promise<readonly T[]> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await sleep(20)) {
    if (look().length > 0) return look();
  }
  throw new Error('nothing was found in time');
}

/** Every file below a folder. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

describe('acceptance criteria', () => {
  it('Registration validates and stores files but never imports, compiles, or executes scripts', async () => {
    const api = freshApi();
    await expect.poll(() => tasks().length, { timeout: 10_000 }).toBe(1);

    const broken = await api.publish(
      't1',
      skillFiles('t1', { 'scripts/x.py': 'this is no python(', 'setup.py': 'exit(1)' }),
    );

    expect(broken.status).toBe(201);
    expect(tasks().length).toBeLessThanOrEqual(1);
    expect(below().filter(({ command }) => /setup\.py|scripts|python/.test(command))).toEqual([]);
  });

  it('Skill scripts and side effects execute only in the assigned sandbox', async () => {
    const api = await scopeWithSkill(
      {
        'scripts/x.sh':
          'for d in /workspace /outputs /tmp /dev/shm; do echo side-effect-77 > $d/f; done; sleep 4713',
      },
      freshApi(),
    );
    const { run_id } = (await api.post('/runs', scriptRun('scripts/x.sh', { outputs: [] }))).json;
    await api.event(run_id, 'command.started');

    const found = await untilSome(() => below().filter(({ command }) => command === 'sleep 4713'));
    // Namespaces of processes: the machine's, the task's, the command's own.
    const status = readFileSync(`/proc/${found[0]?.pid}/status`, 'utf8');
    expect(status).toMatch(/^NSpid:\t\d+\t\d+\t\d+$/m);
    await api.post(`/runs/${run_id}/cancel`, {});
    await api.finished(run_id);
    await api.event(run_id, 'sandbox.stopped');
    expect(await survivorsOf(found)).toEqual([]);
    const written = '\nside-effect-77';
    const holding = filesBelow(server.folder).filter((path) => readFileSync(path).includes(written));
    expect(holding).toEqual([]);
  });

  it('Every package operation and run manifest enforces exact trusted effective_scope', async () => {
    const wide = new Api(server.target, freshScope());
    const narrow = new Api(server.target, { ...wide.scope, project: 'p1' });
    const sibling = new Api(server.target, { ...wide.scope, project: 'p2' });
    await scopeWithSkill(SCRIPTS, wide);
    await scopeWithSkill({ 'scripts/x.sh': 'echo narrow' }, narrow);

    for (const path of ['/skills/t1', '/skills/t1/package', '/skills/t1/files', '/agents/agent']) {
      expectProblem(await sibling.get(path), 404, 'not_found');
    }
    expectProblem(await sibling.post('/runs', scriptRun('scripts/x.sh')), 404, 'agent_not_found');
    const [ofWide, ofNarrow] = [
      await wide.run(scriptRun('scripts/x.sh')),
      await narrow.run(scriptRun('scripts/x.sh')),
    ];
    expect([ofWide.json.stdout, ofNarrow.json.stdout]).toEqual(['ran\n', 'narrow\n']);
    const manifestOf = async (api: Api, id: string) => (await api.get(`/runs/${id}/manifest`)).json.manifest;
    expect((await manifestOf(narrow, ofNarrow.json.run_id)).scope_fingerprint).toBe(
      scopeFingerprint(narrow.scope),
    );
    expectProblem(await wide.get(`/runs/${ofNarrow.json.run_id}`), 404, 'not_found');
  });

  it('Runs cannot observe skill updates after their manifest is pinned', async () => {
    const api = await scopeWithSkill(
      { 'scripts/x.sh': 'sleep 0.7; cat /skills/t1/v', v: 'pinned' },
      freshApi(),
    );
    const { run_id } = (await api.post('/runs', scriptRun('scripts/x.sh'))).json;
    await api.event(run_id, 'run.pinned');

    await api.publish('t1', skillFiles('t1', { 'scripts/x.sh': 'echo updated', v: 'updated' }));

    expect((await api.finished(run_id)).json.stdout).toBe('pinned');
  });

  it('Cross-scope reads, cache reuse, and sandbox reuse fail closed', async () => {
    const [a, b] = [await scopeWithSkill(SCRIPTS, freshApi()), await scopeWithSkill(SCRIPTS, freshApi())];
    const runs = await Promise.all([a, a, b, b].map((api) => api.run(scriptRun('scripts/x.sh'))));
    const apis = [a, a, b, b];

    const sandboxes = await Promise.all(
      runs.map(async ({ json }, index) => {
        const { items } = (await apis[index]?.get(`/runs/${json.run_id}/events`))?.json ?? {};
        return items.find(({ type }: { type: string }) => type === 'sandbox.ready').data.sandbox_id;
      }),
    );

    expect(new Set(sandboxes).size).toBe(4);
    // Equal bytes, and still each scope has its own object under its own fingerprint.
    const stored = filesBelow(join(server.folder, 'data/skills'));
    for (const api of [a, b]) {
      const own = stored.filter((path) => path.includes(scopeFingerprint(api.scope)));
      expect(own).toHaveLength(1);
    }
  });

  it('Invalid paths, missing packages, digest mismatches, and incomplete uploads prevent execution', async () => {
    const api = await scopeWithSkill(SCRIPTS, freshApi());
    const invalid = await api.put('/skills/t1', { files: skillFiles('t1', { '../x': 'x' }) });
    const missing = await api.post('/runs', scriptRun('scripts/missing.sh'));

    expectProblem(invalid, 422, 'invalid_package');
    expectProblem(missing, 422, 'script_not_found');
    expect((await api.get('/runs')).json.items).toEqual([]);
  });

  it('General and custom subagents receive only the packages defined by their inheritance rules', async () => {
    const api = freshApi();
    for (const name of ['s1', 's2', 's3']) await api.publish(name, skillFiles(name));
    const subagents = [
      { name: 'general' },
      { name: 'custom', skills: ['s3', 's1'] },
      { name: 'bare', skills: [] },
    ];
    await api.putAgent('agent', { skills: ['s1', 's3'], subagents });

    const run = await api.run(shellRun('ls /skills'));
    const beyond = await api.put('/agents/other', {
      skills: ['s1'],
      subagents: [{ name: 'x', skills: ['s2'] }],
    });

    expect(run.json.stdout).toBe('s1\ns3\n');
    const { manifest } = (await api.get(`/runs/${run.json.run_id}/manifest`)).json;
    expect(manifest.subagents).toEqual([
      { name: 'general', packages: ['s1', 's3'] },
      { name: 'custom', packages: ['s3', 's1'] },
      { name: 'bare', packages: [] },
    ]);
    expectProblem(beyond, 400, 'invalid_request');
  });

  it('Unsafe filesystem storage emits an observable warning', () => {
    const warnings = server
      .log()
      .split('\n')
      .filter((line) => line.includes('standalone.warning'));

    expect(warnings.join('\n')).toMatch(/COGNITION_SKILLS_BACKEND is filesystem/);
  });

  it('Upload, execution, controlled egress, artifact retrieval, teardown, and absence of cross-run leakage', async () => {
    const ask =
      'import os, socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(os.environ["COGNITION_EGRESS_SOCKET"])\ns.sendall(b"GET / HTTP/1.1\\r\\nHost: crm\\r\\n\\r\\n")\nprint(s.recv(65536).decode().split("\\r\\n")[0])\n';
    const api = await scopeWithSkill({ ...SCRIPTS, 'scripts/ask.py': ask }, freshApi());

    const first = await api.run(scriptRun('scripts/x.sh'));
    const second = await api.run(shellRun('ls -A /outputs /tmp | wc -l'));
    const denied = await api.run(scriptRun('scripts/ask.py'));

    expect(first.json).toMatchObject({ status: 'succeeded', stdout: 'ran\n', artifact_count: 1 });
    expect((await api.get(`/runs/${first.json.run_id}/artifacts?path=out.txt`)).bytes.toString()).toBe(
      'out\n',
    );
    expect(second.json.stdout.trim()).toBe('3');
    expect(denied.json.stdout).toBe('HTTP/1.1 403 Forbidden\n');
    for (const { json } of [first, second, denied]) await api.event(json.run_id, 'sandbox.stopped');
    await expect.poll(() => tasks().length, { timeout: 10_000 }).toBeLessThanOrEqual(1);
  });
});

describe('ADR-0001', () => {
  it('1: no default agents, and every run names an agent', async () => {
    const api = freshApi();

    expect((await api.get('/agents')).json).toEqual({ items: [] });
    expectProblem(await api.post('/runs', { command: { argv: ['true'] } }), 400, 'invalid_request');
    expectProblem(await api.post('/runs', shellRun('true')), 404, 'agent_not_found');
  });

  it('2: agents resolve only at the complete scope: nothing is inherited from a broader one', async () => {
    const broad = new Api(server.target, freshScope());
    await broad.putAgent('agent', {});
    const narrow = new Api(server.target, { ...broad.scope, project: 'p' });

    expectProblem(await narrow.get('/agents/agent'), 404, 'not_found');
    expectProblem(await narrow.post('/runs', shellRun('true')), 404, 'agent_not_found');
  });

  it('3: agents carry scope_key, revision and definition_digest, and writes can be conditional', async () => {
    const api = freshApi();
    const first = await api.putAgent('agent', { description: 'one' });
    const etag = first.headers.get('etag') ?? '';

    const second = await api.put('/agents/agent', { description: 'two' }, { 'if-match': etag });
    const stale = await api.put('/agents/agent', { description: 'three' }, { 'if-match': etag });

    expect(first.json).toMatchObject({ scope_key: scopeFingerprint(api.scope) });
    expect(second.json.revision).not.toBe(first.json.revision);
    expect(second.json.definition_digest).not.toBe(first.json.definition_digest);
    expectProblem(stale, 412, 'precondition_failed');
  });

  it('4: runs, events, artifacts and manifests are not found with a wrong scope', async () => {
    const owner = await scopeWithSkill(SCRIPTS, freshApi());
    const other = freshApi();
    const { run_id } = (await owner.run(scriptRun('scripts/x.sh'))).json;

    for (const path of ['', '/events', '/artifacts', '/artifacts?path=out.txt', '/manifest']) {
      expect((await owner.get(`/runs/${run_id}${path}`)).status).toBe(200);
      expectProblem(await other.get(`/runs/${run_id}${path}`), 404, 'not_found');
    }
    expectProblem(await other.post(`/runs/${run_id}/cancel`, {}), 404, 'not_found');
  });

  it('5: a run resolves once and keeps a redacted, digest-pinned manifest', async () => {
    const api = await scopeWithSkill(SCRIPTS, freshApi());
    const command = { skill: 't1', script: 'scripts/x.sh', args: ['secret-argument'] };
    const run = (await api.run({ agent: 'agent', command, stdin: 'secret-input' })).json;
    await api.publish('t1', skillFiles('t1', { v: 'later' }));
    await api.put('/agents/agent', { skills: [] });

    const { manifest, manifest_digest } = (await api.get(`/runs/${run.run_id}/manifest`)).json;

    expect(manifestDigest(manifest)).toBe(manifest_digest);
    expect(manifest.packages).toHaveLength(1);
    expect(JSON.stringify(manifest)).not.toMatch(/secret/);
  });

  it('6: the manifest’s digest covers scope, agent revision, packages, sandbox, model and settings', async () => {
    const digestWith = async (api: Api, more: Record<string, unknown> = {}) =>
      (await api.run(shellRun('true', more))).json.manifest_digest;
    const api = await scopeWithSkill(SCRIPTS, freshApi());
    const same = [await digestWith(api), await digestWith(api)];

    const others = [await digestWith(api, { timeout_seconds: 7 }), await digestWith(api, { outputs: [] })];
    await api.patch('/agents/agent', { model: 'another' });
    others.push(await digestWith(api));
    await api.publish('t1', skillFiles('t1', { v: '2' }));
    others.push(await digestWith(api));
    others.push(await digestWith(await scopeWithSkill(SCRIPTS, freshApi())));

    expect(new Set(same).size).toBe(1);
    expect(new Set([...same, ...others]).size).toBe(1 + others.length);
  });
});

describe('raw values of a scope', () => {
  it('are in no file of the server, no log line, and no answer', async () => {
    const api = await scopeWithSkill(SCRIPTS, freshApi());
    const { run_id } = (await api.run(scriptRun('scripts/x.sh'))).json;
    await api.post('/runs', scriptRun('missing'));
    await api.call('POST', '/artifacts', { body: 'x', headers: { 'idempotency-key': 'k' } });
    const answers = await Promise.all(
      ['', '/manifest', '/events', '/artifacts'].map((path) => api.get(`/runs/${run_id}${path}`)),
    );
    answers.push(
      await api.get('/nothing'),
      await api.get('/skills/none'),
      await api.get('/skills'),
      await api.get('/agents'),
    );

    const value = String(api.scope.tenant);
    const secrets = [value, scopeRef(api.scope), 'tenant-value-9b1d'];
    for (const { bytes } of answers)
      for (const secret of secrets) expect(bytes.toString()).not.toContain(secret);
    for (const secret of secrets) expect(server.log()).not.toContain(secret);
    const leaking = filesBelow(server.folder).filter((path) => {
      const bytes = readFileSync(path);
      return (
        secrets.some((secret) => bytes.includes(secret)) || secrets.some((secret) => path.includes(secret))
      );
    });
    expect(leaking).toEqual([]);
  });

  it('are readable by the server’s user alone: folders and keys', () => {
    for (const path of ['data', 'config', 'data/objects', 'data/skills']) {
      expect(statSync(join(server.folder, path)).mode & 0o077, path).toBe(0);
    }
    for (const path of [
      'data/table.sqlite',
      'data/download-secret',
      'config/local-credentials',
      'config/local.json',
    ]) {
      expect(statSync(join(server.folder, path)).mode & 0o077, path).toBe(0);
    }
  });
});

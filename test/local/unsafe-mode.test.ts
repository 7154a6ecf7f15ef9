/** Where there is no isolation: refused by default, allowed by the explicit setting with warnings, never in production. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SERVER_COMMAND } from '../../infra/local/server-command.ts';
import { Api } from '../support/api.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { freshScope } from '../support/fresh-scope.ts';
import { descendantsOf, killAndLook, survivorsOf } from '../support/process-tree.ts';
import { scopeWithSkill, scriptRun, shellRun } from '../support/run-scope.ts';
import { newFolder, removeFolder, type StandaloneProcess, startStandalone } from '../support/standalone.ts';
import { refusalOf } from '../support/standalone-refusal.ts';

let server: StandaloneProcess | undefined;
afterEach(async () => {
  if (server === undefined) return;
  await server.stop();
  removeFolder(server.folder);
  server = undefined;
});
async function start(...args: Parameters<typeof startStandalone>): Promise<Api> {
  server = await startStandalone(...args);
  return new Api(server.target, freshScope());
}
const SCRIPTS = { 'scripts/x.sh': 'echo ran; echo out > "$OUTPUT_DIR/out"' };

describe('a machine without bubblewrap', () => {
  /** Ends with the server that is under it. */
  const hiding = [
    ...['bwrap', '--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap'],
    ...['--die-with-parent', process.execPath, ...SERVER_COMMAND],
  ] as const;

  it('serves the registry, refuses runs with the reason and the fix, and says so at start', async () => {
    const api = await start({ COGNITION_SANDBOX_POOL_SIZE: '1' }, newFolder(), [...hiding]);
    await scopeWithSkill(SCRIPTS, api);

    expect((await api.get('/skills/t1/files')).json.items).toHaveLength(2);
    expect((await api.post('/skill-validations', { name: 'x', content: 'x' })).status).toBe(200);
    const started = await api.post('/runs', scriptRun('scripts/x.sh'));
    const run = started.status === 202 ? (await api.finished(started.json.run_id)).json : started.json;
    const failure = run.failure ?? run;
    expect(failure.code).toBe('sandbox_unavailable');
    expect(failure.message ?? failure.detail).toMatch(/bwrap|bubblewrap/);
    expect(run.stdout ?? '').toBe('');
    expect(server?.log()).toMatch(/standalone\.warning.*runs are refused/);
  });
});

describe('COGNITION_UNSAFE_NO_ISOLATION=1', () => {
  it('runs without isolation, warns at start and on every run, and says so in the manifest', async () => {
    const api = await start({ COGNITION_UNSAFE_NO_ISOLATION: '1' });
    await scopeWithSkill(SCRIPTS, api);

    const runs = [
      (await api.run(scriptRun('scripts/x.sh'))).json,
      (await api.run(shellRun('echo again'))).json,
    ];

    expect(runs.map(({ status, stdout }) => [status, stdout])).toEqual([
      ['succeeded', 'ran\n'],
      ['succeeded', 'again\n'],
    ]);
    for (const run of runs) {
      expect(run.warnings.join('\n')).toMatch(/WITHOUT isolation/);
      const { manifest } = (await api.get(`/runs/${run.run_id}/manifest`)).json;
      expect(manifest.sandbox.isolation).toBe('none');
    }
    expect(runs[0]?.artifact_count).toBe(1);
    expect(server?.log()).toMatch(/standalone\.warning.*COGNITION_UNSAFE_NO_ISOLATION is 1/);
    expect(server?.log()).toMatch(/NO ISOLATION/);
  });

  it('gives its runs another image identity than a sandbox has', async () => {
    const identity = async (env: Record<string, string>): Promise<string> => {
      const api = await start({ COGNITION_SANDBOX_POOL_SIZE: '0', ...env });
      await scopeWithSkill(SCRIPTS, api);
      const { run_id } = (await api.run(shellRun('true'))).json;
      const { manifest } = (await api.get(`/runs/${run_id}/manifest`)).json;
      await server?.stop();
      return manifest.sandbox.image_identity;
    };

    expect(await identity({ COGNITION_UNSAFE_NO_ISOLATION: '1' })).not.toBe(await identity({}));
  });

  it('leaves no process and no folder of a task behind, at its end and when it is killed', async () => {
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('cognition-unsafe-'));
    const before = new Set(folders());
    const api = await start({ COGNITION_UNSAFE_NO_ISOLATION: '1', COGNITION_SANDBOX_POOL_SIZE: '1' });
    await scopeWithSkill(SCRIPTS, api);
    const ended = (await api.run(scriptRun('scripts/x.sh'))).json;
    await api.event(ended.run_id, 'sandbox.stopped');
    const { run_id } = (await api.post('/runs', shellRun('sleep 60'))).json;
    await api.event(run_id, 'command.started');
    const left = descendantsOf(server?.process.pid ?? 0);

    await server?.stop();

    expect(left.length).toBeGreaterThan(0);
    expect(await survivorsOf(left)).toEqual([]);
    expect(folders().filter((name) => !before.has(name))).toEqual([]);
  });

  it('is no way for a daemon to outlive a server that is killed with -9', async () => {
    const api = await start({ COGNITION_UNSAFE_NO_ISOLATION: '1', COGNITION_SANDBOX_POOL_SIZE: '1' });
    await scopeWithSkill(SCRIPTS, api);
    const { run_id } = (await api.post('/runs', shellRun('sleep 60'))).json;
    await api.event(run_id, 'command.started');

    const left = await killAndLook(server?.process.pid ?? 0, async () => server?.kill());

    expect(left.some(({ command }) => command.includes('sandboxd.cjs'))).toBe(true);
    expect(await survivorsOf(left)).toEqual([]);
  });

  it('as 0 changes nothing', async () => {
    const api = await start({ COGNITION_UNSAFE_NO_ISOLATION: '0' });
    await scopeWithSkill(SCRIPTS, api);

    const { run_id, warnings } = (await api.run(scriptRun('scripts/x.sh'))).json;

    expect(warnings).toEqual([]);
    expect((await api.get(`/runs/${run_id}/manifest`)).json.manifest.sandbox.isolation).toBe('sandbox');
  });
});

describe('a server that must not start', () => {
  const production = { COGNITION_ENVIRONMENT: 'production' };

  it.each<[string, Record<string, string>, RegExp]>([
    [
      'in production without isolation',
      { ...production, COGNITION_UNSAFE_NO_ISOLATION: '1' },
      /COGNITION_UNSAFE_NO_ISOLATION is for development/,
    ],
    [
      'in production with packages in a folder',
      { ...production, COGNITION_SKILLS_BACKEND: 'filesystem' },
      /COGNITION_SKILLS_BACKEND filesystem is for development/,
    ],
    [
      'with a setting that is none',
      { COGNITION_SKILL_BACKEND: 'filesystem' },
      /COGNITION_SKILL_BACKEND is not a setting: did you mean COGNITION_SKILLS_BACKEND\?/,
    ],
    [
      'with a value that is none',
      { COGNITION_MAX_TASKS: 'many' },
      /COGNITION_MAX_TASKS is "many": it must be a whole number/,
    ],
    ['with an unknown backend', { COGNITION_SKILLS_BACKEND: 'ftp' }, /COGNITION_SKILLS_BACKEND/],
    ['with S3 and no bucket', { COGNITION_SKILLS_BACKEND: 's3' }, /COGNITION_SKILLS_S3_BUCKET is required/],
    [
      'with bindings that are not there',
      { COGNITION_SCOPE_BINDINGS: '/nonexistent/bindings.json' },
      /COGNITION_SCOPE_BINDINGS.*bindings\.json/,
    ],
  ])('%s says which setting, and how to fix it', async (_, env, message) => {
    const { code, stderr, stdout } = await refusalOf(env);

    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stdout).not.toContain('listening');
  });

  it('names everything that is wrong at once', async () => {
    const { stderr } = await refusalOf({
      ...production,
      COGNITION_UNSAFE_NO_ISOLATION: '1',
      COGNITION_PORT: 'x',
      COGNITION_NOPE: '1',
    });

    for (const name of ['COGNITION_UNSAFE_NO_ISOLATION', 'COGNITION_PORT', 'COGNITION_NOPE'])
      expect(stderr).toContain(name);
  });

  it('with sandbox profiles that are wrong names file and place', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cognition-profiles-'));
    const file = join(folder, 'profiles.json');
    writeFileSync(file, JSON.stringify([{ name: 'default', memory_bytes: -1, colour: 'red' }]));

    const { code, stderr } = await refusalOf({ COGNITION_SANDBOX_PROFILES: file });

    rmSync(folder, { recursive: true });
    expect(code).toBe(1);
    expect(stderr).toMatch(/COGNITION_SANDBOX_PROFILES: .*profiles\.json at \/0/);
  });
});

describe('settings of a backend that is not selected', () => {
  it('are ignored with a warning', async () => {
    const api = await start({ COGNITION_SKILLS_S3_BUCKET: 'b-u-c-k-e-t', COGNITION_SANDBOX_POOL_SIZE: '0' });

    expect(server?.log()).toMatch(/COGNITION_SKILLS_S3_BUCKET is ignored/);
    expectProblem(await api.get('/skills/none'), 404, 'not_found');
  });
});

describe('COGNITION_SKILLS_BACKEND=filesystem', () => {
  it('works in development and warns at start', async () => {
    const api = await start({ COGNITION_SKILLS_BACKEND: 'filesystem', COGNITION_SANDBOX_POOL_SIZE: '0' });
    await scopeWithSkill(SCRIPTS, api);

    const { run_id, stdout } = (await api.run(scriptRun('scripts/x.sh'))).json;

    expect(stdout).toBe('ran\n');
    expect((await api.get(`/runs/${run_id}/manifest`)).json.manifest.package_backend).toBe('filesystem');
    expect(server?.log()).toMatch(/COGNITION_SKILLS_BACKEND is filesystem: for development/);
  });
});

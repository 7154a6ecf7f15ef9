import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildSandboxd } from '../../infra/local/fargate/task/build-sandboxd.ts';
import { createTaskRuntime, type TaskRuntime } from '../../infra/local/fargate/task/task-runtime.ts';
import { SANDBOX_ENV } from '../../shared/contracts/daemon.ts';
import { newSandboxKeyPair } from '../../shared/domain/daemon-signature.ts';
import {
  client,
  ids,
  openRuntime,
  profileOf,
  run,
  runShell,
  sealTask,
  silentLog,
  startTask,
} from '../support/sandboxd-task.ts';

const isRoot = process.getuid?.() === 0;
const support = fileURLToPath(new URL('../support/sandboxd-task.ts', import.meta.url));

const readStatus = (pid: number): string =>
  existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';

let runtime: TaskRuntime;
beforeAll(async () => {
  runtime = await openRuntime();
});
afterAll(() => runtime.close());

test('a daemon that lacks its configuration ends and says what is missing', async () => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');

  const task = await runtime.start({ [SANDBOX_ENV.sandboxId]: 'x' }, profileOf(), listener);

  const { code, stderr_tail } = await task.exited;

  expect(code).toBe(1);
  expect(stderr_tail).toContain(SANDBOX_ENV.sandboxId);
  expect(stderr_tail).toContain(SANDBOX_ENV.publicKey);
});

test('a daemon that is not isolated ends before it does anything, and says why', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bare-daemon-'));
  const file = join(folder, 'sandboxd.cjs');
  await writeFile(file, await buildSandboxd());
  const env = {
    [SANDBOX_ENV.sandboxId]: ids.next(),
    [SANDBOX_ENV.publicKey]: newSandboxKeyPair().public_key,
    [SANDBOX_ENV.profile]: JSON.stringify(profileOf()),
    COGNITION_SANDBOX_FORM: 'bubblewrap',
    COGNITION_COMMAND_FDS: '7,8,9',
    COGNITION_SANDBOX_LISTEN_FD: '3',
  };

  const { status, stderr } = spawnSync(process.execPath, [file], { env, encoding: 'utf8' });

  expect(status).toBe(1);
  expect(stderr).toContain('the isolation of this task is incomplete');
  expect(stderr).toMatch(/processes .* are in sight.*internet socket fails with ECONNREFUSED/);
  expect(existsSync('/skills')).toBe(false);
  await rm(folder, { recursive: true });
});

test.runIf(isRoot)(
  'as root each task has an unprivileged user of its own, and a cgroup that goes with it',
  async () => {
    const tasks = [await startTask(runtime), await startTask(runtime)];
    await Promise.all(tasks.map((task) => client.healthy(task.sandbox, 5_000)));
    const uids = await Promise.all(
      tasks.map(async ({ process }) => (await stat(`/proc/${process.pid}`)).uid),
    );
    const groups = tasks.map(({ process }) =>
      /task-\d+$/m.exec(readFileSync(`/proc/${process.pid}/cgroup`, 'utf8'))?.at(0),
    );

    expect(new Set(uids).size).toBe(2);
    expect(Math.min(...uids)).toBeGreaterThan(65_536);
    expect(groups).toEqual([expect.any(String), expect.any(String)]);
    expect(groups[0]).not.toBe(groups[1]);

    await runtime.close();
    const left = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'].flatMap((folder) =>
      existsSync(folder) ? readdirSync(folder) : [],
    );
    expect(left.filter((name) => name.startsWith(`cognition-${process.pid}-`))).toEqual([]);
    runtime = await openRuntime();
  },
);

test.runIf(isRoot)('memory beyond the profile kills the command and not the daemon', async () => {
  const MiB = 1024 * 1024;
  const profile = profileOf({ memory_bytes: 256 * MiB, workspace_bytes: 64 * MiB });

  const { status, task } = await runShell(runtime, 'python3 -c "x = bytearray(600 << 20)"', { profile });

  expect(status).toMatchObject({ state: 'exited', exit_code: expect.toSatisfy((code) => code !== 0) });
  expect(await client.healthy(task.sandbox, 5_000)).toBe(true);
});

test('a runtime that is killed takes its tasks with it', async () => {
  const program = `
    import { openRuntime, startTask, sealTask, startExec } from ${JSON.stringify(support)};
    const task = await startTask(await openRuntime());
    await sealTask(task);
    await startExec(task, { command: { argv: ['sh', '-c', 'setsid sleep 987654 & sleep 987654'] } });
    console.log(task.process.pid);
    setInterval(() => undefined, 1000);`;
  const server = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = Number(await new Promise((resolve) => server.stdout.once('data', resolve)));
  const sleepers = () => spawnSync('pgrep', ['-cf', '^sleep 987654$']).stdout.toString().trim();
  await expect.poll(sleepers).toBe('2');

  server.kill('SIGKILL');

  await expect.poll(sleepers, { timeout: 5_000 }).toBe('0');
  // A zombie is nobody's process any more; who reaps it is up to the machine's init.
  const state = () => /^State:\s*(\S)/m.exec(readStatus(pid))?.[1] ?? 'Z';
  await expect.poll(state).toBe('Z');
});

test('the image identity depends on the profile and is the same in another runtime', async () => {
  const other = await openRuntime();

  expect(other.imageIdentity(profileOf())).toBe(runtime.imageIdentity(profileOf()));
  expect(runtime.imageIdentity(profileOf({ max_processes: 7 }))).not.toBe(runtime.imageIdentity(profileOf()));
  expect(runtime.imageIdentity(profileOf())).toMatch(/^sha256:[0-9a-f]{64}$/);
  await other.close();
});

test('a staging folder that somebody else could change is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'staging-'));
  await chmod(folder, 0o777);

  const opening = createTaskRuntime({ unsafe_no_isolation: false, staging_dir: folder, log: silentLog });

  await expect(opening).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    message: expect.stringContaining(folder),
  });
  await rm(folder, { recursive: true });
});

test('without isolation it works behind the explicit setting, and warns', async () => {
  const unsafe = await openRuntime({ unsafe: true });
  const task = await startTask(unsafe);
  await sealTask(task, {
    skills: {
      demo: { 'SKILL.md': 'x', 'a.sh': 'echo "$OUTPUT_DIR"; echo out > "$OUTPUT_DIR/file"; exit 3' },
    },
  });

  const { status, stdout } = await run(task, { command: { skill: 'demo', script: 'a.sh', args: [] } });

  expect(unsafe).toMatchObject({ isolation: 'none', warnings: [expect.stringContaining('NO ISOLATION')] });
  expect(status.exit_code).toBe(3);
  expect((await client.listOutputs(task.sandbox)).files).toEqual([{ path: 'file', size_bytes: 4 }]);
  await task.process.kill();
  expect(existsSync(stdout.trim())).toBe(false);
  await unsafe.close();
});

test.runIf(isRoot)('a plain user gets the same isolation and a warning about memory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plain-user-'));
  await chmod(folder, 0o755);
  const node = join(folder, 'node');
  await promisify(execFile)('cp', [process.execPath, node]);
  const program = `
    import { openRuntime, runShell } from ${JSON.stringify(support)};
    const runtime = await openRuntime();
    const { stdout } = await runShell(runtime, 'id -u; grep -c . /proc/net/dev; grep Seccomp_filters /proc/self/status');
    console.log(JSON.stringify({ warnings: runtime.warnings, stdout }));
    await runtime.close();
    process.exit(0);`;
  const { stdout } = await promisify(execFile)(
    'setpriv',
    [
      '--reuid',
      '54321',
      '--regid',
      '54321',
      '--clear-groups',
      node,
      '--input-type=module-typescript',
      '-e',
      program,
    ],
    { env: { PATH: '/usr/bin:/bin', TMPDIR: tmpdir(), HOME: folder } },
  );

  const answer = JSON.parse(stdout);
  expect(answer.stdout).toMatch(/^65534\n3\nSeccomp_filters:\s*2\n$/);
  expect(answer.warnings).toEqual([expect.stringContaining('plain user')]);
  await rm(folder, { recursive: true });
});

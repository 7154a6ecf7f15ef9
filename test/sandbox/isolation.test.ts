import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSandboxes } from '../support/sandbox-form.ts';
import {
  profileOf,
  run,
  runShell,
  type SandboxSource,
  sealTask,
  startTask,
} from '../support/sandboxd-task.ts';

let runtime: SandboxSource;
beforeAll(async () => {
  runtime = await openSandboxes();
});
afterAll(() => runtime.close());

const SKILL = { 'SKILL.md': 'x', 'scripts/run.sh': '#!/bin/sh\necho ran\n', 'data.txt': 'data' };

/** Runs a Python program in a sealed sandbox. */
async function python(program: string, materials = {}): Promise<string> {
  const task = await startTask(runtime);
  await sealTask(task, materials);
  const ran = await run(task, { command: { argv: ['python3', '-c', program] } });
  await task.process.kill();
  return ran.stdout.trim() || ran.stderr.trim();
}

test('sockets of every family but Unix are refused, so there is no DNS, no metadata endpoint and no daemon port', async () => {
  const families = { INET: 2, INET6: 10, NETLINK: 16, PACKET: 17, RXRPC: 33, ALG: 38, VSOCK: 40 };

  const answer = await python(`
import socket, json
result = {}
for name, family in json.loads('${JSON.stringify(families)}').items():
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(family, kind, 0); result[name] = 'open'
        except OSError as error:
            result.setdefault(name, error.errno)
try:
    socket.socketpair(family=2)
except OSError as error:
    result['PAIR'] = error.errno
result['UNIX'] = socket.socket(socket.AF_UNIX).fileno() > 0
print(json.dumps(result))`);

  const refused = Object.fromEntries(Object.keys(families).map((name) => [name, 97]));
  expect(JSON.parse(answer)).toEqual({ ...refused, PAIR: 97, UNIX: true });
});

test('system calls that reach other processes, the kernel or around rlimits are refused', async () => {
  const calls = {
    ptrace: 101,
    process_vm_readv: 310,
    keyctl: 250,
    bpf: 321,
    io_uring_setup: 425,
    userfaultfd: 323,
    perf_event_open: 298,
    setns: 308,
    unshare: 272,
    mount: 165,
    umount2: 166,
    pivot_root: 155,
    chroot: 161,
    shmget: 29,
    msgget: 68,
    semget: 64,
    memfd_create: 319,
    open_by_handle_at: 304,
    kexec_load: 246,
    init_module: 175,
    pidfd_getfd: 438,
    quotactl: 179,
    syslog: 103,
    settimeofday: 164,
  };
  const missing = { clone3: 435, newer: 500, x32_getpid: 0x40000000 + 39 };

  const answer = await python(`
import ctypes, json
libc = ctypes.CDLL(None, use_errno=True)
result = {}
for name, number in json.loads('${JSON.stringify({ ...calls, ...missing })}').items():
    ctypes.set_errno(0)
    libc.syscall(ctypes.c_long(number), 0, 0, 0, 0, 0, 0)
    result[name] = ctypes.get_errno()
libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0); result['clone_newuser'] = ctypes.get_errno()
libc.ioctl(0, 0x5412, b'x'); result['tiocsti'] = ctypes.get_errno()
print(json.dumps(result))`);

  const expected = {
    ...Object.fromEntries(Object.keys(calls).map((name) => [name, 1])),
    ...Object.fromEntries(Object.keys(missing).map((name) => [name, 38])),
    clone_newuser: 1,
    tiocsti: 1,
  };
  expect(JSON.parse(answer)).toEqual(expected);
});

test.runIf(process.arch === 'x64')('a system call of a foreign architecture kills the process', async () => {
  const answer = await python(`
import ctypes, mmap, os
# mov eax, 20 (getpid of i386); int 0x80; ret
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
pid = os.fork()
if pid == 0:
    call(); os._exit(0)
print(os.WTERMSIG(os.waitpid(pid, 0)[1]))`);

  expect(answer).toBe('31');
});

test('the command has an environment of six names, and no descriptor of anybody else', async () => {
  const { stdout } = await runShell(
    runtime,
    'env | cut -d= -f1 | sort | tr "\\n" " "; echo; ls /proc/self/fd | wc -l',
  );

  expect(stdout).toBe('COGNITION_EGRESS_SOCKET HOME LANG OUTPUT_DIR PATH PWD TMPDIR \n4\n');
});

test.each([
  ['write', 'echo x > /skills/demo/data.txt'],
  ['create', 'echo x > /skills/demo/new'],
  ['rename', 'mv /skills/demo/data.txt /skills/demo/other'],
  ['chmod', 'chmod 777 /skills/demo/data.txt'],
  ['hardlink', 'ln /skills/demo/data.txt /workspace/link'],
  ['unlink', 'rm -f /skills/demo/data.txt'],
  ['mount point', 'rmdir /skills || mv /workspace/inputs /workspace/x'],
  ['input', 'echo x > /workspace/inputs/in.txt'],
  ['interpreter', 'echo x > /usr/bin/python3'],
  ['root', 'echo x > /x'],
])('%s is refused where it must be', async (_, attempt) => {
  const materials = { skills: { demo: SKILL }, inputs: { 'in.txt': 'in' } };

  const { stdout } = await runShell(
    runtime,
    `(${attempt}) 2>/dev/null && echo done || echo refused; cat /skills/demo/data.txt /workspace/inputs/in.txt`,
    { materials },
  );

  expect(stdout).toBe('refused\ndatain');
});

test('a caller cannot set a variable that the profile does not name, nor one that is forbidden to all', async () => {
  const profile = profileOf({ env_names: ['GREETING', 'LD_PRELOAD', 'NODE_OPTIONS'] });
  const task = await startTask(runtime, profile);
  await sealTask(task);
  for (const name of ['LD_PRELOAD', 'NODE_OPTIONS', 'PATH', 'OTHER', 'PYTHONPATH']) {
    await expect(run(task, { env: { [name]: '/tmp/x' } })).rejects.toMatchObject({ code: 'bad_request' });
  }

  const ran = await run(task, {
    command: { argv: ['sh', '-c', 'echo $GREETING'] },
    env: { GREETING: 'hello' },
  });

  expect(ran.stdout).toBe('hello\n');
});

test('a fork bomb meets its limit, the command ends and the daemon answers', async () => {
  const { status, stdout } = await runShell(
    runtime,
    'python3 -c "\nimport os\nn=0\ntry:\n  while True:\n    if os.fork()==0:\n      import time; time.sleep(60)\n    n+=1\nexcept OSError as e: print(e.errno, n < 64)"',
    { profile: profileOf({ max_processes: 64 }) },
  );

  expect(stdout).toBe('11 True\n');
  expect(status.exit_code).toBe(0);
});

test("a full disk is the command's own error", async () => {
  const MiB = 1024 * 1024;
  const { stdout } = await runShell(
    runtime,
    'for d in /workspace /outputs /tmp /dev/shm; do (head -c 80M /dev/zero | split -b 1M - $d/f) 2>&1 | grep -qi "no space" && echo full; done; echo alive',
    { profile: profileOf({ workspace_bytes: 16 * MiB }) },
  );

  expect(stdout).toBe('full\nfull\nfull\nfull\nalive\n');
});

test('when a task is killed nothing of it is left', async () => {
  const marker = `sleep 3${Math.floor(Math.random() * 1e6)}`;
  const task = await startTask(runtime);
  await sealTask(task);
  const ran = run(task, { command: { argv: ['sh', '-c', `setsid ${marker} & ${marker}`] } }).catch(
    () => undefined,
  );
  while (spawnSync('pgrep', ['-f', `^${marker}$`]).status !== 0)
    await new Promise((done) => setTimeout(done, 20));

  await task.process.kill();

  expect(spawnSync('pgrep', ['-f', `^${marker}$`]).status).toBe(1);
  await expect(task.process.status()).rejects.toThrow();
  await ran;
});

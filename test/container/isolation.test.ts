/** What stands between command and daemon where both are in one container, beside what test/sandbox shows of every form. */
import { afterAll, expect, inject, test } from 'vitest';
import { openContainers } from '../support/sandbox-form.ts';
import { client, profileOf, run, sealTask, startTask, type TestTask } from '../support/sandboxd-task.ts';
import { METADATA_SECRET } from './metadata-secret.ts';

const MiB = 1024 * 1024;
const host = openContainers();
afterAll(() => host.close());

async function sealed(profile = profileOf()): Promise<TestTask> {
  const task = await startTask(host, profile);
  await sealTask(task, { inputs: { 'in.txt': 'in' } });
  return task;
}
const python = (task: TestTask, program: string, timeout_ms = 30_000) =>
  run(task, { command: { argv: ['python3', '-c', program] }, timeout_ms });

/** Living processes of the command's user, as root sees them. */
async function commandProcesses({ process }: TestTask): Promise<string> {
  const list = `for s in /proc/[0-9]*/status; do awk '/^Name/{n=$2} /^State/{s=$2} /^Uid/{u=$2} END{if(u==65534&&s!="Z")print n}' $s; done 2>/dev/null`;
  return await host.exec(process.id, 'sh', '-c', list);
}

test('environment, memory, descriptors and folders of the daemon and its init are out of reach', async () => {
  const { stdout } = await python(
    await sealed(),
    `
import os, json
got, tried = [], 0
for pid in os.listdir('/proc'):
    if not pid.isdigit() or int(pid) == os.getpid(): continue
    for what in ('environ', 'mem', 'maps', 'fd', 'root', 'cwd', 'exe', 'fdinfo', 'auxv', 'syscall', 'stack', 'io'):
        path = '/proc/%s/%s' % (pid, what)
        tried += 1
        try:
            got.append((path, os.listdir(path) if os.path.isdir(path) or what in ('fd', 'fdinfo') else open(path, 'rb').read(1)))
        except OSError: pass
    for link in ('exe', 'cwd', 'root'):
        try: got.append(os.readlink('/proc/%s/%s' % (pid, link)))
        except OSError: pass
print(json.dumps([tried, got]))`,
  );

  const [tried, got] = JSON.parse(stdout);
  // Init of the container, daemon, init of the command.
  expect(tried).toBe(36);
  expect(got).toEqual([]);
});

test('no signal, limit, priority or trace reaches another process', async () => {
  const task = await sealed();
  const { stdout } = await python(
    task,
    `
import os, signal, resource, ctypes
got = []
libc = ctypes.CDLL(None, use_errno=True)
for pid in [int(p) for p in os.listdir('/proc') if p.isdigit() and int(p) != os.getpid()]:
    for name, action in {
        'kill': lambda: os.kill(pid, signal.SIGKILL), 'stop': lambda: os.kill(pid, signal.SIGSTOP),
        'priority': lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
        'affinity': lambda: os.sched_setaffinity(pid, {0}), 'limits': lambda: resource.prlimit(pid, resource.RLIMIT_AS, (1, 1)),
        'oom': lambda: open('/proc/%d/oom_score_adj' % pid, 'w').write('1000'),
        'pidfd': lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGKILL),
    }.items():
        try: action(); got.append((name, pid))
        except OSError: pass
    if libc.ptrace(16, pid, 0, 0) == 0: got.append(('ptrace', pid))
# Answers that all is well whomever it reaches: who is left afterwards says more.
os.kill(-1, signal.SIGKILL)
print(got, len([p for p in os.listdir('/proc') if p.isdigit()]))`,
  );

  expect(stdout).toBe('[] 4\n');
  expect(await client.healthy(task.sandbox, 5_000)).toBe(true);
});

test('the metadata endpoint answers in this network, and no command gets an answer', async () => {
  const task = await sealed();
  const url = inject('metadataUrl');
  const fetchIt = `fetch('${url}').then((r) => r.text()).then(console.log)`;
  // Without it the rest would prove nothing: the endpoint can be reached from here.
  expect(await host.exec(task.process.id, 'node', '-e', fetchIt)).toBe(METADATA_SECRET);

  const { stdout, stderr, status } = await run(task, { command: { argv: ['node', '-e', fetchIt] } });

  expect(status.exit_code).not.toBe(0);
  expect(stdout + stderr).not.toContain(METADATA_SECRET);
  expect(stderr).toMatch(/EAFNOSUPPORT|fetch failed/);
});

test("the daemon's own port is where every process can read it, and no command gets there", async () => {
  const task = await sealed();
  const { stdout } = await python(
    task,
    `
import socket
listening = any(line.split()[1].endswith(':211D') and line.split()[3] == '0A' for file in ('tcp', 'tcp6') for line in open('/proc/net/' + file))
reached = []
for address in ('127.0.0.1', '${task.sandbox.host}', '::1'):
    try: socket.create_connection((address, 8477), 1); reached.append(address)
    except OSError as error: reached.append(error.errno)
print(listening, reached)`,
  );

  expect(stdout).toBe('True [97, 97, 97]\n');
});

test('what has left the command in every way is dead before it counts as exited', async () => {
  const task = await sealed();
  const ran = await python(
    task,
    `
import os, signal, ctypes, sys
def survivor(action):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for s in range(1, 32):
                try: signal.signal(s, signal.SIG_IGN)
                except (OSError, ValueError): pass
            os.close(1); os.close(2)
            # Unreadable: its folder in /proc belongs to root then.
            ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
            while True: action()
        os._exit(0)
def spread():
    try:
        if os.fork() == 0: return
    except OSError: pass
def kill_all():
    try: os.kill(-1, signal.SIGCONT)
    except OSError: pass
survivor(signal.pause)
survivor(lambda: os.kill(os.getpid(), signal.SIGSTOP))
survivor(spread)
survivor(kill_all)
print('left')`,
  );

  expect(ran).toMatchObject({ stdout: 'left\n', status: { exit_code: 0, timed_out: false } });
  expect(await commandProcesses(task)).toBe('');
});

test('a command that kills everything of its user again and again does not escape its deadline', async () => {
  const task = await sealed();
  const program = `
import os, signal
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        while True:
            try: os.fork() or signal.alarm(0)
            except OSError: pass
while True:
    try: os.fork()
    except OSError: pass`;

  const ran = await python(task, program, 1_500);

  expect(ran.status).toMatchObject({ state: 'exited', timed_out: true, exit_code: 137 });
  expect(await commandProcesses(task)).toBe('');
  expect(await client.healthy(task.sandbox, 5_000)).toBe(true);
});

test('a stopped command dies at its deadline', async () => {
  const task = await sealed();

  const ran = await run(task, {
    command: { argv: ['sh', '-c', 'kill -STOP $$'] },
    timeout_ms: 700,
  });

  expect(ran.status).toMatchObject({ state: 'exited', timed_out: true, signal: 'SIGKILL' });
  expect(await commandProcesses(task)).toBe('');
});

test('memory beyond the profile kills the command and not the daemon', async () => {
  const task = await sealed(profileOf({ memory_bytes: 1024 * MiB }));

  const ran = await python(task, 'x = bytearray(3000 << 20)\nprint(len(x))');

  expect(ran.stdout).toBe('');
  expect(ran.status.exit_code).not.toBe(0);
  expect(await client.healthy(task.sandbox, 5_000)).toBe(true);
});

test('the folder of the broker and its socket stay as they are', async () => {
  const { stdout } = await run(await sealed(), {
    command: {
      argv: [
        'sh',
        '-c',
        'S=$COGNITION_EGRESS_SOCKET; for a in "rm -f $S" "mv $S $S.old" "touch /run/x" "touch /run/cognition/x" "chmod 777 /run/cognition" "rm -rf /workspace/inputs" "mv /workspace/inputs /workspace/x"; do (eval $a) 2>/dev/null && echo "done: $a"; done; stat -c "%U %a" /skills /workspace /outputs /tmp /run/cognition /workspace/inputs',
      ],
    },
  });

  expect(stdout).toBe('root 755\nroot 1777\nroot 1777\nroot 1777\nroot 755\nroot 555\n');
});

test('the program of an image that could raise rights is not there', async () => {
  const { stdout } = await run(await sealed(), {
    command: {
      argv: [
        'sh',
        '-c',
        'find / -xdev -type f -perm /6000 2>/dev/null; cat /etc/shadow 2>&1 | grep -c denied; id -u; id -G',
      ],
    },
  });

  expect(stdout).toBe('1\n65534\n65534\n');
});

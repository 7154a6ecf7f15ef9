import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSandboxes } from '../support/sandbox-form.ts';
import {
  client,
  followExec,
  ids,
  run,
  runShell,
  type SandboxSource,
  sealTask,
  startExec,
  startTask,
} from '../support/sandboxd-task.ts';

let runtime: SandboxSource;
beforeAll(async () => {
  runtime = await openSandboxes();
});
afterAll(() => runtime.close());

async function script(files: Record<string, string>, path: string, args: string[] = []) {
  const task = await startTask(runtime);
  await sealTask(task, { skills: { demo: { 'SKILL.md': 'x', ...files } } });
  const ran = await run(task, { command: { skill: 'demo', script: path, args } });
  await task.process.kill();
  return ran;
}

test.each([
  ['a #! line', 'scripts/a', '#!/bin/sh\necho "$0" "$@"\n', '/skills/demo/scripts/a x  y\n'],
  ['a #! line with CRLF', 'a.py', '#!/usr/bin/env python3\r\nprint("hi")\r\n', 'hi\n'],
  ['.py', 'a.py', 'import sys\nprint(sys.argv[1])\n', 'x  y\n'],
  ['.sh', 'a.sh', 'echo $#\n', '1\n'],
  ['.js', 'a.js', 'console.log(process.argv[2])\n', 'x  y\n'],
  ['.mjs', 'a.mjs', 'import { sep } from "node:path"; console.log(sep)\n', '/\n'],
  ['.ts', 'a.ts', 'const word: string = process.argv[2] ?? ""; console.log(word)\n', 'x  y\n'],
])('a script with %s runs in its package and stderr is empty', async (_, path, text, expected) => {
  const ran = await script({ [path]: text }, path, ['x  y']);

  expect(ran).toMatchObject({ stdout: expected, stderr: '', status: { exit_code: 0, signal: null } });
});

test('a script can call its siblings, and works in /workspace', async () => {
  const ran = await script(
    {
      'scripts/main.sh': '#!/bin/sh\npwd\n"$(dirname "$0")/lib/run.sh"\n',
      'scripts/lib/run.sh': '#!/bin/sh\necho sibling\n',
    },
    'scripts/main.sh',
  );

  expect(ran.stdout).toBe('/workspace\nsibling\n');
});

test('a script that is not in the package is not found, and a folder is no script', async () => {
  await expect(script({}, 'missing.py')).rejects.toMatchObject({ code: 'not_found' });
  await expect(script({ 'lib/a.py': '' }, 'lib')).rejects.toMatchObject({ code: 'not_found' });
  await expect(script({}, '../../etc/passwd')).rejects.toMatchObject({ code: 'bad_request' });
});

test.each([
  ['exit 3', 3, null],
  ['exit 137', 137, null],
  ['kill -TERM $$', 143, 'SIGTERM'],
  ['kill -SEGV $$', 139, 'SIGSEGV'],
  ['kill -KILL $$', 137, 'SIGKILL'],
])('%s is reported as it was', async (text, code, signal) => {
  const { status } = await runShell(runtime, text);

  expect(status).toMatchObject({ exit_code: code, signal, timed_out: false });
});

test('a command that does not exist is 127, one that may not be executed 126, both in words', async () => {
  const exec = (argv: string[]) => runShell(runtime, '', { exec: { command: { argv } } });

  expect(await exec(['no-such-program'])).toMatchObject({
    status: { exit_code: 127 },
    stderr: 'no-such-program: No such file or directory\n',
  });
  expect(await exec(['/etc/passwd'])).toMatchObject({
    status: { exit_code: 126 },
    stderr: '/etc/passwd: Permission denied\n',
  });
});

test('arguments and stdin arrive exactly', async () => {
  const argument = ' $(id) `id` "\'\\ \n*é🙂';
  const stdin = Buffer.concat([Buffer.from([0, 255, 10, 13]), Buffer.alloc(1024 * 1024 - 4, 'a')]);

  const args = await runShell(runtime, '', { exec: { command: { argv: ['printf', '%s', argument, ''] } } });
  const input = await runShell(runtime, 'sha256sum', { exec: { command: { argv: ['sha256sum'] }, stdin } });

  const { createHash } = await import('node:crypto');
  expect(args.stdout).toBe(argument);
  expect(input.stdout).toBe(`${createHash('sha256').update(stdin).digest('hex')}  -\n`);
});

test('without stdin, and with an empty one, the end of file comes at once', async () => {
  const none = await runShell(runtime, 'wc -c');
  const empty = await runShell(runtime, 'wc -c', { exec: { command: { argv: ['wc', '-c'] }, stdin: '' } });

  expect([none.stdout, empty.stdout]).toEqual(['0\n', '0\n']);
});

test('stdout and stderr are apart, and can be opened by name', async () => {
  const ran = await runShell(
    runtime,
    'echo out; echo err >&2; echo named >/dev/stderr; echo named >/dev/stdout',
  );

  expect(ran).toMatchObject({ stdout: 'out\nnamed\n', stderr: 'err\nnamed\n' });
});

test('a stream is kept up to its cap, cut between characters, and drained', async () => {
  const exec = {
    command: { argv: ['sh', '-c', 'yes 🙂 | head -c 30000000; echo end >&2'] },
    stream_bytes: 1_001,
  };

  const ran = await runShell(runtime, '', { exec });

  expect(ran.status.stdout).toMatchObject({ truncated: true });
  expect(ran.stdout).toBe('🙂\n'.repeat(200));
  expect(ran.stderr).toBe('end\n');
});

test('gigabytes with no newline leave the memory of the daemon where it was', async () => {
  const task = await startTask(runtime);
  await sealTask(task);

  const ran = await run(task, {
    command: { argv: ['head', '-c', '2000000000', '/dev/zero'] },
    timeout_ms: 60_000,
  });

  const rss = Number(/VmHWM:\s*(\d+)/.exec(await task.process.status())?.[1]);
  expect(ran.status).toMatchObject({ exit_code: 0, stdout: { truncated: true, length: 262_144 } });
  expect(rss).toBeLessThan(120_000);
});

test('a deadline kills everything, whatever it ignores or has become', async () => {
  const ran = await runShell(runtime, '', {
    exec: {
      command: {
        argv: [
          'sh',
          '-c',
          'trap "" TERM INT HUP; setsid sh -c "sleep 60" & (sleep 60 &); echo started; sleep 60',
        ],
      },
      timeout_ms: 700,
    },
  });

  expect(ran.stdout).toBe('started\n');
  expect(ran.status).toMatchObject({ state: 'exited', timed_out: true, exit_code: 137, signal: 'SIGKILL' });
});

test('what a command leaves behind is dead before it counts as exited', async () => {
  const task = await startTask(runtime);
  await sealTask(task);
  const argv = ['sh', '-c', 'setsid sh -c "while :; do echo x >> /outputs/log; done" & sleep 0.2; echo main'];

  const ran = await run(task, { command: { argv } });

  const [before] = (await client.listOutputs(task.sandbox)).files;
  const [after] = (await client.listOutputs(task.sandbox)).files;
  expect(ran).toMatchObject({ stdout: 'main\n', status: { exit_code: 0 } });
  expect(after).toEqual(before);
});

test('the same exec is the same run of the script, another one is refused, and outputs wait for the end', async () => {
  const task = await startTask(runtime);
  await sealTask(task);
  const execId = ids.next();
  const request = {
    command: { argv: ['sh', '-c', 'echo once >> /outputs/count; sleep 0.3'] },
    env: {},
    timeout_ms: 5_000,
    stream_bytes: 1_000,
  };

  await Promise.all([1, 2, 3].map(() => client.exec(task.sandbox, execId, request)));
  await expect(client.listOutputs(task.sandbox)).rejects.toMatchObject({ code: 'still_running' });
  await expect(client.exec(task.sandbox, ids.next(), request)).rejects.toMatchObject({
    code: 'exists_with_other_content',
  });
  await expect(client.exec(task.sandbox, execId, { ...request, timeout_ms: 6_000 })).rejects.toMatchObject({
    code: 'exists_with_other_content',
  });
  await followExec(task, execId);

  expect((await client.getOutput(task.sandbox, 'count', 100)).toString()).toBe('once\n');
});

test('a long poll wakes for output and for the end, and not before', async () => {
  const task = await startTask(runtime);
  await sealTask(task);
  const execId = await startExec(task, {
    command: { argv: ['sh', '-c', 'sleep 0.2; echo a; sleep 0.2; echo b'] },
  });
  const poll = (offset: number, wait_ms = 10_000) =>
    client.execStatus(task.sandbox, execId, { wait_ms, stdout_offset: offset, stderr_offset: 0 });

  const nothing = await poll(0, 0);
  const first = await poll(0);
  const second = await poll(2);
  const end = await poll(4);

  expect(nothing.stdout.length).toBe(0);
  expect([first.stdout, second.stdout].map(({ data }) => Buffer.from(data, 'base64').toString())).toEqual([
    'a\n',
    'b\n',
  ]);
  expect(end).toMatchObject({ state: 'exited', exit_code: 0 });
});

test('egress is refused in a form that programs can read, and remembered', async () => {
  const program = `
import socket, os
for host in ('weather-api', 'UPPER case', 'weather-api:80'):
    s = socket.socket(socket.AF_UNIX); s.connect(os.environ['COGNITION_EGRESS_SOCKET'])
    s.sendall(f'GET /v1 HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\n\\r\\n'.encode())
    data = b''
    while chunk := s.recv(4096): data += chunk
    print(data.split(b'\\r\\n')[0].decode(), data.split(b'\\r\\n\\r\\n')[1].decode())`;

  const { stdout, status } = await runShell(runtime, '', {
    exec: { command: { argv: ['python3', '-c', program] } },
  });

  expect(stdout).toContain('HTTP/1.1 403 Forbidden {"code":"egress_denied","alias":"weather-api"');
  expect(status.egress_denied.map((attempt) => attempt.alias)).toEqual([
    'weather-api',
    'invalid',
    'weather-api',
  ]);
  expect(status.egress_denied_total).toBe(3);
});

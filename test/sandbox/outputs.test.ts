import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSandboxes } from '../support/sandbox-form.ts';
import { client, profileOf, runShell, type SandboxSource } from '../support/sandboxd-task.ts';

const MiB = 1024 * 1024;
let runtime: SandboxSource;
beforeAll(async () => {
  runtime = await openSandboxes();
});
afterAll(() => runtime.close());

async function outputsOf(script: string) {
  const { task, stderr } = await runShell(runtime, `cd /outputs; ${script}`, {
    profile: profileOf({ workspace_bytes: 512 * MiB, memory_bytes: 2048 * MiB }),
  });
  expect(stderr).toBe('');
  return { task, list: await client.listOutputs(task.sandbox) };
}

test('regular files are listed with their sizes, and read byte for byte', async () => {
  const { task, list } = await outputsOf(
    'mkdir -p a/b; printf "\\0\\377x" > a/b/c.bin; : > empty; printf hi > é🙂',
  );

  expect(list).toEqual({
    files: [
      { path: 'a/b/c.bin', size_bytes: 3 },
      { path: 'empty', size_bytes: 0 },
      { path: 'é🙂', size_bytes: 2 },
    ],
    refused: [],
    truncated: false,
  });
  expect([...(await client.getOutput(task.sandbox, 'a/b/c.bin', 10))]).toEqual([0, 255, 120]);
  expect((await client.getOutput(task.sandbox, 'empty', 10)).length).toBe(0);
  expect((await client.getOutput(task.sandbox, 'é🙂', 10)).toString()).toBe('hi');
});

test('links, pipes, sockets, hard links and odd names are refused by name and never read', async () => {
  const { task, list } = await outputsOf(`
    ln -s /etc/passwd final; ln -s /etc folder; mkfifo pipe; echo x > one; ln one two
    python3 -c "
import socket, os
s = socket.socket(socket.AF_UNIX); s.bind('socket')
open(b'bad\\xff', 'w'); open('new\\nline', 'w')"
    truncate -s 100M sparse
  `);

  const refused = Object.fromEntries(list.refused.map(({ path, reason }) => [path, reason]));
  expect(list.files).toEqual([]);
  expect(refused).toEqual({
    'bad\ufffd': 'its path is not UTF-8',
    final: 'it is a symbolic link',
    folder: 'it is a symbolic link',
    'new\nline': 'its path has a control character',
    one: 'it is a hard link of another file',
    pipe: 'it is not a regular file',
    socket: 'it is not a regular file',
    sparse: 'it has over 67108864 bytes',
    two: 'it is a hard link of another file',
  });
  for (const path of ['final', 'pipe', 'one', 'socket', 'sparse']) {
    await expect(client.getOutput(task.sandbox, path, 100)).rejects.toMatchObject({ code: 'bad_request' });
  }
  for (const path of ['folder/passwd', 'missing']) {
    await expect(client.getOutput(task.sandbox, path, 100)).rejects.toMatchObject({ code: 'not_found' });
  }
  for (const path of ['../etc/passwd', '/etc/passwd', 'a/../../etc/passwd']) {
    await expect(client.getOutput(task.sandbox, path, 100)).rejects.toMatchObject({ code: 'bad_request' });
  }
});

test('a sparse file of a terabyte cannot be made', async () => {
  const { stdout } = await runShell(runtime, 'truncate -s 1T /outputs/x 2>/dev/null || echo refused');

  expect(stdout).toBe('refused\n');
});

test('permissions that a command took away do not hide its outputs', async () => {
  const { task, list } = await outputsOf(
    'mkdir d; echo x > d/f; chmod 0 d/f; chmod 0 d; echo y > g; chmod 0 g',
  );

  expect(list.files.map((file) => file.path)).toEqual(['d/f', 'g']);
  expect((await client.getOutput(task.sandbox, 'd/f', 10)).toString()).toBe('x\n');
});

test('a hundred thousand files are looked at up to the cap', async () => {
  const { list } = await outputsOf('python3 -c "\nfor i in range(100000): open(str(i), \'w\').close()"');

  expect(list).toMatchObject({ truncated: true, refused: [] });
  expect(list.files.length).toBe(4_096);
});

/** What namespaces of its own keep from a command, beside what test/sandbox shows of every form. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TaskRuntime } from '../../infra/local/fargate/task/task-runtime.ts';
import { openRuntime, runShell } from '../support/sandboxd-task.ts';

let runtime: TaskRuntime;
beforeAll(async () => {
  runtime = await openRuntime();
});
afterAll(() => runtime.close());

test('the command sees only its own processes, and nothing of the host in what they say', async () => {
  const secret = 'COGNITION_TEST_SECRET';
  process.env[secret] = 'host value';

  const { stdout } = await runShell(
    runtime,
    'ls /proc | grep -c "^[0-9]*$"; tr "\\0" "\\n" </proc/1/environ; cat /proc/1/cmdline | tr "\\0" " "',
  );

  const [processes, ...init] = stdout.split('\n');
  expect(Number(processes)).toBeLessThanOrEqual(5);
  expect(init.join('\n')).not.toContain('host value');
  delete process.env[secret];
});

test('files of the host and of the daemon are not there', async () => {
  const { stdout } = await runShell(
    runtime,
    'for p in /root /home /var /opt/sandboxd /work /usr/local/bin /etc/shadow /sys /run/systemd /boot; do [ -e $p ] && ls -d $p; done; cat /etc/passwd | wc -l; find / -name "*.bpf" -not -path "/proc/*" -not -path "/usr/*" 2>/dev/null',
  );

  expect(stdout).toBe('2\n');
});

test('memory and descriptors of the init, and signals to it, are out of reach', async () => {
  const answer = await runPython(`
import os
result = []
for what in ('/proc/1/mem', '/proc/1/environ', '/proc/1/fd/3'):
    try:
        open(what, 'rb').read(1); result.append('open')
    except OSError as error:
        result.append(error.errno)
os.kill(1, 9)
print(result, os.path.exists('/proc/1'))`);

  expect(answer).toMatch(/^\[13, 13, (13|2)\] True$/);
});

async function runPython(program: string): Promise<string> {
  const { stdout } = await runShell(runtime, '', { exec: { command: { argv: ['python3', '-c', program] } } });
  return stdout.trim();
}

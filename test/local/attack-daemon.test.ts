/** What a task that has been taken over can do to the server that started it. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { supervise } from '../../infra/local/fargate/task/supervise-task.ts';

it('a flood of words is not read without end, and the task can still be killed', async () => {
  let stdout = '';
  const script = 'head -c 64M /dev/zero | tr "\\0" x >&2; echo read-all';
  const child = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  const task = supervise(child, {
    report: undefined,
    lifeline: undefined,
    kill_group: true,
    afterExit: async () => undefined,
  });

  await sleep(1_500);
  const readAll = stdout;
  await task.kill();

  expect(readAll).toBe('');
  expect(await task.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
  expect((await task.exited).stderr_tail).toMatch(/^x{4096}$/);
});

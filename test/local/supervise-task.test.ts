import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { supervise } from '../../infra/local/fargate/task/supervise-task.ts';

it('a task that outlives its bubblewrap, killed before it could bind the two, ends with its lifeline', async () => {
  // What stays behind holds stderr, as a daemon does, and waits for the end of its lifeline.
  const child = spawn('sh', ['-c', 'cat <&3 >/dev/null & echo started >&2; wait'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const started = new Promise((resolve) => child.stderr?.once('data', resolve));
  const task = supervise(child, {
    report: undefined,
    lifeline: child.stdio[3],
    kill_group: false,
    afterExit: async () => undefined,
  });
  await started;

  await task.kill();

  expect(await task.exited).toMatchObject({ signal: 'SIGKILL', stderr_tail: 'started' });
});

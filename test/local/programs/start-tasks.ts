/** Starts sandboxes without an end, a few at a time, until it is killed. Argument: the name of their profile. */
import { client, openRuntime, profileOf, startTask } from '../../support/sandboxd-task.ts';

const AT_ONCE = 4;
const profile = profileOf({ name: process.argv[2] ?? 'none' });
const runtime = await openRuntime();
process.stdout.write('ready\n');
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (;;) {
      const task = await startTask(runtime, profile);
      await client.healthy(task.sandbox, 10_000);
      await task.process.kill();
    }
  }),
);

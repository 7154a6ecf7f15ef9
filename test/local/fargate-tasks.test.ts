import { connect } from 'node:net';
import { ListTasksCommand, StopTaskCommand, type Task } from '@aws-sdk/client-ecs';
import { afterEach, describe, expect, it } from 'vitest';
import { createFakeTaskRuntime, type FakeTaskRuntimeOptions } from '../support/fake-task-runtime.ts';
import { addressOf, type FargateFixture, runTaskInput, startFargate } from '../support/fargate-fixture.ts';

let fargate: FargateFixture;
afterEach(async () => {
  await fargate.close();
});

const stop = (task: Task, reason = 'test') =>
  fargate.ecs.send(new StopTaskCommand({ cluster: 'cognition', task: task.taskArn ?? '', reason }));

function connects(address: { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address.port, address.host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** A gate that opens by hand. */
function gate(): { wait: () => Promise<void>; open: () => void } {
  const opened = Promise.withResolvers<void>();
  return { wait: () => opened.promise, open: opened.resolve };
}

describe('a task of local Fargate', () => {
  it('is reachable at an address of its own on the production port, only while it is RUNNING', async () => {
    const slow = gate();
    fargate = await startFargate(createFakeTaskRuntime({ gate: slow.wait }), { describe_hold_ms: 0 });
    const started = await fargate.run();
    const pending = await fargate.describe(started.taskArn);
    slow.open();
    const running = await fargate.until(started.taskArn, 'RUNNING');
    const other = await fargate.until((await fargate.run()).taskArn, 'RUNNING');
    const whileRunning = await connects(addressOf(running));

    await stop(running);
    await fargate.until(running.taskArn, 'STOPPED');

    expect(pending).toMatchObject({ lastStatus: 'PENDING', attachments: [] });
    expect(addressOf(running)).toMatchObject({ host: expect.stringMatching(/^127\.88\./), port: 8477 });
    expect(addressOf(other).host).not.toBe(addressOf(running).host);
    expect(whileRunning).toBe(true);
    expect(await connects(addressOf(running))).toBe(false);
  });

  it('gets the ports of one host where addresses of its own cannot be', async () => {
    fargate = await startFargate(undefined, { advertise: { host: '127.0.0.1' } });

    const task = await fargate.until((await fargate.run()).taskArn, 'RUNNING');

    expect(addressOf(task).host).toBe('127.0.0.1');
    expect(await connects(addressOf(task))).toBe(true);
  });

  it('gives its daemon the three variables, with the profile of this server', async () => {
    fargate = await startFargate();
    const input = runTaskInput(undefined, { taskDefinition: 'cognition-sandbox-large:7' });

    await fargate.until((await fargate.run(input)).taskArn, 'RUNNING');

    const [task] = fargate.runtime.tasks;
    expect(task?.profile).toBe('large');
    expect(Object.keys(task?.env ?? {}).sort()).toEqual([
      'COGNITION_SANDBOX_ID',
      'COGNITION_SANDBOX_PROFILE',
      'COGNITION_SANDBOX_PUBLIC_KEY',
    ]);
    expect(JSON.parse(task?.env.COGNITION_SANDBOX_PROFILE ?? '')).toMatchObject({ name: 'large' });
  });

  it('is STOPPED with the reason when its daemon exits or it is stopped', async () => {
    fargate = await startFargate();
    const [exits, isStopped] = [await fargate.run(), await fargate.run()];
    for (const task of [exits, isStopped]) await fargate.until(task.taskArn, 'RUNNING');

    fargate.runtime.tasks[0]?.exit(7);
    await stop(isStopped, 'the run has ended');

    const exited = await fargate.until(exits.taskArn, 'STOPPED');
    expect(exited).toMatchObject({
      stopCode: 'EssentialContainerExited',
      stoppedReason: 'the sandbox daemon ended with code 7',
    });
    expect(exited.containers?.[0]?.exitCode).toBe(7);
    expect(await fargate.until(isStopped.taskArn, 'STOPPED')).toMatchObject({
      stopCode: 'UserInitiated',
      stoppedReason: 'the run has ended',
      desiredStatus: 'STOPPED',
    });
    expect(fargate.runtime.alive()).toBe(0);
  });

  it.each<[string, FakeTaskRuntimeOptions, string]>([
    ['cannot start', { failStart: () => new Error('no namespaces here') }, 'no namespaces here'],
    ['stays silent', { onHealth: () => 'silence' }, 'did not answer within 100 ms'],
    ['hangs up', { onHealth: () => 'hang up' }, 'ECONNRESET'],
    ['answers as another', { healthId: () => '01J00000000000000000000009' }, 'id of another sandbox'],
    [
      'dies of its first call',
      {
        onHealth: (task) => {
          setTimeout(() => task.exit(3), 20);
          return 'hang up';
        },
      },
      'ended with code 3',
    ],
  ])('is STOPPED, and says why, when its daemon %s', async (_, behaviour, reason) => {
    fargate = await startFargate(createFakeTaskRuntime(behaviour), { start_timeout_ms: 100 });

    const task = await fargate.until((await fargate.run()).taskArn, 'STOPPED');

    expect(task.stoppedReason).toContain(reason);
    expect(task.startedAt).toBeUndefined();
    expect(fargate.runtime.alive()).toBe(0);
  });

  it('is killed again when it could not be killed at once', async () => {
    fargate = await startFargate(createFakeTaskRuntime({ failKills: 1 }));
    const task = await fargate.until((await fargate.run()).taskArn, 'RUNNING');

    await stop(task);
    await fargate.until(task.taskArn, 'STOPPED');

    expect(fargate.runtime.alive()).toBe(0);
  });

  it('is killed also when it is stopped while it starts', async () => {
    const slow = gate();
    fargate = await startFargate(createFakeTaskRuntime({ gate: slow.wait }), { describe_hold_ms: 0 });
    const task = await fargate.run();

    await stop(task);
    slow.open();
    await fargate.until(task.taskArn, 'STOPPED');

    expect(fargate.runtime.kills()).toBe(1);
    expect(fargate.runtime.alive()).toBe(0);
  });

  it('is remembered for a bounded time and number after its end, then MISSING', async () => {
    fargate = await startFargate(undefined, { keep_stopped_tasks: 2 });
    const tasks: Task[] = [];
    for (let index = 0; index < 4; index += 1) {
      const task = await fargate.run();
      tasks.push(task);
      await fargate.until(task.taskArn, 'RUNNING');
      await stop(task);
      await fargate.until(task.taskArn, 'STOPPED');
    }

    const known = await Promise.all(tasks.map((task) => fargate.describe(task.taskArn)));

    expect(known.map((task) => task?.lastStatus)).toEqual([undefined, undefined, 'STOPPED', 'STOPPED']);
  });

  it('is MISSING after a restart of the server, which kills it', async () => {
    fargate = await startFargate();
    const task = await fargate.until((await fargate.run()).taskArn, 'RUNNING');
    const { runtime } = fargate;
    await fargate.close();

    fargate = await startFargate();

    expect(runtime.alive()).toBe(0);
    expect(await connects(addressOf(task))).toBe(false);
    expect(await fargate.describe(task.taskArn)).toBeUndefined();
  });
});

describe('the queue of local Fargate', () => {
  it('starts waiting tasks in the order of their arrival, as others end', async () => {
    fargate = await startFargate(undefined, { max_tasks: 1 });
    const tasks = [await fargate.run(), await fargate.run(), await fargate.run()];
    const [first, second, third] = tasks.map((task) => task.taskArn);
    await fargate.until(first, 'RUNNING');
    const waiting = await Promise.all([second, third].map((arn) => fargate.describe(arn)));

    await stop(tasks[0] ?? {});
    await fargate.until(second, 'RUNNING');

    expect(waiting.map((task) => task?.lastStatus)).toEqual(['PROVISIONING', 'PROVISIONING']);
    expect((await fargate.describe(third))?.lastStatus).toBe('PROVISIONING');
    expect(fargate.runtime.alive()).toBe(1);
  });

  it('lets go of a waiting task that is stopped, without ever starting it', async () => {
    fargate = await startFargate(undefined, { max_tasks: 1 });
    await fargate.until((await fargate.run()).taskArn, 'RUNNING');
    const waiting = await fargate.run();

    await stop(waiting, 'cancelled');

    expect(await fargate.describe(waiting.taskArn)).toMatchObject({
      lastStatus: 'STOPPED',
      stoppedReason: 'cancelled',
    });
    expect(fargate.runtime.tasks).toHaveLength(1);
  });

  it('answers with a capacity failure when it is full', async () => {
    fargate = await startFargate(undefined, { max_tasks: 1, max_queued: 0 });

    await expect(fargate.run()).rejects.toThrow('no task was started');
  });

  it('never has more tasks than allowed, and loses none of many', async () => {
    let most = 0;
    const runtime = createFakeTaskRuntime({
      gate: async () => {
        most = Math.max(most, runtime.alive() + 1);
      },
    });
    fargate = await startFargate(runtime, { max_tasks: 5, max_starting: 3 });
    const tasks = await Promise.all(Array.from({ length: 60 }, () => fargate.run()));

    await Promise.all(
      tasks.map(async (task) => {
        await fargate.until(task.taskArn, 'RUNNING');
        await stop(task);
        await fargate.until(task.taskArn, 'STOPPED');
      }),
    );

    expect(most).toBeLessThanOrEqual(5);
    expect(runtime.tasks).toHaveLength(60);
    expect(runtime.alive()).toBe(0);
    const { taskArns } = await fargate.ecs.send(new ListTasksCommand({ cluster: 'cognition' }));
    expect(taskArns).toEqual([]);
  });

  it('answers a question about a starting task when there is news, not before', async () => {
    const slow = gate();
    fargate = await startFargate(createFakeTaskRuntime({ gate: slow.wait }), { describe_hold_ms: 5_000 });
    const task = await fargate.run();

    const asked = fargate.describe(task.taskArn);
    slow.open();

    expect((await asked)?.lastStatus).toBe('RUNNING');
  });
});

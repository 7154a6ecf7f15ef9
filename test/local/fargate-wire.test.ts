import { createServer } from 'node:net';
import {
  ConflictException,
  DescribeTasksCommand,
  InvalidParameterException,
  ListTasksCommand,
  RunTaskCommand,
  type RunTaskCommandInput,
  StopTaskCommand,
} from '@aws-sdk/client-ecs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_ENV } from '../../shared/contracts/daemon.ts';
import { type FargateFixture, runTaskInput, startFargate } from '../support/fargate-fixture.ts';

let fargate: FargateFixture;
beforeAll(async () => {
  fargate = await startFargate(undefined, { max_tasks: 300 });
});
afterAll(async () => {
  await fargate.close();
});

const post = (
  target: string,
  body: string,
  headers: Record<string, string> = {},
  url: string | URL = fargate.endpoint,
) =>
  fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `AmazonEC2ContainerServiceV20141113.${target}`,
      ...headers,
    },
  });

const container = runTaskInput().overrides?.containerOverrides?.[0] ?? {};

describe('RunTask', () => {
  it.each<[string, Partial<RunTaskCommandInput>]>([
    ['a task role', { overrides: { containerOverrides: [container], taskRoleArn: 'arn:aws:iam::1:role/x' } }],
    [
      'an execution role',
      { overrides: { containerOverrides: [container], executionRoleArn: 'arn:aws:iam::1:role/x' } },
    ],
    ['a command', { overrides: { containerOverrides: [{ ...container, command: ['sh'] }] } }],
    [
      'files of environment',
      {
        overrides: { containerOverrides: [{ ...container, environmentFiles: [{ type: 's3', value: 'x' }] }] },
      },
    ],
    ['more memory', { overrides: { containerOverrides: [container], memory: '30720' } }],
    ['another container', { overrides: { containerOverrides: [{ ...container, name: 'sidecar' }] } }],
    [
      'a variable of the caller',
      {
        overrides: {
          containerOverrides: [{ ...container, environment: [{ name: 'NODE_OPTIONS', value: '--inspect' }] }],
        },
      },
    ],
    ['no sandbox id', { overrides: { containerOverrides: [{ ...container, environment: [] }] } }],
    [
      'a public address',
      { networkConfiguration: { awsvpcConfiguration: { subnets: ['a'], assignPublicIp: 'ENABLED' } } },
    ],
    ['a shell for operators', { enableExecuteCommand: true }],
    ['hosts to run on', { launchType: 'EC2' }],
    ['too many tasks', { count: 11 }],
  ])('refuses %s', async (_, more) => {
    const before = fargate.runtime.tasks.length;

    const run = fargate.ecs.send(new RunTaskCommand(runTaskInput(undefined, more)));

    await expect(run).rejects.toBeInstanceOf(InvalidParameterException);
    expect(fargate.runtime.tasks).toHaveLength(before);
  });

  it('refuses an image on the wire, where no SDK has dropped it', async () => {
    const input = runTaskInput(undefined, {
      overrides: { containerOverrides: [Object.assign({ image: 'evil' }, container)] },
    });

    const answer = await post('RunTask', JSON.stringify(input));

    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ __type: 'InvalidParameterException' });
  });

  it('refuses a profile that differs from the one of this server, and one it does not have', async () => {
    const environment = [
      ...(container.environment ?? []),
      { name: SANDBOX_ENV.profile, value: JSON.stringify({ name: 'standard', max_processes: 9_999 }) },
    ];
    const differs = runTaskInput(undefined, {
      overrides: { containerOverrides: [{ ...container, environment }] },
    });
    const unknown = runTaskInput(undefined, { taskDefinition: 'cognition-sandbox-gpu' });

    await expect(fargate.run(differs)).rejects.toThrow(/differs from the profile standard/);
    await expect(fargate.run(unknown)).rejects.toThrow(/cognition-sandbox-standard, cognition-sandbox-large/);
  });

  it('takes the same token as the same task, and another request under it as a conflict', async () => {
    const input = runTaskInput();
    const first = await fargate.run(input);
    const again = await fargate.run(input);

    const other = fargate.run({ ...input, tags: [{ key: 'a', value: 'b' }] });

    expect(again.taskArn).toBe(first.taskArn);
    await expect(other).rejects.toBeInstanceOf(ConflictException);
    await expect(other).rejects.toMatchObject({ resourceIds: [first.taskArn] });
  });

  it('starts as many tasks as asked and keeps tags and starter', async () => {
    const tags = [{ key: 'cognition:run_id', value: 'x' }];
    const input = runTaskInput(undefined, { count: 3, tags, startedBy: 'cognition' });

    const { tasks } = await fargate.ecs.send(new RunTaskCommand(input));

    expect(new Set(tasks?.map((task) => task.taskArn)).size).toBe(3);
    const described = await fargate.describe(tasks?.[2]?.taskArn);
    expect(described).toMatchObject({ tags, startedBy: 'cognition', launchType: 'FARGATE' });
    expect(described?.createdAt).toBeInstanceOf(Date);
  });
});

describe('the other calls', () => {
  it('ListTasks goes page by page through a family, and keeps clusters apart', async () => {
    const input = (cluster: string) =>
      runTaskInput(undefined, { cluster, taskDefinition: 'cognition-sandbox-large' });
    const started = await Promise.all(Array.from({ length: 25 }, () => fargate.run(input('paging'))));
    await fargate.run(input('other'));
    await fargate.run(runTaskInput(undefined, { cluster: 'paging' }));

    const seen: string[] = [];
    let nextToken: string | undefined;
    let pages = 0;
    do {
      const page = { cluster: 'paging', family: 'cognition-sandbox-large', maxResults: 10, nextToken };
      const answer = await fargate.ecs.send(new ListTasksCommand(page));
      seen.push(...(answer.taskArns ?? []));
      nextToken = answer.nextToken;
      pages += 1;
    } while (nextToken !== undefined);

    expect(pages).toBe(3);
    expect(seen.sort()).toEqual(started.map((task) => task.taskArn).sort());
  });

  it('a task of another cluster is MISSING, and cannot be stopped', async () => {
    const task = await fargate.run();
    const elsewhere = { cluster: 'other' };

    const described = await fargate.ecs.send(
      new DescribeTasksCommand({ ...elsewhere, tasks: [task.taskArn ?? ''] }),
    );
    const stopped = fargate.ecs.send(new StopTaskCommand({ ...elsewhere, task: task.taskArn }));

    expect(described.failures).toMatchObject([{ reason: 'MISSING' }]);
    await expect(stopped).rejects.toThrow('The referenced task was not found.');
  });

  it.each([
    ['broken JSON', 'ListTasks', '{', 'SerializationException'],
    ['JSON that is no object', 'ListTasks', '[]', 'InvalidParameterException'],
    ['an unknown field', 'ListTasks', '{"colour":"red"}', 'InvalidParameterException'],
    ['a foreign token', 'ListTasks', '{"nextToken":"x"}', 'InvalidParameterException'],
    ['no tasks', 'DescribeTasks', '{"tasks":[]}', 'InvalidParameterException'],
    [
      '101 tasks',
      'DescribeTasks',
      JSON.stringify({ tasks: Array(101).fill('a') }),
      'InvalidParameterException',
    ],
    ['a call it does not have', 'DeleteCluster', '{}', 'UnknownOperationException'],
    ['a property of every object as the call', 'constructor', '{}', 'UnknownOperationException'],
    ['300 KB', 'ListTasks', JSON.stringify({ cluster: 'x'.repeat(300_000) }), 'InvalidParameterException'],
  ])('%s is refused in the shape of ECS', async (_, target, body, type) => {
    const answer = await post(target, body);

    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ __type: type, message: expect.stringMatching(/./) });
  });

  it('a call out of a web page is refused', async () => {
    const answer = await post('ListTasks', '{}', { origin: 'https://example.com' });

    expect(await answer.json()).toMatchObject({ __type: 'AccessDeniedException' });
  });

  it.each(['/', '/x/..//', `/${'A'.repeat(32)}`, '/%2e/'])(
    'a call that does not know the whole endpoint is refused: %s',
    async (path) => {
      const { tasks } = await fargate.ecs.send(new RunTaskCommand(runTaskInput()));
      const asked = { cluster: 'cognition', task: tasks?.[0]?.taskArn };

      const stop = await post('StopTask', JSON.stringify(asked), {}, new URL(path, fargate.endpoint));
      const status = await fetch(new URL(path, fargate.endpoint));

      expect(await stop.json()).toMatchObject({ __type: 'AccessDeniedException' });
      expect(await status.json()).toMatchObject({ __type: 'AccessDeniedException' });
      expect(await fargate.describe(asked.task)).toMatchObject({ desiredStatus: 'RUNNING' });
    },
  );

  it('GET says what runs here', async () => {
    const status = await (await fetch(fargate.endpoint)).json();

    expect(status).toMatchObject({
      isolation: 'none',
      image_identities: { standard: 'fake:standard' },
      tasks: { queued: 0 },
    });
  });

  it('a port that is taken is an error that says so', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { createLocalFargate } = await import('../../infra/local/fargate/local-fargate.ts');
    const { systemTestClock, recordingLog } = await import('../support/sandbox-test-ports.ts');
    const second = createLocalFargate({
      runtime: fargate.runtime,
      profiles: [],
      max_tasks: 1,
      clock: systemTestClock(),
      log: recordingLog(),
    });

    await expect(second.start(port)).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
    await second.close();
    taken.close();
  });
});

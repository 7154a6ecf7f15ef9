import { createServer, type Server } from 'node:http';
import { ECSClient } from '@aws-sdk/client-ecs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEcsSandboxProvisioner } from '../../shared/adapters/aws/ecs-sandbox-provisioner.ts';
import { SANDBOX_ENV } from '../../shared/contracts/daemon.ts';
import { sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import type { SandboxProvisioner } from '../../shared/ports/sandbox-provisioner.ts';
import { testIds } from '../support/sandbox-test-ports.ts';

const profile = sandboxProfileSchema.parse({ name: 'standard' });
const sandbox_id = testIds().next();
const request = { sandbox_id, profile, public_key: 'cHVibGlj' };

/** What ECS would say next, and what it was asked. */
let answer: { status: number; body: unknown };
let asked: { target: string; body: Record<string, unknown> }[];
let server: Server;
let ecs: ECSClient;
let provisioner: SandboxProvisioner;

beforeEach(async () => {
  answer = { status: 200, body: {} };
  asked = [];
  server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const target = String(incoming.headers['x-amz-target']).split('.')[1] ?? '';
    asked.push({ target, body: JSON.parse(Buffer.concat(chunks).toString()) });
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  ecs = new ECSClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });
  provisioner = createEcsSandboxProvisioner({
    ecs,
    cluster: 'cognition',
    subnets: ['subnet-1', 'subnet-2'],
    securityGroups: ['sg-1'],
    taskDefinitions: {
      standard: 'arn:aws:ecs:us-east-1:123456789012:task-definition/cognition-sandbox-standard:7',
    },
    imageIdentities: { standard: 'sha256:1' },
    isolation: 'sandbox',
  });
});
afterEach(async () => {
  ecs.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const transient = { name: 'TransientError' };
const unavailable = { name: 'CognitionError', code: 'sandbox_unavailable' };
const error = (type: string, message = 'x', status = 400) => ({ status, body: { __type: type, message } });
const failures = (reason: string, detail?: string) => ({
  status: 200,
  body: { tasks: [], failures: [{ reason, detail }] },
});

describe('what ECS says of a failure', () => {
  const text = 'User: arn:aws:sts::123456789012:assumed-role/runs is not authorized';

  it.each<[string, typeof answer]>([
    ['a refusal', error('AccessDeniedException', text)],
    ['throttling', error('ThrottlingException', text)],
    ['a failure in its answer', failures('MISSING', text)],
    ['a lack of capacity', failures('RESOURCE:FARGATE', text)],
  ])('of %s is for the log and not for builders', async (_, said) => {
    answer = said;

    const thrown = await provisioner.launch(request).catch((failure: unknown) => failure);

    expect(thrown).toBeInstanceOf(Error);
    const { message, cause } = thrown as Error;
    expect(message).not.toContain('123456789012');
    expect(cause).toMatchObject({ message: text });
  });
});

describe('a launch that ECS does not carry out', () => {
  it.each<[string, typeof answer, object]>([
    ['throttling', error('ThrottlingException'), transient],
    ['a fault of ECS', error('ServerException', 'x', 500), transient],
    ['a gateway that is busy', { status: 503, body: {} }, transient],
    [
      'no capacity, as an error',
      error('ClientException', 'Capacity is unavailable at this time.'),
      transient,
    ],
    [
      'the limit of tasks at once',
      error('ClientException', "You've reached the limit on the number of tasks you can run concurrently"),
      transient,
    ],
    ['no memory, within a good answer', failures('RESOURCE:MEMORY'), transient],
    ['no capacity, within a good answer', failures('Capacity is unavailable at this time'), transient],
    ['an answer with nothing in it', { status: 200, body: {} }, transient],
    ['a refusal within a good answer', failures('MISSING', 'no such thing'), unavailable],
    ['a wrong parameter', error('InvalidParameterException'), unavailable],
    ['no permission', error('AccessDeniedException'), unavailable],
    ['no such cluster', error('ClusterNotFoundException'), unavailable],
    ['a token with other parameters', error('ConflictException'), unavailable],
  ])('%s', async (_, said, outcome) => {
    answer = said;

    await expect(provisioner.launch(request)).rejects.toMatchObject(outcome);
  });

  it('an ECS that cannot be reached is transient', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));

    await expect(provisioner.launch(request)).rejects.toMatchObject(transient);
    server.listen(0, '127.0.0.1');
  });
});

describe('what ECS is asked', () => {
  it('a launch names the sandbox, its run, its network, and overrides three variables only', async () => {
    answer = {
      status: 200,
      body: { tasks: [{ taskArn: 'arn:task/1', lastStatus: 'PROVISIONING', desiredStatus: 'RUNNING' }] },
    };
    const run = { fingerprint: 'a'.repeat(52), run_id: sandbox_id };

    const task = await provisioner.launch({ ...request, run });

    expect(task).toMatchObject({ task_id: 'arn:task/1', status: 'starting', address: undefined });
    expect(asked[0]?.body).toEqual({
      cluster: 'cognition',
      taskDefinition: 'arn:aws:ecs:us-east-1:123456789012:task-definition/cognition-sandbox-standard:7',
      count: 1,
      launchType: 'FARGATE',
      clientToken: sandbox_id,
      startedBy: 'cognition',
      enableExecuteCommand: false,
      networkConfiguration: {
        awsvpcConfiguration: {
          subnets: ['subnet-1', 'subnet-2'],
          securityGroups: ['sg-1'],
          assignPublicIp: 'DISABLED',
        },
      },
      overrides: {
        containerOverrides: [
          {
            name: 'sandboxd',
            environment: [
              { name: SANDBOX_ENV.sandboxId, value: sandbox_id },
              { name: SANDBOX_ENV.publicKey, value: request.public_key },
              { name: SANDBOX_ENV.profile, value: JSON.stringify(profile) },
            ],
          },
        ],
      },
      tags: [
        { key: 'cognition:sandbox_id', value: sandbox_id },
        { key: 'cognition:fingerprint', value: run.fingerprint },
        { key: 'cognition:run_id', value: run.run_id },
      ],
    });
  });

  it('a list asks for the family of a task definition, not for one revision of it', async () => {
    answer = { status: 200, body: { taskArns: [] } };

    await provisioner.list();

    expect(asked).toMatchObject([
      { target: 'ListTasks', body: { family: 'cognition-sandbox-standard', desiredStatus: 'RUNNING' } },
    ]);
  });
});

describe('what ECS says of a task', () => {
  const described = async (task: Record<string, unknown>) => {
    answer = { status: 200, body: { tasks: [{ taskArn: 'arn:task/1', ...task }] } };
    const [read] = await provisioner.describe(['arn:task/1']);
    return read;
  };
  const attachments = [
    { type: 'ElasticNetworkInterface', details: [{ name: 'privateIPv4Address', value: '10.0.3.7' }] },
  ];

  it('on Fargate: its private address and the port of the daemon', async () => {
    const task = await described({ lastStatus: 'RUNNING', desiredStatus: 'RUNNING', attachments });

    expect(task).toMatchObject({ status: 'running', address: { host: '10.0.3.7', port: 8477 } });
  });

  it.each([
    ['PROVISIONING', 'RUNNING', 'starting'],
    ['PENDING', 'RUNNING', 'starting'],
    ['ACTIVATING', 'RUNNING', 'starting'],
    ['RUNNING', 'STOPPED', 'stopped'],
    ['DEACTIVATING', 'STOPPED', 'stopped'],
    ['DEPROVISIONING', 'STOPPED', 'stopped'],
    ['STOPPED', 'STOPPED', 'stopped'],
  ])('%s on its way to %s is %s', async (lastStatus, desiredStatus, status) => {
    expect(await described({ lastStatus, desiredStatus })).toMatchObject({ status });
  });

  it('a failure that is not about a missing task is transient, and no task is taken for missing', async () => {
    answer = { status: 200, body: { tasks: [], failures: [{ arn: 'arn:task/1', reason: 'INTERNAL' }] } };

    await expect(provisioner.describe(['arn:task/1'])).rejects.toMatchObject(transient);
  });

  it('throttling is transient for describe, stop and list', async () => {
    answer = error('ThrottlingException');

    await expect(provisioner.describe(['arn:task/1'])).rejects.toMatchObject(transient);
    await expect(provisioner.stop('arn:task/1', 'x')).rejects.toMatchObject(transient);
    await expect(provisioner.list()).rejects.toMatchObject(transient);
  });
});

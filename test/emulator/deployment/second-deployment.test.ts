/**
 * The life of a deployment beside another one in the same account: it fails half-way, is repeated, is found unchanged,
 * serves with packages in the table, and is destroyed with its data left.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { apiUrl } from '../../../infra/local/emulator/api-url.ts';
import { cdkFor, DEPLOY, type Outputs } from '../../../infra/local/emulator/deploy.ts';
import { emulatorSettings } from '../../../infra/local/emulator/emulator-settings.ts';
import {
  type LocalFargateProcess,
  startLocalFargate,
} from '../../../infra/local/emulator/start-local-fargate.ts';
import { KEYS } from '../../../shared/domain/row-keys.ts';
import { scopeFingerprint } from '../../../shared/domain/scope.ts';
import type { Api } from '../../support/api.ts';
import { expectProblem } from '../../support/expect-problem.ts';
import { scopeWithAgent, scopeWithSkill, scriptRun, shellRun } from '../../support/run-scope.ts';
import { skillFiles } from '../../support/skill-files.ts';
import { type Deployed, deployed } from '../support/deployed.ts';
import { deployedFunctions } from '../support/deployed-functions.ts';

const facts = inject('deployment');
const first = deployed();
const DEPLOYMENT = 'second';
const folder = join(facts.folder, DEPLOYMENT);
const cdk = cdkFor({ ...facts.emulator, credentials: facts.credentials }, facts.account, folder);
let fargate: LocalFargateProcess;
let settings: Record<string, string>;
let found: Deployed | undefined;
const second = (): Deployed => {
  if (found === undefined) throw new Error('the second deployment is not there');
  return found;
};
const functions = deployedFunctions(first.aws, DEPLOYMENT);

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  // One task at a time: a second run finds no place.
  fargate = await startLocalFargate({
    settings: { COGNITION_MAX_TASKS: '1', COGNITION_SANDBOX_POOL_SIZE: '0' },
  });
  settings = {
    ...emulatorSettings({ ...facts, region: facts.emulator.region, fargate, folder }),
    COGNITION_DEPLOYMENT: DEPLOYMENT,
    COGNITION_SKILLS_BACKEND: 'config_registry',
  };
});
afterAll(async () => {
  await fargate.stop();
});

async function look(outputs: Outputs): Promise<Deployed> {
  const variables = { ...(await functions.environment('runs')), ...(await functions.environment('skills')) };
  return deployed({
    ...facts,
    deployment: DEPLOYMENT,
    api: apiUrl(facts.emulator.endpoint, outputs),
    local_fargate: fargate,
    table: variables.COGNITION_TABLE ?? '',
    artifacts_bucket: variables.COGNITION_ARTIFACTS_BUCKET ?? '',
    state_machine_arn: variables.COGNITION_STATE_MACHINE_ARN ?? '',
    cluster: variables.COGNITION_CLUSTER ?? '',
  });
}

describe('cdk deploy', () => {
  it('that is killed half-way can be repeated', async () => {
    await cdk.deployUntil(`${DEPLOYMENT}-network |`, settings);
    await expect(functions.environment('skills')).rejects.toThrow(/404/);

    const outputs = await cdk.deploy(settings);

    found = await look(outputs);
    expect((await second().api().get('/skills')).status).toBe(200);
  });

  it('of what is deployed already finds nothing to do, and cdk diff no difference', async () => {
    const diff = await cdk.run(['diff', '--all'], settings);
    const deploy = await cdk.run(DEPLOY, settings);

    expect(diff).toContain('Number of stacks with differences: 0');
    const done = deploy.split('\n').filter((line) => line.includes('✅'));
    expect(done.length).toBeGreaterThanOrEqual(5);
    expect(done.filter((line) => !line.includes('(no changes)'))).toEqual([]);
  });
});

describe('with packages in the table', () => {
  it('a package over the size of an item comes back byte for byte, and runs', async () => {
    const text = randomBytes(600_000).toString('hex');
    const files = { 'scripts/x.sh': 'wc -c < /skills/t1/data.txt', 'data.txt': text };

    const api = await scopeWithSkill(files, second().api());
    const read = await api.get('/skills/t1/files?path=data.txt');
    const ended = await api.run(scriptRun('scripts/x.sh'));

    expect(read.bytes.toString()).toBe(text);
    expect(ended.json).toMatchObject({ status: 'succeeded', stdout: `${text.length}\n` });
    const manifest = (await api.get(`/runs/${ended.json.run_id}/manifest`)).json;
    expect(manifest.manifest).toMatchObject({ package_backend: 'config_registry' });
  });

  it('a package over the limit of the backend is refused, and stores nothing', async () => {
    const api = second().api();
    const files = skillFiles('t1', { 'data.txt': 'x'.repeat(4 * 1024 * 1024 - 20_000) });
    const fits = await api.put('/skills/t1', { files });
    const tooLarge = await api.put('/skills/t2', {
      files: { ...files, 'more.txt': 'y'.repeat(15_000) },
    });

    expect([fits.status, tooLarge.status >= 400]).toEqual([201, true]);
    expect((await api.get('/skills')).json.items.map(({ name }: { name: string }) => name)).toEqual(['t1']);
  });

  it('sees nothing of the other deployment', async () => {
    const api = await scopeWithSkill({}, first.api());

    const answer = await second().api(api.scope).get('/skills/t1');

    expectProblem(answer, 404, 'not_found');
  });
});

/** As if it had been requested that much earlier. */
async function age(api: Api, runId: string, seconds: number): Promise<void> {
  const key = KEYS.sandbox(scopeFingerprint(api.scope), runId);
  const Key = { pk: { S: key.pk }, sk: { S: key.sk } };
  const TableName = second().facts.table;
  const { Item } = await second().dynamo.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  const data = JSON.parse(Item?.d?.S ?? '');
  const requested_at = new Date(Date.parse(data.requested_at) - seconds * 1_000).toISOString();
  const aged = { ...Item, d: { S: JSON.stringify({ ...data, requested_at }) } };
  await second().dynamo.send(new PutItemCommand({ TableName, Item: aged }));
}

describe('a run whose task never starts', () => {
  it('ends as sandbox_unavailable when its deadline has passed, and its task does not start later', async () => {
    const api = await scopeWithAgent(second().api());
    const hog = (await api.post('/runs', shellRun('sleep 120'))).json.run_id;
    await api.event(hog, 'command.started', 60);
    const stuck = (await api.post('/runs', shellRun('echo never'))).json.run_id;
    await api.event(stuck, 'sandbox.requested', 30);
    await expect.poll(async () => (await second().taskOf(stuck))?.lastStatus).toBe('PROVISIONING');

    await age(api, stuck, 175);

    const ended = await api.finished(stuck, 60);
    expect(ended.json).toMatchObject({
      status: 'failed',
      failure: { code: 'sandbox_unavailable', stage: 'launch' },
      exit_code: null,
    });
    await expect.poll(() => second().taskOf(stuck), { timeout: 20_000 }).toBeUndefined();
    await api.post(`/runs/${hog}/cancel`, {});
    await api.event(hog, 'sandbox.stopped', 30);
    expect(await second().liveTasks()).toEqual([]);
  });
});

describe('cdk destroy', () => {
  it('keeps the table and the buckets with what is in them', async () => {
    const rows = await second().rows();
    expect(rows.length).toBeGreaterThan(0);

    await cdk.run(['destroy', '--all', '--force'], settings);

    expect(await second().rows()).toHaveLength(rows.length);
    expect(await second().objects(second().facts.artifacts_bucket)).toBeInstanceOf(Array);
    await expect(functions.environment('skills')).rejects.toThrow(/404/);
    expect((await first.api().get('/skills')).status).toBe(200);
  });
});

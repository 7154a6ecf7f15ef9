/**
 * Where functions do not share this machine's loopback, as in containers, local Fargate gives each task a port of an
 * address that they can reach.
 */
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type LocalFargateProcess,
  startLocalFargate,
} from '../../../infra/local/emulator/start-local-fargate.ts';
import { SANDBOX_PORT } from '../../../shared/contracts/daemon.ts';
import { sandboxRowSchema } from '../../../shared/contracts/rows.ts';
import { KEYS } from '../../../shared/domain/row-keys.ts';
import { scopeFingerprint } from '../../../shared/domain/scope.ts';
import { scopeWithAgent, shellRun } from '../../support/run-scope.ts';
import { deployed } from '../support/deployed.ts';
import type { Variables } from '../support/deployed-functions.ts';
import { type Elsewhere, openElsewhere } from '../support/elsewhere.ts';

const cognition = deployed();
const { functions } = cognition;
const ownAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

let elsewhere: Elsewhere | undefined;
let address: string;
let fargate: LocalFargateProcess;
const before = new Map<string, Variables>();

beforeAll(async () => {
  elsewhere = openElsewhere();
  address = elsewhere?.host ?? ownAddress ?? '127.0.0.1';
  fargate = await startLocalFargate({
    args: ['--host', address, '--advertise', address],
    settings: { COGNITION_SANDBOX_POOL_SIZE: '0' },
  });
  for (const name of await functions.names()) {
    const variables = await functions.environment(name);
    before.set(name, variables);
    await functions.setEnvironment(name, { ...variables, AWS_ENDPOINT_URL_ECS: fargate.endpoint });
  }
});
afterAll(async () => {
  for (const [name, variables] of before) await functions.setEnvironment(name, variables);
  await fargate.stop();
  elsewhere?.close();
});

describe('local Fargate that advertises an address', () => {
  it('runs in tasks of that address, with a port for each', async () => {
    const api = await scopeWithAgent(cognition.api());
    const started = await api.post('/runs', shellRun('sleep 2; echo reached'));
    await api.event(started.json.run_id, 'command.started', 60);

    const key = KEYS.sandbox(scopeFingerprint(api.scope), started.json.run_id);
    const { host, port } = sandboxRowSchema.parse((await cognition.table.get(key))?.data);
    const script = `fetch('http://${host}:${port}/v1/health').then((answer) => console.log(answer.status))`;
    const fromElsewhere = elsewhere?.run(process.execPath, '-e', script);

    expect(host).toBe(address);
    expect(port).not.toBe(SANDBOX_PORT);
    if (elsewhere !== undefined) expect(fromElsewhere).toBe('200\n');
    expect((await api.finished(started.json.run_id)).json).toMatchObject({
      status: 'succeeded',
      stdout: 'reached\n',
    });
  });
});

/** From nothing to a deployment with local Fargate and the proxy, and what tests are to know of it. */
import { join } from 'node:path';
import { apiUrl } from '../../../infra/local/emulator/api-url.ts';
import { cdkFor } from '../../../infra/local/emulator/deploy.ts';
import { callerAccount, emulatorApi } from '../../../infra/local/emulator/emulator-api.ts';
import type { EmulatorSession } from '../../../infra/local/emulator/emulator-session.ts';
import { emulatorSettings } from '../../../infra/local/emulator/emulator-settings.ts';
import { startEmulator } from '../../../infra/local/emulator/start-emulator.ts';
import { startLocalFargate } from '../../../infra/local/emulator/start-local-fargate.ts';
import { createTestRole, probeCapabilities, ROLE_SCOPE, type TestRole } from './capabilities.ts';
import { deployedBundles } from './deployed-bundles.ts';
import { deployedFunctions } from './deployed-functions.ts';
import type { DeploymentFacts } from './deployment-facts.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { sendThroughProxy } from './through-proxy.ts';

const DEPLOYMENT = 'cognition';
/** So that no run of the suite waits for another's end. */
const ENOUGH_TASKS = { COGNITION_MAX_TASKS: '64', COGNITION_SANDBOX_POOL_SIZE: '0' } as const;

export async function deployForTests({
  folder,
  signal,
  onStarted,
}: EmulatorSession): Promise<DeploymentFacts> {
  const timings: Record<string, number> = {};
  const timed = async <T>(name: string, act: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await act();
    timings[`${name}_ms`] = Math.round(performance.now() - began);
    return result;
  };
  const emulator = await timed('emulator', () => startEmulator(process.env, join(folder, 'emulator')));
  onStarted(emulator.stop);
  const fargate = await timed('local_fargate', () => startLocalFargate({ settings: ENOUGH_TASKS }));
  onStarted(fargate.stop);
  const api = emulatorApi(emulator);
  const account = await callerAccount(api);
  const role = await createTestRole(api, account);
  const settings = emulatorSettings({
    account,
    region: emulator.region,
    fargate,
    folder,
    bindings: bindingsOf(account, role),
  });
  const cdk = cdkFor(emulator, account, join(folder, 'cdk'), signal);
  await timed('bootstrap', () => cdk.bootstrap());
  const outputs = await timed('deploy', () => cdk.deploy(settings));
  const proxy = await startFaultProxy({
    upstream: (service) => (service === 'ecs' ? fargate.endpoint : emulator.endpoint),
  });
  onStarted(proxy.close);
  const functions = deployedFunctions(api, DEPLOYMENT);
  const variables = { ...(await functions.environment('runs')), ...(await functions.environment('skills')) };
  await sendThroughProxy(functions, proxy);
  const target = { endpoint: apiUrl(emulator.endpoint, outputs), region: emulator.region };
  return {
    emulator: { endpoint: emulator.endpoint, region: emulator.region },
    credentials: emulator.credentials,
    account,
    deployment: DEPLOYMENT,
    api: target.endpoint,
    local_fargate: { endpoint: fargate.endpoint, image_identities: fargate.image_identities },
    proxy: proxy.control,
    table: variables.COGNITION_TABLE ?? '',
    artifacts_bucket: variables.COGNITION_ARTIFACTS_BUCKET ?? '',
    packages_bucket: variables.COGNITION_SKILLS_S3_BUCKET ?? '',
    state_machine_arn: variables.COGNITION_STATE_MACHINE_ARN ?? '',
    cluster: variables.COGNITION_CLUSTER ?? '',
    bundles: deployedBundles(join(folder, 'cdk/cdk.out'), DEPLOYMENT),
    settings,
    folder,
    role,
    capabilities: await timed('probes', () => probeCapabilities(api, functions, role, target)),
    timings,
  };
}

const bindingsOf = (account: string, role: TestRole | undefined) =>
  role === undefined ? [] : [{ account_id: account, role_id: role.unique_id, scopes: [ROLE_SCOPE] }];

/** Puts the proxy between every function and the services that it calls. */
import type { DeployedFunctions } from './deployed-functions.ts';
import type { FaultProxy } from './fault-proxy.ts';

/** As the AWS SDK names the endpoint of a service in an environment. */
const ENDPOINTS = [
  'AWS_ENDPOINT_URL_DYNAMODB',
  'AWS_ENDPOINT_URL_S3',
  'AWS_ENDPOINT_URL_SFN',
  'AWS_ENDPOINT_URL_ECS',
] as const;

export async function sendThroughProxy(functions: DeployedFunctions, proxy: FaultProxy): Promise<void> {
  for (const name of await functions.names()) {
    const endpoint = await proxy.endpointOf(name);
    await functions.setEnvironment(name, {
      ...(await functions.environment(name)),
      ...Object.fromEntries(ENDPOINTS.map((variable) => [variable, endpoint])),
    });
  }
}

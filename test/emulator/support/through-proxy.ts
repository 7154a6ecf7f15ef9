/** Puts the proxy between every function and the services that it calls. */
import { FUNCTIONS } from '../../../infra/functions/function-table.ts';
import type { DeployedFunctions } from './deployed-functions.ts';
import type { Service } from './fault-rules.ts';

/** As the AWS SDK names the endpoint of each service in an environment. */
const ENDPOINTS: Readonly<Record<Service, string>> = {
  dynamodb: 'AWS_ENDPOINT_URL_DYNAMODB',
  s3: 'AWS_ENDPOINT_URL_S3',
  states: 'AWS_ENDPOINT_URL_SFN',
  ecs: 'AWS_ENDPOINT_URL_ECS',
};

export async function sendThroughProxy(functions: DeployedFunctions, proxy: string): Promise<void> {
  for (const { name } of FUNCTIONS) {
    const endpoints = Object.entries(ENDPOINTS).map(([service, variable]) => [
      variable,
      `${proxy}/${name}/${service}`,
    ]);
    await functions.setEnvironment(name, {
      ...(await functions.environment(name)),
      ...Object.fromEntries(endpoints),
    });
  }
}

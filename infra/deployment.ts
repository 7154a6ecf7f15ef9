import type { App } from 'aws-cdk-lib';
import type { DeploymentSettings } from '../shared/contracts/deployment-settings.ts';
import type { FunctionContext } from './constructs/functions/cognition-function.ts';
import { ApiStack } from './stacks/api-stack.ts';
import { NetworkStack } from './stacks/network-stack.ts';
import { ObservabilityStack } from './stacks/observability-stack.ts';
import { RunsStack } from './stacks/runs-stack.ts';
import { SandboxStack } from './stacks/sandbox-stack.ts';
import { StorageStack } from './stacks/storage-stack.ts';

export interface DeploymentStacks {
  readonly storage: StorageStack;
  readonly network: NetworkStack;
  readonly sandbox: SandboxStack;
  readonly runs: RunsStack;
  readonly api: ApiStack;
  readonly observability: ObservabilityStack;
  /** What the stacks with functions are given. */
  readonly context: FunctionContext;
}

/**
 * All stacks of a deployment, `<deployment>-storage` and so on.
 * @param bundles folder of each function's code, by the function's name.
 * @param imageContext folder that the image of sandboxes is built in; required where the settings name no image.
 */
export function createDeployment(
  app: App,
  settings: DeploymentSettings,
  bundles: ReadonlyMap<string, string>,
  imageContext?: string,
): DeploymentStacks {
  const named = (name: string): string => `${settings.deployment}-${name}`;
  const storage = new StorageStack(app, named('storage'), { settings });
  const sandbox = new SandboxStack(app, named('sandbox'), { settings, storage, imageContext });
  const network = new NetworkStack(app, named('network'), { settings, storage, sandbox });
  const context: FunctionContext = { settings, bundles, storage, network, sandbox };
  const runs = new RunsStack(app, named('runs'), { context });
  const observability = new ObservabilityStack(app, named('observability'), { context, runs });
  const api = new ApiStack(app, named('api'), { context, runs });
  // Nobody gets in before there is somebody to tell; and what the API prints is what an operator reads last.
  api.addStackDependency(observability);
  return { storage, network, sandbox, runs, api, observability, context };
}

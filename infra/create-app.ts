import { App, type AppProps } from 'aws-cdk-lib';
import recommended from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import type { DeploymentSettings } from '../shared/contracts/deployment-settings.ts';

const CROSS_STACK_REFERENCES = '@aws-cdk/core:defaultCrossStackReferences';

/**
 * The app that the stacks of a deployment are made in, by the command and by tests alike: with the feature flags that
 * this version of the CDK recommends.
 *
 * On AWS a stack reads what another one gives at deployment (weak), so a task definition can be replaced while
 * functions name it. Emulators know exports only.
 */
export function createApp(settings: Pick<DeploymentSettings, 'emulator'>, props: AppProps = {}): App {
  const references = settings.emulator === undefined ? 'weak' : 'strong';
  return new App({
    // One resource less in each template, and nothing is told to anybody.
    analyticsReporting: false,
    ...props,
    context: { ...recommended, [CROSS_STACK_REFERENCES]: references, ...props.context },
  });
}

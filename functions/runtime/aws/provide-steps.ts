import type { RunSteps } from '../../../shared/services/run-steps.ts';
import { provideServices } from '../services.ts';
import type { FunctionPorts } from './function-ports.ts';
import { servicesOf } from './services-of.ts';

const absent = async (): Promise<never> => {
  throw new Error('this function was deployed for another state of the machine');
};
const ABSENT_STEPS: RunSteps = {
  pinManifest: absent,
  launchSandbox: absent,
  awaitSandbox: absent,
  materialize: absent,
  execute: absent,
  collectArtifacts: absent,
  finish: absent,
  recordFailure: absent,
  teardown: absent,
};

/** The machine calls, so no caller is asked for. */
export function provideSteps(ports: FunctionPorts, steps: Partial<RunSteps>): void {
  provideServices(servicesOf({ ...ports, bindings: [], steps: { ...ABSENT_STEPS, ...steps } }));
}

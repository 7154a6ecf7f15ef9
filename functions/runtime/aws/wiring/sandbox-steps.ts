import { createSandboxSteps } from '../../../../shared/services/steps/sandbox-steps.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { provideSteps } from '../provide-steps.ts';
import { deployedCore } from './deployed-core.ts';

export const wiring = (ports: FunctionPorts): void =>
  provideSteps(ports, createSandboxSteps(deployedCore(ports)));

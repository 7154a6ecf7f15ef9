import { createEndingSteps } from '../../../../shared/services/steps/ending-steps.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { provideSteps } from '../provide-steps.ts';
import { deployedCore } from './deployed-core.ts';

export const wiring = (ports: FunctionPorts): void =>
  provideSteps(ports, createEndingSteps(deployedCore(ports)));

import { provideServices } from '../../services.ts';
import { readBindings } from '../deployed-files.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { servicesOf } from '../services-of.ts';
import { deployedBoundary } from './deployed-boundary.ts';

export function wiring(ports: FunctionPorts): void {
  const { runs } = deployedBoundary(ports);
  provideServices(servicesOf({ ...ports, bindings: readBindings(), runs }));
}

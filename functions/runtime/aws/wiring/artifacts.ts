import { createInputArtifacts } from '../../../../shared/services/input-artifacts.ts';
import { provideServices } from '../../services.ts';
import { readBindings } from '../deployed-files.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { servicesOf } from '../services-of.ts';

export function wiring(ports: FunctionPorts): void {
  provideServices(servicesOf({ ...ports, bindings: readBindings(), inputs: createInputArtifacts(ports) }));
}

import { createPackageReader } from '../../../../shared/services/package-reader.ts';
import { createSkillRegistry } from '../../../../shared/services/skill-registry.ts';
import { provideServices } from '../../services.ts';
import { readBindings } from '../deployed-files.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { servicesOf } from '../services-of.ts';

export function wiring(ports: FunctionPorts): void {
  const reader = createPackageReader(ports);
  provideServices(
    servicesOf({ ...ports, bindings: readBindings(), skills: createSkillRegistry({ ...ports, reader }) }),
  );
}

import { createPackageCollector } from '../../../../shared/services/package-collector.ts';
import { createObjectRecords } from '../../../../shared/services/records/object-records.ts';
import { createResumedCollector } from '../../../../shared/services/resumed-collector.ts';
import { provideMaintenanceServices } from '../../maintenance-services.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { maintenanceServicesOf } from '../maintenance-services-of.ts';

export function wiring(ports: FunctionPorts): void {
  const { table } = ports;
  const collector = createPackageCollector({ ...ports, objects: createObjectRecords(table) });
  provideMaintenanceServices(
    maintenanceServicesOf({ ...ports, collector: createResumedCollector({ table, collector }) }),
  );
}

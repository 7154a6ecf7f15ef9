/** What a function was not given says so when it is used: a row of the function table then lacks something. */
import { LIMITS } from '../../../shared/contracts/limits.ts';
import type { ObjectStore } from '../../../shared/ports/object-store.ts';
import type { RunOrchestrator } from '../../../shared/ports/run-orchestrator.ts';
import type { SandboxClient } from '../../../shared/ports/sandbox-client.ts';
import type { SandboxProvisioner } from '../../../shared/ports/sandbox-provisioner.ts';
import type { SkillPackageStore } from '../../../shared/ports/skill-package-store.ts';
import type { TableStore } from '../../../shared/ports/table-store.ts';

const absent = (what: string) => async (): Promise<never> => {
  throw new Error(`this function was deployed without ${what}`);
};

const noTable = absent('the table');
export const absentTable: TableStore = { get: noTable, query: noTable, transact: noTable };

const noObjects = absent('artifacts');
export const absentObjects: ObjectStore = {
  put: noObjects,
  replace: noObjects,
  get: noObjects,
  head: noObjects,
  delete: noObjects,
  list: noObjects,
  downloadUrl: noObjects,
};

const noPackages = absent('packages');
/** Its name and limit are known all the same: packages are judged where none are kept. */
export const absentPackages = (backend: 'config_registry' | 's3'): SkillPackageStore => ({
  backend,
  max_bytes: backend === 's3' ? LIMITS.packageBytes : LIMITS.configRegistryPackageBytes,
  put: noPackages,
  fetch: noPackages,
  exists: noPackages,
  delete: noPackages,
  downloadUrl: noPackages,
});

const noTasks = absent('sandbox tasks');
export const absentProvisioner: SandboxProvisioner = {
  isolation: 'sandbox',
  imageIdentity: noTasks,
  launch: noTasks,
  describe: noTasks,
  stop: noTasks,
  list: noTasks,
};

const noClient = absent('a way to sandboxes');
export const absentClient: SandboxClient = {
  bind: noClient,
  putPackage: noClient,
  putInput: noClient,
  seal: noClient,
  exec: noClient,
  execStatus: noClient,
  listOutputs: noClient,
  getOutput: noClient,
  healthy: noClient,
};

export const absentOrchestrator: RunOrchestrator = { start: absent('the run machine') };

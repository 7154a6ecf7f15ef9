import type { Principal } from '../../../shared/contracts/http-event.ts';
import type { ObjectStore } from '../../../shared/ports/object-store.ts';
import type { RunOrchestrator } from '../../../shared/ports/run-orchestrator.ts';
import type { SandboxClient } from '../../../shared/ports/sandbox-client.ts';
import type { SandboxProvisioner } from '../../../shared/ports/sandbox-provisioner.ts';
import type { SkillPackageStore } from '../../../shared/ports/skill-package-store.ts';
import type { TableStore } from '../../../shared/ports/table-store.ts';
import {
  absentClient,
  absentObjects,
  absentOrchestrator,
  absentPackages,
  absentProvisioner,
  absentTable,
} from './absent-ports.ts';
import type { FunctionBase, FunctionPart } from './function-part.ts';
import type { Environment } from './read-variables.ts';

/** What a function is made of. The entry that the bundler writes names the parts, so a bundle has the code of no other. */
export interface FunctionParts {
  readonly table?: FunctionPart<TableStore>;
  readonly objects?: FunctionPart<ObjectStore>;
  /** Some keep packages in the table. */
  readonly packages?: FunctionPart<(table: TableStore) => SkillPackageStore>;
  readonly provisioner?: FunctionPart<SandboxProvisioner>;
  readonly client?: FunctionPart<SandboxClient>;
  readonly orchestrator?: FunctionPart<RunOrchestrator>;
  readonly runsAtOnce?: FunctionPart<number>;
  readonly poolSize?: FunctionPart<number>;
  readonly caller?: FunctionPart<Principal | undefined>;
}

/** What services are built on. A port without a part refuses every call. */
export interface FunctionPorts extends FunctionBase {
  readonly table: TableStore;
  readonly objects: ObjectStore;
  readonly packages: SkillPackageStore;
  readonly provisioner: SandboxProvisioner;
  readonly client: SandboxClient;
  readonly orchestrator: RunOrchestrator;
  /** 0 in a function that creates no runs. */
  readonly runsAtOnce: number;
  /** 0 in a function that keeps no pool. */
  readonly poolSize: number;
  /** Who calls where API Gateway does not say: in a development deployment alone. */
  readonly caller: Principal | undefined;
}

/** Reads each part's variables, and tells `problems` what is wrong with them before anything is made. */
export function readPorts(
  parts: FunctionParts,
  environment: Environment,
  problems: string[],
): (base: FunctionBase) => FunctionPorts {
  const read = <T>(part: FunctionPart<T> | undefined, absent: (base: FunctionBase) => T) => {
    const reading = part?.read(environment);
    if (reading?.ok === false) problems.push(...reading.problems);
    return reading?.ok === true ? reading.values : absent;
  };
  const table = read(parts.table, () => absentTable);
  const objects = read(parts.objects, () => absentObjects);
  const packages = read(
    parts.packages,
    ({ backend }) =>
      () =>
        absentPackages(backend),
  );
  const provisioner = read(parts.provisioner, () => absentProvisioner);
  const client = read(parts.client, () => absentClient);
  const orchestrator = read(parts.orchestrator, () => absentOrchestrator);
  const runsAtOnce = read(parts.runsAtOnce, () => 0);
  const poolSize = read(parts.poolSize, () => 0);
  const caller = read<Principal | undefined>(parts.caller, () => undefined);
  return (base) => {
    const store = table(base);
    return {
      ...base,
      table: store,
      objects: objects(base),
      packages: packages(base)(store),
      provisioner: provisioner(base),
      client: client(base),
      orchestrator: orchestrator(base),
      runsAtOnce: runsAtOnce(base),
      poolSize: poolSize(base),
      caller: caller(base),
    };
  };
}

/** The entry module of a function, written from its row of the table: its parts, their wiring and its handler. */
import { environmentGroups } from '../../shared/contracts/function-environment.ts';
import type { FunctionSpec } from './function-table.ts';

/** In functions/runtime/aws/wiring; functions that are not here look after runs. */
const WIRINGS: Readonly<Record<string, string>> = {
  skills: 'skills',
  'skill-validations': 'skills',
  agents: 'agents',
  artifacts: 'artifacts',
  runs: 'runs',
  'pin-manifest': 'pinning-step',
  'launch-sandbox': 'sandbox-steps',
  'await-sandbox': 'sandbox-steps',
  materialize: 'materializing-step',
  execute: 'sandbox-steps',
  'collect-artifacts': 'collecting-step',
  finish: 'ending-steps',
  'record-failure': 'ending-steps',
  teardown: 'ending-steps',
  gc: 'gc',
};

interface Part {
  /** Among FunctionParts. */
  readonly name: string;
  /** In functions/runtime/aws. */
  readonly module: string;
  readonly export: string;
}

export interface FunctionForm {
  /** Whether API functions may take calls without an identity for those of a caller that a variable names. */
  readonly unsafe_caller: boolean;
}

const part = (name: string, module: string, exported: string): Part => ({ name, module, export: exported });

function partsOf(spec: FunctionSpec, form: FunctionForm): readonly Part[] {
  const groups = environmentGroups(spec);
  const wanted: readonly (readonly [Part, boolean])[] = [
    [part('table', 'table-part', 'tablePart'), groups.includes('table')],
    [part('objects', 'objects-part', 'objectsPart'), groups.includes('artifacts')],
    [part('packages', 'packages-part', 'packagesPart'), groups.includes('packages')],
    [part('provisioner', 'tasks-part', 'launchingTasksPart'), groups.includes('network')],
    [part('provisioner', 'tasks-part', 'tasksPart'), groups.includes('tasks') && !groups.includes('network')],
    [
      part('provisioner', 'images-part', 'imagesPart'),
      groups.includes('images') && !groups.includes('tasks'),
    ],
    [part('client', 'sandbox-client-part', 'sandboxClientPart'), spec.vpc],
    [part('orchestrator', 'orchestrator-part', 'orchestratorPart'), groups.includes('orchestrator')],
    [part('runsAtOnce', 'quota-parts', 'runsAtOncePart'), groups.includes('quotas')],
    [part('poolSize', 'quota-parts', 'poolSizePart'), groups.includes('pool')],
    [part('caller', 'unsafe-caller-part', 'unsafeCallerPart'), form.unsafe_caller && spec.kind === 'api'],
  ];
  return wanted.filter(([, needed]) => needed).map(([wantedPart]) => wantedPart);
}

/** @returns a module that imports from the root of the project. */
export function functionEntry(spec: FunctionSpec, form: FunctionForm): string {
  const parts = partsOf(spec, form);
  const wiring = WIRINGS[spec.name] ?? 'maintenance';
  const start = spec.kind === 'api' ? 'startApiFunction' : 'startFunction';
  const module = spec.kind === 'api' ? 'start-api-function' : 'start-function';
  return [
    `import { ${start} } from './functions/runtime/aws/${module}.ts';`,
    `import { wiring } from './functions/runtime/aws/wiring/${wiring}.ts';`,
    ...parts.map((one) => `import { ${one.export} } from './functions/runtime/aws/${one.module}.ts';`),
    `import { handler as inner } from './${spec.handler}';`,
    `const parts = { ${parts.map((one) => `${one.name}: ${one.export}`).join(', ')} };`,
    `export const handler = ${start}({ name: ${JSON.stringify(spec.name)}, parts, wiring }, inner);`,
    '',
  ].join('\n');
}

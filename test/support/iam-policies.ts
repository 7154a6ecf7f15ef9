/** The example policies as an operator fills them in, and the question "may this request pass?" put to a simulator. */
import { readdirSync, readFileSync } from 'node:fs';
import { runSimulation, type Simulation } from '@cloud-copilot/iam-simulate';
import { ROUTES, type Route } from '../../shared/contracts/routes.ts';

export const REGION = 'us-east-1';
export const API_ACCOUNT = '111122223333';
export const API_ID = 'a1b2c3d4e5';
export const STAGE = 'live';

/** Which routes each example is meant to allow, all of one scope. */
export const EXAMPLE_POLICIES: Readonly<Record<string, (route: Route) => boolean>> = {
  builder: () => true,
  reader: (route) => route.method === 'GET',
  runner: (route) => route.function === 'runs' || route.function === 'artifacts',
  starter: (route) => route.operation === 'createRun' || route.operation === 'createArtifact',
};

const folder = new URL('../../examples/iam/', import.meta.url);

export const exampleFiles = (): string[] => readdirSync(folder).toSorted();

export const exampleText = (name: string): string => readFileSync(new URL(`${name}.json`, folder), 'utf8');

export interface Policy {
  readonly Version: string;
  readonly Statement: readonly {
    readonly Sid: string;
    readonly Effect: string;
    readonly Action: string | readonly string[];
    readonly Resource: string | readonly string[];
  }[];
}

/** With every placeholder replaced. */
export function examplePolicy(name: string, scopeRef: string): Policy {
  const values = { REGION, ACCOUNT_ID: API_ACCOUNT, API_ID, STAGE, SCOPE_REF: scopeRef };
  const text = Object.entries(values).reduce(
    (filled, [placeholder, value]) => filled.replaceAll(placeholder, value),
    exampleText(name),
  );
  return JSON.parse(text);
}

export interface Place {
  readonly region: string;
  readonly account: string;
  readonly apiId: string;
  readonly stage: string;
}

const HERE: Place = { region: REGION, account: API_ACCOUNT, apiId: API_ID, stage: STAGE };

/** What IAM is asked about; `path` in whatever form API Gateway puts it there. */
export function requestArn(method: string, path: string, place: Partial<Place> = {}): string {
  const { region, account, apiId, stage } = { ...HERE, ...place };
  return `arn:aws:execute-api:${region}:${account}:${apiId}/${stage}/${method}${path}`;
}

/** In a request these two are characters like others; the simulator would take the first for a pattern. */
const asLiteral = (arn: string): string => arn.replaceAll('*', '\u2217').replaceAll('?', '\uff1f');

export interface Question {
  readonly arn: string;
  /** Of the caller; default a role of the API's account. */
  readonly principal?: string;
  /** Such as `aws:userid`, for a role its unique id and the session name. */
  readonly context?: Readonly<Record<string, string>>;
  readonly identity: readonly unknown[];
  readonly resourcePolicy?: unknown;
  readonly sessionPolicy?: unknown;
}

const DEFAULT_PRINCIPAL = `arn:aws:sts::${API_ACCOUNT}:assumed-role/acme-builder/session`;

/** @throws Error when the simulator finds a policy or the request malformed: nothing is denied by mistake. */
export async function isAllowed({
  arn,
  principal,
  context = {},
  identity,
  resourcePolicy,
  sessionPolicy,
}: Question): Promise<boolean> {
  const simulation: Simulation = {
    request: {
      principal: principal ?? DEFAULT_PRINCIPAL,
      action: 'execute-api:Invoke',
      resource: { resource: asLiteral(arn), accountId: arn.split(':')[4] ?? '' },
      contextVariables: { ...context },
    },
    identityPolicies: identity.map((policy, index) => ({ name: `p${index}`, policy })),
    serviceControlPolicies: [],
    resourceControlPolicies: [],
    ...(resourcePolicy === undefined ? {} : { resourcePolicy }),
    ...(sessionPolicy === undefined ? {} : { sessionPolicy }),
  };
  const result = await runSimulation(simulation, {});
  if (result.resultType !== 'single') throw new Error(`no answer for ${arn}: ${JSON.stringify(result)}`);
  return result.overallResult === 'Allowed';
}

/** A path that fits the route, with names and ids of the right form. */
export function pathOf(route: Route, scopeRef: string, name = 'ticket-analysis'): string {
  const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  return route.resource
    .replace('{scopeRef}', scopeRef)
    .replace('{name}', name)
    .replace(/\{\w+\}/g, id);
}

export const routesOf = (example: string): Route[] => {
  const meant = EXAMPLE_POLICIES[example];
  if (meant === undefined) throw new Error(`there is no example ${example}`);
  return ROUTES.filter(meant);
};

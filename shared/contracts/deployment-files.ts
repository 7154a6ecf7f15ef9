/** The JSON files that settings of a deployment name. Nothing is thrown: what is wrong is told with all the rest. */
import * as z from 'zod';
import { LIMITS } from './limits.ts';
import { type SandboxProfile, sandboxProfileSchema, sandboxProfilesSchema } from './sandbox-profile.ts';
import { sandboxSize } from './sandbox-size.ts';
import { type ScopeBinding, scopeBindingsSchema } from './scope.ts';

export interface ReadFile<T> {
  readonly read: readonly T[];
  /** A line each. */
  readonly problems: readonly string[];
}

/** @throws Error where the file cannot be read as JSON. */
export type ReadJson = (file: string) => unknown;

const BINDINGS = 'COGNITION_SCOPE_BINDINGS';
const PROFILES = 'COGNITION_SANDBOX_PROFILES';
const EXAMPLE = 'examples/deployment/scope-bindings.json';

/** Both maps of a function's environment, which holds 4 KB, have a member for each profile. */
const PROFILES_MAX = 8;
/** What Fargate gives a task. */
const OPEN_FILES_MAX = 65_535;
/** Of all overrides of a task, as JSON; the profile goes in as a text within it. */
const OVERRIDES_LENGTH = 8_192;
/** For the rest of the overrides: names, the sandbox's id and its public key. */
const OTHER_OVERRIDES_LENGTH = 1_024;

const failed = <T>(...problems: string[]): ReadFile<T> => ({ read: [], problems });

/** Who may assert which scopes: at least one principal, each by its unique id. */
export function readBindings(file: string | undefined, readJson: ReadJson): ReadFile<ScopeBinding> {
  if (file === undefined) {
    const what = 'a JSON file that says who may assert which scopes';
    return failed(`${BINDINGS} is required: ${what}, such as ${EXAMPLE}`);
  }
  const json = readFile(BINDINGS, file, readJson);
  if ('problem' in json) return failed(json.problem);
  const parsed = scopeBindingsSchema.safeParse(json.value);
  const principals = principalProblems(json.value);
  // What is said about principals says it better than the schema does.
  const problems = [
    ...principals,
    ...(parsed.error?.issues ?? [])
      .map(toPlace)
      .filter(({ place }) => !principals.some((told) => told.place === place)),
  ];
  if (parsed.success && parsed.data.length === 0) {
    return failed(
      `${BINDINGS}: ${file} has no binding, so nobody could call: add a principal and its scopes`,
    );
  }
  const bindings = parsed.data ?? [];
  problems.push(...bindings.flatMap(emptyScopes));
  const lines = problems.map(({ place, message }) => `${BINDINGS}: ${file} at ${place}: ${message}`);
  return { read: bindings, problems: lines };
}

/** What sandboxes get: without a file, one profile with default values. */
export function readProfiles(file: string | undefined, readJson: ReadJson): ReadFile<SandboxProfile> {
  if (file === undefined) return { read: [sandboxProfileSchema.parse({ name: 'default' })], problems: [] };
  const json = readFile(PROFILES, file, readJson);
  if ('problem' in json) return failed(json.problem);
  const parsed = sandboxProfilesSchema.safeParse(json.value);
  if (!parsed.success) {
    const places = parsed.error.issues.map(toPlace);
    return failed(...places.map(({ place, message }) => `${PROFILES}: ${file} at ${place}: ${message}`));
  }
  const count = parsed.data.length;
  if (count === 0)
    return failed(`${PROFILES}: ${file} has no profile: leave the setting out for the default one`);
  const problems = parsed.data.flatMap((profile) =>
    profileProblems(profile).map((problem) => `${PROFILES}: profile ${profile.name} ${problem}`),
  );
  if (count > PROFILES_MAX) {
    const room = `the environment of a function has room for ${PROFILES_MAX}`;
    problems.push(`${PROFILES}: ${file} has ${count} profiles, and ${room}`);
  }
  return { read: parsed.data, problems };
}

function readFile(
  setting: string,
  file: string,
  readJson: ReadJson,
): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: readJson(file) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replaceAll(/\s+/g, ' ') : 'unreadable';
    return { problem: `${setting}: ${file} is not a JSON file that can be read (${reason})` };
  }
}

interface PlacedProblem {
  readonly place: string;
  readonly message: string;
}

const toPlace = (issue: z.core.$ZodIssue): PlacedProblem => ({
  place: `/${issue.path.join('/')}`,
  // Of a key that is refused, the schema of keys knows why.
  message: ((issue.code === 'invalid_key' && issue.issues[0]?.message) || issue.message).replaceAll(
    /\s+/g,
    ' ',
  ),
});

const principalsSchema = z.array(z.looseObject({ account_id: z.unknown(), role_id: z.unknown() }).partial());

function principalProblems(value: unknown): PlacedProblem[] {
  const principals = principalsSchema.safeParse(value);
  return (principals.data ?? []).flatMap(({ account_id, role_id }, index) => {
    const problems: PlacedProblem[] = [];
    if (typeof account_id === 'string' && account_id.includes('*')) {
      const message = 'a wildcard would let in every account: name one, of 12 digits';
      problems.push({ place: `/${index}/account_id`, message });
    }
    const message = typeof role_id === 'string' ? roleProblem(role_id) : undefined;
    if (message !== undefined) problems.push({ place: `/${index}/role_id`, message });
    return problems;
  });
}

const ROLE_ID = /^(?:AROA|AIDA)[A-Z0-9]{12,124}$/;

function roleProblem(roleId: string): string | undefined {
  if (ROLE_ID.test(roleId)) return undefined;
  if (roleId.includes('*')) return 'a wildcard would let in every principal: name one by its unique id';
  if (/^A[A-Z0-9]{15,127}:/.test(roleId)) return 'leave out the session name, from the colon on';
  if (/^A[A-Z0-9]{15,127}$/.test(roleId)) {
    return 'a unique id of a role begins with AROA, that of a user with AIDA';
  }
  const name = roleId.slice(roleId.lastIndexOf('/') + 1).replaceAll(/[^\w+=,.@-]/g, '') || '<name>';
  const command = `aws iam get-role --role-name ${name} --query Role.RoleId --output text`;
  return `this looks like an ARN or a name; the unique id is what \`${command}\` prints`;
}

const emptyScopes = ({ scopes }: ScopeBinding, index: number): PlacedProblem[] =>
  scopes.flatMap((scope, at) => {
    const entries = Object.keys(scope).length;
    if (entries >= 1 && entries <= LIMITS.scopeEntries) return [];
    const message = `a scope has 1 to ${LIMITS.scopeEntries} entries`;
    return [{ place: `/${index}/scopes/${at}`, message }];
  });

function profileProblems(profile: SandboxProfile): string[] {
  const problems: string[] = [];
  if (profile.egress_aliases.length > 0) {
    problems.push('has egress_aliases, but a deployment has no gateway for them: leave them out');
  }
  const size = sandboxSize(profile);
  if ('problem' in size) problems.push(size.problem);
  if (profile.max_open_files > OPEN_FILES_MAX) {
    problems.push(`has max_open_files ${profile.max_open_files}, and Fargate allows ${OPEN_FILES_MAX}`);
  }
  const length = JSON.stringify(JSON.stringify(profile)).length;
  if (length > OVERRIDES_LENGTH - OTHER_OVERRIDES_LENGTH) {
    const limit = `which hands ${OVERRIDES_LENGTH} characters to a task`;
    problems.push(`is too long for ECS, ${limit}: name fewer variables`);
  }
  return problems;
}

/** What the API must refuse before any sandbox is asked: each is sent, and none may be accepted. */
import pLimit from 'p-limit';
import { ApiError } from '../../client/client-errors.ts';
import type { Client } from '../../client/create-client.ts';
import type { Attempt } from './attempt.ts';

type RunRequest = Parameters<Client['createRun']>[0];

/** A deployment has a rate, which is for others too. */
const AT_ONCE = 4;
const VARIABLES = [
  ...['PATH', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'NODE_OPTIONS', 'PYTHONPATH', 'PYTHONSTARTUP', 'BASH_ENV'],
  ...['AWS_ACCESS_KEY_ID', 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI', 'COGNITION_SANDBOX_FORM'],
];
/** Fields that no request has, named as the service behind it names them. */
const OVERRIDES: Readonly<Record<string, unknown>> = {
  role: 'arn:aws:iam::111122223333:role/admin',
  task_role_arn: 'arn:aws:iam::111122223333:role/admin',
  image: 'example.com/image',
  overrides: { containerOverrides: [{ name: 'sandboxd', command: ['sh'] }] },
  sandbox_profile: 'another',
  sandbox_id: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  scope: { tenant: 'another' },
};
const PATHS = ['../outside', '/etc/passwd', 'a/../../outside', 'a//b', './a', 'a\\b', 'a\0b'];
const PACKAGE_PATHS = [...PATHS, '.cognition/x'];

export interface ApiAttemptsInput {
  readonly client: Client;
  readonly agent: string;
  readonly skill: string;
  readonly artifact_id: string;
}

export async function apiAttempts({
  client,
  agent,
  skill,
  artifact_id,
}: ApiAttemptsInput): Promise<Attempt[]> {
  const limit = pLimit(AT_ONCE);
  const run: RunRequest = { agent, command: { argv: ['true'] } };
  const start = (attempt: string, request: RunRequest): Promise<Attempt> =>
    limit(refusalOf, attempt, async () => {
      const { run_id } = await client.createRun(request);
      await client.cancelRun(run_id);
      return `it has started run ${run_id}`;
    });
  const attempts: Promise<Attempt>[] = [
    ...VARIABLES.map((name) => start(`set ${name}`, { ...run, env: { [name]: 'x' } })),
    ...Object.entries(OVERRIDES).map(([name, value]) =>
      start(`name the ${name} of a run`, { ...run, [name]: value }),
    ),
    ...PATHS.map((path) =>
      start(`an input at ${JSON.stringify(path)}`, { ...run, inputs: [{ artifact_id, path }] }),
    ),
    ...PATHS.map((path) =>
      start(`the script ${JSON.stringify(path)}`, { ...run, command: { skill, script: path, args: [] } }),
    ),
    ...PACKAGE_PATHS.map((path) => limit(publish, client, skill, path)),
  ];
  return await Promise.all(attempts);
}

/** Validated only: nothing is stored, whatever comes of it. */
function publish(client: Client, skill: string, path: string): Promise<Attempt> {
  const files = new Map([
    ['SKILL.md', `---\nname: ${skill}\ndescription: An attempt.\n---\n`],
    [path, 'x'],
  ]);
  return refusalOf(`a package with ${JSON.stringify(path)}`, async () => {
    const { validation_status, problems } = await client.validateSkill(skill, { files });
    if (validation_status === 'invalid') throw new Verdict(problems.map(({ code }) => code).join(', '));
    return `it is ${validation_status}`;
  });
}

class Verdict extends Error {}

/** @param action returns what it got. Errors that are no refusal are not caught: they are no answer at all. */
async function refusalOf(attempt: string, action: () => Promise<string>): Promise<Attempt> {
  const judged = (refused: boolean, detail: string): Attempt => ({ group: 'api', attempt, refused, detail });
  try {
    return judged(false, await action());
  } catch (error) {
    if (error instanceof Verdict) return judged(true, error.message);
    if (!(error instanceof ApiError)) throw error;
    // 429 and 5xx say nothing about what was asked.
    const refused = error.status >= 400 && error.status < 500 && error.status !== 429;
    return judged(refused, `${error.status} ${error.code}`);
  }
}

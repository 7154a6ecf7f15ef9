/** What the roles of functions may do, asked of a policy simulator: keys of sandboxes, scans, roles for tasks. */
import { runSimulation } from '@cloud-copilot/iam-simulate';
import { describe, expect, it } from 'vitest';
import { FUNCTIONS, type FunctionSpec } from '../../infra/functions/function-table.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import { ACCOUNT, resourcesOf, type StackTemplate, variant } from './support/synthesize.ts';

const REGION = 'eu-central-1';
const TABLE = `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/cognition-storage-Table`;
const EXECUTION_ROLE = `arn:aws:iam::${ACCOUNT}:role/cognition-sandbox-ExecutionRole`;
const CLUSTER = `arn:aws:ecs:${REGION}:${ACCOUNT}:cluster/cognition`;
const KEY = `arn:aws:kms:${REGION}:${ACCOUNT}:key/11111111-2222-3333-4444-555555555555`;

/** By what the name of a reference holds. */
const REFERENCES: readonly (readonly [RegExp, string])[] = [
  [/Table[0-9A-F]{8}/, TABLE],
  [/ExecutionRole/, EXECUTION_ROLE],
  [/Cluster/, CLUSTER],
  [/Key[0-9A-F]{8}/, KEY],
  [/Packages/, 'arn:aws:s3:::packages'],
  [/Artifacts/, 'arn:aws:s3:::artifacts'],
  [/Logs/, `arn:aws:logs:${REGION}:${ACCOUNT}:log-group:of-the-function`],
  [/DeadLetters/, `arn:aws:sqs:${REGION}:${ACCOUNT}:dead-letters`],
  [/Runs/, `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:cognition-runs`],
];
const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::Region': REGION,
  'AWS::AccountId': ACCOUNT,
  'AWS::Partition': 'aws',
};

/** Intrinsic functions as text that a policy can hold. */
function resolved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== 'object' || value === null) return value;
  const [[name, of] = ['', undefined], ...others] = Object.entries(value);
  if (others.length > 0 || (name !== 'Ref' && !name.startsWith('Fn::'))) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one)]));
  }
  if (name === 'Ref' && typeof of === 'string' && of in PSEUDO) return PSEUDO[of];
  if (name === 'Fn::Join') return (resolved(of[1]) as string[]).join(of[0]);
  if (name === 'Fn::Select') return (resolved(of[1]) as string[])[Number(of[0])];
  if (name === 'Fn::Split') return String(resolved(of[1])).split(of[0]);
  const found = REFERENCES.find(([pattern]) => pattern.test(JSON.stringify(of)));
  if (found === undefined) throw new Error(`what is ${JSON.stringify(value)}?`);
  return found[1];
}

function policyOf(spec: FunctionSpec): unknown {
  const templates = [...variant('everything').templates.values()];
  for (const template of templates) {
    const made = resourcesOf(template, 'AWS::Lambda::Function').find(
      ({ Properties }) => Properties?.FunctionName === `cognition-${spec.name}`,
    );
    if (made !== undefined) return rolePolicy(template, made.Properties?.Role);
  }
  throw new Error(`no function ${spec.name}`);
}

function rolePolicy(template: StackTemplate, role: unknown): unknown {
  const [roleId] = (role as { 'Fn::GetAtt': [string, string] })['Fn::GetAtt'];
  const policies = resourcesOf(template, 'AWS::IAM::Policy').filter(({ Properties }) =>
    JSON.stringify(Properties?.Roles).includes(`"${roleId}"`),
  );
  expect(policies.length).toBe(1);
  return resolved(policies[0]?.Properties?.PolicyDocument);
}

async function may(
  spec: FunctionSpec,
  action: string,
  resource: string,
  contextVariables: Record<string, string | string[]> = {},
): Promise<boolean> {
  const answer = await runSimulation(
    {
      request: {
        principal: `arn:aws:sts::${ACCOUNT}:assumed-role/${spec.name}/cognition-${spec.name}`,
        action,
        resource: { resource, accountId: ACCOUNT },
        contextVariables,
      },
      identityPolicies: [{ name: 'role', policy: policyOf(spec) }],
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    },
    {},
  );
  if (answer.resultType !== 'single') throw new Error(`${action} ${resource}: ${JSON.stringify(answer)}`);
  return answer.overallResult === 'Allowed';
}

const WITH_TABLE = FUNCTIONS.filter(({ table }) => table !== 'none').map(
  (spec) => [spec.name, spec] as const,
);
const leading = (...keys: string[]) => ({ 'dynamodb:LeadingKeys': keys });
const A_KEY = KEYS.sandboxKey('01ARZ3NDEKTSV4RRFFQ69G5FAV').pk;
const A_ROW = KEYS.run('f'.repeat(52), 'r').pk;

describe.each(WITH_TABLE)('the table, for %s', (_name, spec) => {
  it('is open for rows, all but those with keys of sandboxes', async () => {
    for (const action of ['GetItem', 'Query', 'PutItem', 'DeleteItem', 'ConditionCheckItem']) {
      expect(await may(spec, `dynamodb:${action}`, TABLE, leading(A_ROW)), action).toBe(true);
    }
    for (const action of ['GetItem', 'Query', 'PutItem', 'ConditionCheckItem']) {
      expect(await may(spec, `dynamodb:${action}`, TABLE, leading(A_KEY)), action).toBe(spec.sandbox_keys);
    }
  });

  it('gives up a key to be deleted by those who end sandboxes, and shows it to none of them', async () => {
    const ends = spec.sandbox_keys || spec.ecs.includes('StopTask');

    expect(await may(spec, 'dynamodb:DeleteItem', TABLE, leading(A_KEY))).toBe(ends);
    const shown = { ...leading(A_KEY), 'dynamodb:ReturnValues': 'ALL_OLD' };
    expect(await may(spec, 'dynamodb:DeleteItem', TABLE, shown)).toBe(spec.sandbox_keys);
  });

  it('shows no key among other rows', async () => {
    expect(await may(spec, 'dynamodb:GetItem', TABLE, leading(A_ROW, A_KEY))).toBe(spec.sandbox_keys);
  });

  it.each([
    'Scan',
    'BatchGetItem',
    'BatchWriteItem',
    'UpdateItem',
    'PartiQLSelect',
    'DeleteTable',
    'UpdateTable',
    'CreateBackup',
  ])('takes no %s', async (action) => {
    expect(await may(spec, `dynamodb:${action}`, TABLE, leading(A_ROW))).toBe(false);
  });
});

describe.each(FUNCTIONS.map((spec) => [spec.name, spec] as const))('tasks, for %s', (_name, spec) => {
  const toTasks = { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' };
  const starts = spec.ecs.includes('RunTask');

  it('get the execution role from those who start them, and no other role from anybody', async () => {
    expect(await may(spec, 'iam:PassRole', EXECUTION_ROLE, toTasks)).toBe(starts);
    expect(await may(spec, 'iam:PassRole', `arn:aws:iam::${ACCOUNT}:role/Administrator`, toTasks)).toBe(
      false,
    );
    expect(
      await may(spec, 'iam:PassRole', EXECUTION_ROLE, { 'iam:PassedToService': 'lambda.amazonaws.com' }),
    ).toBe(false);
  });

  it('are started of the deployment’s own families, in its own cluster', async () => {
    const family = (name: string) => `arn:aws:ecs:${REGION}:${ACCOUNT}:task-definition/${name}:7`;
    const run = (name: string, cluster: string) =>
      may(spec, 'ecs:RunTask', family(name), { 'ecs:cluster': cluster });

    expect(await run('cognition-sandbox-default', CLUSTER)).toBe(starts);
    expect(await run('cognition-sandbox-default', `${CLUSTER}-other`)).toBe(false);
    expect(await run('something-else', CLUSTER)).toBe(false);
  });

  it('are stopped in its own cluster', async () => {
    const task = (cluster: string) => `arn:aws:ecs:${REGION}:${ACCOUNT}:task/${cluster}/0123456789abcdef`;

    expect(await may(spec, 'ecs:StopTask', task('cognition'), { 'ecs:cluster': CLUSTER })).toBe(
      spec.ecs.includes('StopTask'),
    );
    expect(await may(spec, 'ecs:StopTask', task('other'), { 'ecs:cluster': `${CLUSTER}-other` })).toBe(false);
  });
});

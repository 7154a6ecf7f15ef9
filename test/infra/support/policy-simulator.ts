/** What the role of a function may do, asked of a policy simulator. */
import { runSimulation } from '@cloud-copilot/iam-simulate';
import { expect } from 'vitest';
import type { FunctionSpec } from '../../../infra/functions/function-table.ts';
import { ACCOUNT, resourcesOf, type StackTemplate, variant } from './synthesize.ts';

export const REGION = 'eu-central-1';
export const TABLE = `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/cognition-storage-Table`;
export const EXECUTION_ROLE = `arn:aws:iam::${ACCOUNT}:role/cognition-sandbox-ExecutionRole`;
export const CLUSTER = `arn:aws:ecs:${REGION}:${ACCOUNT}:cluster/cognition`;
export const KEY = `arn:aws:kms:${REGION}:${ACCOUNT}:key/11111111-2222-3333-4444-555555555555`;
export const OUTPUTS = 'arn:aws:s3:::artifacts';

/** By what the name of a reference holds. */
const REFERENCES: readonly (readonly [RegExp, string])[] = [
  [/Table[0-9A-F]{8}/, TABLE],
  [/ExecutionRole/, EXECUTION_ROLE],
  [/Cluster/, CLUSTER],
  [/Key[0-9A-F]{8}/, KEY],
  [/Packages/, 'arn:aws:s3:::packages'],
  [/Artifacts/, OUTPUTS],
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

/** In the form with everything that a deployment can have, packages in the table. */
export async function may(
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

/** What an emulator does as AWS does is found out by trying, not by its name. */
import * as z from 'zod';
import type { EmulatorApi } from '../../../infra/local/emulator/emulator-api.ts';
import { Api } from '../../support/api.ts';
import { type DeployedFunctions, FunctionFailure } from './deployed-functions.ts';
import type { DeploymentFacts } from './deployment-facts.ts';

export interface TestRole {
  readonly arn: string;
  readonly unique_id: string;
}

const BUILDER_ROLE = 'cognition-test-builder';
/** The only one that the role is bound to, and of keys that nobody else is. */
export const ROLE_SCOPE = { team: 'bound-to-a-role' } as const;

/** A role to be bound to a scope; undefined where the emulator has no roles. */
export async function createTestRole(api: EmulatorApi, account: string): Promise<TestRole | undefined> {
  const Statement = [
    { Effect: 'Allow', Principal: { AWS: `arn:aws:iam::${account}:root` }, Action: 'sts:AssumeRole' },
  ];
  const parameters = {
    Action: 'CreateRole',
    RoleName: BUILDER_ROLE,
    AssumeRolePolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement }),
  };
  try {
    const answer = await api.query('iam', '2010-05-08', parameters);
    return { arn: answer('Arn'), unique_id: answer('RoleId') };
  } catch {
    return undefined;
  }
}

export async function assumeTestRole(api: EmulatorApi, role: TestRole, sessionName: string) {
  const answer = await api.query('sts', '2011-06-15', {
    Action: 'AssumeRole',
    RoleArn: role.arn,
    RoleSessionName: sessionName,
  });
  return {
    access_key_id: answer('AccessKeyId'),
    secret_access_key: answer('SecretAccessKey'),
    session_token: answer('SessionToken'),
  };
}

/** With an input that is no run, which a step refuses with an error of another name than Lambda's own. */
async function hasErrorNames(functions: DeployedFunctions): Promise<boolean> {
  try {
    await functions.invoke('pin-manifest', {});
  } catch (error) {
    if (error instanceof FunctionFailure) return z.literal('ZodError').safeParse(error.error_type).success;
    throw error;
  }
  throw new Error('pin-manifest took an empty input');
}

/** Whether a role's session is known to be the role, whose binding is the only one for its scope. */
async function hasCallerIdentity(
  api: EmulatorApi,
  role: TestRole | undefined,
  target: { readonly endpoint: string; readonly region: string },
): Promise<boolean> {
  if (role === undefined) return false;
  try {
    const session = await assumeTestRole(api, role, 'probe');
    const answer = await new Api({ ...target, ...session }, ROLE_SCOPE).get('/skills');
    return answer.status === 200;
  } catch {
    return false;
  }
}

export async function probeCapabilities(
  api: EmulatorApi,
  functions: DeployedFunctions,
  role: TestRole | undefined,
  target: { readonly endpoint: string; readonly region: string },
): Promise<DeploymentFacts['capabilities']> {
  return {
    error_names: await hasErrorNames(functions),
    caller_identity: await hasCallerIdentity(api, role, target),
  };
}

/** The API's resource policy together with the caller's own: who of which account gets to the API at all. */
import { App, Aws, Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { API_STAGE } from '../../infra/constructs/api/api-stage.ts';
import { crossAccountPolicy } from '../../infra/constructs/api/cross-account-policy.ts';
import type { ScopeBinding } from '../../shared/contracts/scope.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import {
  API_ACCOUNT,
  API_ID,
  examplePolicy,
  isAllowed,
  REGION,
  requestArn,
  STAGE,
} from '../support/iam-policies.ts';

const PARTNER = '444455556666';
const STRANGER = '777788889999';
const BOUND = 'AROAPARTNERBUILDER01';
const BOUND_USER = 'AIDAPARTNERUSER00001';
const OWN_ROLE = 'AROAOWNBUILDER000001';

const binding = (account_id: string, role_id: string): ScopeBinding => ({
  account_id,
  role_id,
  scopes: [{ tenant: 'acme' }],
});
const BINDINGS = [binding(API_ACCOUNT, OWN_ROLE), binding(PARTNER, BOUND), binding(PARTNER, BOUND_USER)];
const IDENTITY = examplePolicy('builder', encodeScopeRef({ tenant: 'acme' }));
const REQUEST = requestArn('GET', `/v1/scopes/${encodeScopeRef({ tenant: 'acme' })}/skills`);

/** As API Gateway reads it: the short form of a resource is completed with the API's own ARN. */
function resourcePolicy(bindings: readonly ScopeBinding[], account = API_ACCOUNT): unknown {
  const document = crossAccountPolicy({ bindings, account, stage: API_STAGE });
  if (document === undefined) return undefined;
  const stack = new Stack(new App(), 'S', { env: { account: API_ACCOUNT, region: REGION } });
  const text = JSON.stringify(stack.resolve(document.toJSON()))
    .replaceAll('"execute-api:/', `"arn:aws:execute-api:${REGION}:${API_ACCOUNT}:${API_ID}/`)
    .replaceAll('{"Ref":"AWS::Partition"}', '"aws"')
    .replaceAll('{"Ref":"AWS::AccountId"}', `"${API_ACCOUNT}"`)
    .replaceAll(/\{"Fn::Join":\["",\["arn:","aws",":iam::(\d+):root"\]\]\}/g, '"arn:aws:iam::$1:root"');
  return JSON.parse(text);
}

interface Caller {
  readonly account: string;
  /** `aws:userid`. */
  readonly userId: string;
  readonly identity?: readonly unknown[];
  readonly arn?: string;
  readonly principal?: string;
}

const reaches = (
  { account, userId, identity = [IDENTITY], arn = REQUEST, principal }: Caller,
  policy: unknown,
) =>
  isAllowed({
    arn,
    principal: principal ?? `arn:aws:sts::${account}:assumed-role/builder/session`,
    context: { 'aws:userid': userId, 'aws:PrincipalAccount': account },
    identity,
    ...(policy === undefined ? {} : { resourcePolicy: policy }),
  });

const POLICY = resourcePolicy(BINDINGS);

describe('callers of another account', () => {
  it('the stage of the policy is that of the example policies', () => {
    expect(API_STAGE).toBe(STAGE);
  });

  it('pass with a bound role and a policy of their own account, under every session name', async () => {
    for (const session of ['i-0abc', 'alice@example.com', 'a', '=,.@-_']) {
      expect(await reaches({ account: PARTNER, userId: `${BOUND}:${session}` }, POLICY)).toBe(true);
    }
  });

  it('pass as a bound user', async () => {
    const principal = `arn:aws:iam::${PARTNER}:user/ci`;

    expect(await reaches({ account: PARTNER, userId: BOUND_USER, principal }, POLICY)).toBe(true);
  });

  it('are refused without a policy of their own account', async () => {
    expect(await reaches({ account: PARTNER, userId: `${BOUND}:s`, identity: [] }, POLICY)).toBe(false);
  });

  it.each([
    ['another role of the account', 'AROAPARTNEROTHER0001:s'],
    ['another role whose session is called like the bound one', `AROAPARTNEROTHER0001:${BOUND}`],
    ['another role whose session holds the bound id and a colon', `AROAPARTNEROTHER0001:${BOUND}:s`],
    ['a role whose id begins alike', `${BOUND}X:s`],
    ['a role whose id ends alike', `X${BOUND}:s`],
    ['the bound id in lower case', `${BOUND.toLowerCase()}:s`],
    ['the bound role without a session', BOUND],
    ['the bound user as a role', `${BOUND_USER}:s`],
    ['the root user', PARTNER],
    ['nobody', ''],
  ])('are refused as %s', async (_who, userId) => {
    expect(await reaches({ account: PARTNER, userId }, POLICY)).toBe(false);
  });

  it('are refused in a third account, whatever their id', async () => {
    expect(await reaches({ account: STRANGER, userId: `${BOUND}:s` }, POLICY)).toBe(false);
  });

  it.each([
    ['another stage', requestArn('GET', '/v1/scopes/x/skills', { stage: 'test' })],
    ['another API', requestArn('GET', '/v1/scopes/x/skills', { apiId: 'zzzzzzzzzz' })],
    ['a path that is no scope', requestArn('GET', '/v2/admin')],
  ])('are refused at %s even with every permission of their own', async (_where, arn) => {
    const everything = {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: '*' }],
    };

    expect(
      await reaches({ account: PARTNER, userId: `${BOUND}:s`, identity: [everything], arn }, POLICY),
    ).toBe(false);
  });

  it('pass where synth does not know which account is the own one', async () => {
    const unknown = resourcePolicy(BINDINGS, Aws.ACCOUNT_ID);

    expect(await reaches({ account: PARTNER, userId: `${BOUND}:s` }, unknown)).toBe(true);
    expect(await reaches({ account: PARTNER, userId: `${OWN_ROLE}:s` }, unknown)).toBe(false);
  });

  it('are refused altogether where no other account is bound', async () => {
    const closed = resourcePolicy([binding(API_ACCOUNT, OWN_ROLE)]);

    expect(closed).toBeUndefined();
    expect(await reaches({ account: PARTNER, userId: `${BOUND}:s` }, closed)).toBe(false);
  });
});

describe('callers of the API’s own account', () => {
  it.each([
    ['with bindings of another account', POLICY],
    ['without', resourcePolicy([binding(API_ACCOUNT, OWN_ROLE)])],
    ['where synth does not know which account is the own one', resourcePolicy(BINDINGS, Aws.ACCOUNT_ID)],
  ])('are decided by their own policies alone, %s', async (_what, policy) => {
    expect(await reaches({ account: API_ACCOUNT, userId: `${OWN_ROLE}:s` }, policy)).toBe(true);
    expect(await reaches({ account: API_ACCOUNT, userId: `${OWN_ROLE}:s`, identity: [] }, policy)).toBe(
      false,
    );
  });
});

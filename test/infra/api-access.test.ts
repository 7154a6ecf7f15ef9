import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { API_STAGE } from '../../infra/constructs/api/api-stage.ts';
import { crossAccountPolicy } from '../../infra/constructs/api/cross-account-policy.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { textOf } from './support/policy-statements.ts';
import {
  ACCOUNT,
  OTHER_ACCOUNT,
  OTHER_ROLE,
  OTHER_USER,
  OWN_ROLE,
  type Properties,
  resourcesOf,
  templateOf,
  type VariantName,
} from './support/synthesize.ts';

const template = (name: VariantName = 'production') => templateOf(name, 'api');
const api = (name?: VariantName) => Template.fromJSON({ ...template(name) });
const only = (type: string, name?: VariantName): Properties => {
  const [found, ...more] = resourcesOf(template(name), type);
  expect(more).toEqual([]);
  return found?.Properties ?? {};
};

describe('the resource policy', () => {
  const statements = (name: VariantName) =>
    (only('AWS::ApiGateway::RestApi', name).Policy as { Statement: Properties[] } | undefined)?.Statement ??
    [];

  it('admits the bound principals of another account to the scopes of the stage, a role by any session', () => {
    const foreign = statements('everything').filter(({ Principal }) =>
      JSON.stringify(Principal).includes(OTHER_ACCOUNT),
    );

    expect(foreign).toHaveLength(1);
    expect(foreign[0]).toMatchObject({
      Effect: 'Allow',
      Action: 'execute-api:Invoke',
      Resource: 'execute-api:/live/*/v1/scopes/*',
      Condition: { StringLike: { 'aws:userid': [OTHER_USER, `${OTHER_ROLE}:*`] } },
    });
    expect(textOf(foreign.map(({ Principal }) => (Principal as Properties).AWS)[0])).toBe(
      `arn:\${AWS::Partition}:iam::${OTHER_ACCOUNT}:root`,
    );
  });

  it('says nothing that could apply to a principal of the own account', () => {
    for (const statement of [...statements('everything'), ...statements('production')]) {
      const { Condition } = statement as { Condition: Record<string, unknown> };

      expect(Condition.StringNotEquals).toEqual({ 'aws:PrincipalAccount': { Ref: 'AWS::AccountId' } });
      expect(Condition.StringLike).toEqual({ 'aws:userid': expect.any(Array) });
    }
    expect(JSON.stringify(statements('production'))).toContain(OWN_ROLE);
  });

  it('is refused with one line when it would be larger than API Gateway takes', () => {
    const bindings = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        account_id: String(444_455_556_000 + (index % 3)),
        role_id: `AROA1234567890${String(index).padStart(7, '0')}`,
        scopes: [{ tenant: 'globex' }],
      }));
    const policy = (count: number) => () =>
      crossAccountPolicy({ bindings: bindings(count), account: ACCOUNT, stage: API_STAGE });

    expect(policy(200)).not.toThrow();
    expect(policy(300)).toThrow(
      /^the settings are not valid:\n- COGNITION_SCOPE_BINDINGS has 300 principals of 3 other accounts, .*bind that$/,
    );
  });

  it('has no statement for everybody', () => {
    expect(JSON.stringify(statements('everything').map(({ Principal }) => Principal))).not.toContain('*');
  });
});

describe('the firewall', () => {
  it('is there by a setting only', () => {
    api('production').resourceCountIs('AWS::WAFv2::WebACL', 0);
    api('everything').resourceCountIs('AWS::WAFv2::WebACL', 1);
    api('everything').resourceCountIs('AWS::WAFv2::WebACLAssociation', 1);
  });

  it('lets large and program-like bodies pass, and limits each address', () => {
    const { Rules } = only('AWS::WAFv2::WebACL', 'everything') as { Rules: Properties[] };
    const common = JSON.stringify(Rules.find(({ Name }) => Name === 'AWSManagedRulesCommonRuleSet'));
    const counted = [...common.matchAll(/"ActionToUse":\{"Count":\{\}\},"Name":"(\w+)"/g)].map(
      ([, name]) => name,
    );

    expect(counted).toEqual(expect.arrayContaining(['SizeRestrictions_BODY', 'CrossSiteScripting_BODY']));
    expect(LIMITS.requestBodyBytes).toBeGreaterThan(8_192);
    expect(Rules[0]).toMatchObject({
      Action: { Block: {} },
      Statement: { RateBasedStatement: { AggregateKeyType: 'IP' } },
    });
  });

  it('keeps paths, queries and credentials out of its logs and samples', () => {
    const { RedactedFields, LogDestinationConfigs } = only('AWS::WAFv2::LoggingConfiguration', 'everything');
    const acl = JSON.stringify(only('AWS::WAFv2::WebACL', 'everything'));

    expect(RedactedFields).toEqual([
      { UriPath: {} },
      { QueryString: {} },
      { SingleHeader: { Name: 'authorization' } },
      { SingleHeader: { Name: 'x-amz-security-token' } },
    ]);
    expect(textOf((LogDestinationConfigs as unknown[])[0])).toMatch(/:log-group:\$\{WafLog\w+\}$/);
    api('everything').hasResourceProperties('AWS::Logs::LogGroup', {
      LogGroupName: 'aws-waf-logs-cognition',
    });
    expect(acl).not.toContain('"SampledRequestsEnabled":true');
    expect(acl.match(/"SampledRequestsEnabled":false/g)).toHaveLength(4);
  });
});

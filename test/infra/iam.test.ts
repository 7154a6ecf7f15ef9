/** Every IAM statement of every template: no wildcard among what is allowed, and a reason wherever there is one in a resource. */
import { describe, expect, it } from 'vitest';
import { type PolicyStatement, statementsOf, textOf } from './support/policy-statements.ts';
import {
  resourcesOf,
  type StackTemplate,
  VARIANT_NAMES,
  type VariantName,
  variant,
} from './support/synthesize.ts';
import { ANYBODY_REASONS, MANAGED_POLICY_REASONS, WILDCARD_REASONS } from './support/wildcard-reasons.ts';

const WILDCARD = /[*?]/;

const allowed = (name: VariantName): PolicyStatement[] =>
  [...variant(name).templates]
    .flatMap(([stack, template]) => statementsOf(stack, template))
    .filter(({ effect }) => effect === 'Allow');

const show = ({ where, actions, resources }: PolicyStatement): string =>
  `${where}: ${actions.join(' ')} on ${resources.join(' ')}`;

/** Each action of a statement on each of its resources that is more than one. */
const wideGrants = (statement: PolicyStatement) =>
  statement.resources
    .filter((resource) => WILDCARD.test(resource))
    .flatMap((resource) => statement.actions.map((action) => ({ statement, action, resource })));

type WideGrant = ReturnType<typeof wideGrants>[number];

const explains = (
  reason: (typeof WILDCARD_REASONS)[number],
  { statement, action, resource }: WideGrant,
): boolean =>
  (reason.type === undefined || reason.type === statement.type) &&
  reason.actions.includes(action) &&
  reason.resource.test(resource);

const forAnybody = (name: VariantName): PolicyStatement[] =>
  allowed(name).filter(({ principals }) => principals.some((principal) => WILDCARD.test(principal)));

const explainsAnybody = (
  { type, actions, condition }: (typeof ANYBODY_REASONS)[number],
  statement: PolicyStatement,
): boolean =>
  type === statement.type &&
  statement.actions.every((action) => actions.includes(action)) &&
  (condition === undefined
    ? statement.conditions === undefined
    : JSON.stringify(statement.conditions ?? null).includes(`"${condition}"`));

describe.each(VARIANT_NAMES)('policies of %s', (name) => {
  it('name each action that they allow', () => {
    const wild = allowed(name).filter(
      ({ actions }) => actions.length === 0 || actions.some((a) => WILDCARD.test(a)),
    );

    expect(wild.map(show)).toEqual([]);
  });

  it('allow nothing by what they leave out', () => {
    expect(
      allowed(name)
        .filter(({ negated }) => negated.length > 0)
        .map(show),
    ).toEqual([]);
  });

  it('have a reason for each resource that is more than one', () => {
    const unexplained = allowed(name)
      .flatMap(wideGrants)
      .filter((grant) => !WILDCARD_REASONS.some((reason) => explains(reason, grant)));

    expect(
      unexplained.map(({ statement, action, resource }) => `${statement.where}: ${action} on ${resource}`),
    ).toEqual([]);
  });

  it('have a reason where anybody may be the principal', () => {
    const unexplained = forAnybody(name).filter(
      (statement) => !ANYBODY_REASONS.some((reason) => explainsAnybody(reason, statement)),
    );

    expect(unexplained.map(show)).toEqual([]);
  });

  it('are there for every endpoint: without one it lets everything through', () => {
    const endpoints = [...variant(name).templates.values()].flatMap((template: StackTemplate) =>
      resourcesOf(template, 'AWS::EC2::VPCEndpoint'),
    );

    expect(endpoints.length).toBeGreaterThan(0);
    expect(endpoints.filter(({ Properties }) => Properties?.PolicyDocument === undefined)).toEqual([]);
  });

  it('are their own, but for the ones of AWS that have a reason', () => {
    const managed = managedPolicies(name).filter((policy) => !Object.hasOwn(MANAGED_POLICY_REASONS, policy));

    expect(managed).toEqual([]);
  });
});

const managedPolicies = (name: VariantName): string[] =>
  [...variant(name).templates.values()]
    .flatMap((template) => resourcesOf(template, 'AWS::IAM::Role'))
    .flatMap(({ Properties }) => (Properties?.ManagedPolicyArns as unknown[] | undefined) ?? [])
    .map((arn) =>
      textOf(arn)
        .replace(/^.*policy\/(service-role\/)?/, '')
        .replace(/["}\]]+$/, ''),
    );

describe('reasons for wildcards', () => {
  const everywhere = VARIANT_NAMES.flatMap(allowed);

  it('are all needed, action by action', () => {
    const grants = everywhere.flatMap(wideGrants);

    const unused = WILDCARD_REASONS.flatMap((reason) =>
      reason.actions
        .filter((action) => !grants.some((grant) => grant.action === action && explains(reason, grant)))
        .map((action) => `${action}: ${reason.reason}`),
    );

    expect(unused).toEqual([]);
  });

  it('are all needed where anybody may be the principal', () => {
    const open = VARIANT_NAMES.flatMap(forAnybody);

    const unused = ANYBODY_REASONS.flatMap((reason) =>
      reason.actions.filter(
        (action) =>
          !open.some((statement) => statement.actions.includes(action) && explainsAnybody(reason, statement)),
      ),
    );

    expect(unused).toEqual([]);
  });

  it('are all needed for policies of AWS', () => {
    expect(new Set(VARIANT_NAMES.flatMap(managedPolicies))).toEqual(
      new Set(Object.keys(MANAGED_POLICY_REASONS)),
    );
  });
});

describe('the walk itself', () => {
  const template = (properties: unknown): StackTemplate => ({
    Resources: { Made: { Type: 'AWS::Some::Thing', Properties: { deep: [properties] } } },
  });
  const walked = (properties: unknown) => statementsOf('stack', template(properties));

  it('finds documents at any depth, single statements, and documents that are text', () => {
    const statement = { Effect: 'Allow', Action: 's3:*', Resource: '*' };

    expect(walked({ Policy: { Statement: statement } })).toMatchObject([
      { actions: ['s3:*'], resources: ['*'] },
    ]);
    expect(
      walked({
        PolicyDocument: {
          'Fn::Join': [
            '',
            ['{"Statement":[{"Effect":"Allow","Action":["logs:*"],"Resource":"', { Ref: 'X' }, '"}]}'],
          ],
        },
      }),
    ).toMatchObject([{ where: 'stack/Made', actions: ['logs:*'], resources: [`\${X}`] }]);
  });

  it('sees what a statement leaves out, and who anybody is', () => {
    expect(
      walked({ Statement: [{ Effect: 'Allow', NotAction: 's3:GetObject', Resource: '*', Principal: '*' }] }),
    ).toMatchObject([{ negated: ['NotAction'], actions: [], principals: ['*'] }]);
    expect(
      walked({ Statement: [{ Effect: 'Allow', Action: 'a:B', Resource: 'r', Principal: { AWS: '*' } }] }),
    ).toMatchObject([{ principals: ['AWS:*'] }]);
  });
});

/** What the template of a network has, by the names that its stack gives. */
import { Template } from 'aws-cdk-lib/assertions';
import { type PolicyStatement, statementsOf, textOf } from './policy-statements.ts';
import { type Properties, type Resource, resourcesOf, templateOf, type VariantName } from './synthesize.ts';

export const network = (name: VariantName = 'production') => templateOf(name, 'network');
export const template = (name?: VariantName) => Template.fromJSON({ ...network(name) });
export const all = (type: string, name?: VariantName) => resourcesOf(network(name), `AWS::EC2::${type}`);

type Rule = Readonly<Record<string, unknown>>;

export const listOf = (properties: Properties | undefined, name: string): readonly unknown[] =>
  (properties?.[name] as unknown[] | undefined) ?? [];

/** `Sandboxes`, `Functions`, ... */
export function group(name: string, variant?: VariantName): Resource & { readonly id: string } {
  const found = all('SecurityGroup', variant).find(({ id }) =>
    new RegExp(`^Network${name}[0-9A-F]{8}$`).test(id),
  );
  if (found === undefined) throw new Error(`no security group ${name}`);
  return found;
}

export const rulesOf = (
  properties: Properties | undefined,
  direction: 'Ingress' | 'Egress',
): readonly Rule[] => listOf(properties, `SecurityGroup${direction}`) as Rule[];

/** Where a rule leads, and by which port. */
export const toText = (rule: Rule): string => {
  const peer = rule.CidrIp ?? rule.SourceSecurityGroupId ?? rule.DestinationPrefixListId;
  return `${textOf(peer)}:${rule.FromPort}-${rule.ToPort}/${rule.IpProtocol}`;
};

export const egressOf = (name: string): string[] => {
  const { id, Properties } = group(name);
  const apart = all('SecurityGroupEgress').filter(
    ({ Properties: rule }) => textOf(rule?.GroupId) === `\${${id}.GroupId}`,
  );
  return [...rulesOf(Properties, 'Egress'), ...apart.map((rule) => rule.Properties ?? {})].map(toText);
};

export const cidrsOf = (subnets: string): string[] =>
  all('Subnet')
    .filter(({ id }) => id.startsWith(`NetworkVpc${subnets}Subnet`))
    .map(({ Properties }) => String(Properties?.CidrBlock));

export const endpoint = (name: string) => {
  const found = all('VPCEndpoint').find(({ id }) => id.startsWith(name));
  if (found === undefined) throw new Error(`no endpoint ${name}`);
  return found;
};

export const policyOf = (name: string): PolicyStatement[] => {
  const { id } = endpoint(name);
  return statementsOf('network', network()).filter(({ where }) => where === `network/${id}`);
};

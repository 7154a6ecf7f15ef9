/** What a deployment costs while nobody uses it, from the resources in its templates. */
import * as z from 'zod';
import { costOf, HOURS_A_MONTH, type PriceName } from './list-prices.ts';
import { type PricedResource, resourcesOf } from './template.ts';

export interface RestingCost {
  readonly what: string;
  readonly count: number;
  /** In US dollars a month, for all of them. */
  readonly usd: number;
}

/** An amount of something priced, or nothing for a resource that costs nothing by being there. */
type Amount = readonly [what: string, name: PriceName, count: number, amount?: number];

const list = z.array(z.unknown());
const lengthOf = (value: unknown): number => list.catch([]).parse(value).length;

/** By resource type: what is paid for as long as it exists. */
const PRICED: Readonly<Record<string, (properties: PricedResource['properties']) => readonly Amount[]>> = {
  'AWS::EC2::VPCEndpoint': ({ VpcEndpointType, SubnetIds }) =>
    VpcEndpointType === 'Interface'
      ? [['Interface endpoints, in each zone', 'endpoint_hours', lengthOf(SubnetIds), HOURS_A_MONTH]]
      : [],
  'AWS::KMS::Key': () => [['Keys', 'keys', 1]],
  'AWS::CloudWatch::Dashboard': () => [['Dashboards', 'dashboards', 1]],
  'AWS::CloudWatch::Alarm': ({ Metrics }) => [['Alarms, by metric', 'alarms', alarmMetrics(Metrics)]],
  'AWS::Route53Resolver::FirewallDomainList': ({ Domains }) => [
    ['Domains of the DNS firewall', 'firewall_domains', lengthOf(Domains)],
  ],
  'AWS::WAFv2::WebACL': ({ Rules }) => [
    ['Web ACLs', 'web_acl', 1],
    ['Rules of web ACLs', 'web_acl_rules', lengthOf(Rules)],
  ],
};

/** Each metric that a formula reads counts; the formula itself does not. */
function alarmMetrics(metrics: unknown): number {
  const read = list
    .catch([])
    .parse(metrics)
    .filter((metric) => {
      const { MetricStat } = z.object({ MetricStat: z.unknown() }).partial().parse(metric);
      return MetricStat !== undefined;
    });
  return Math.max(1, read.length);
}

/** Cost nothing by being there: what they do is paid for by the call, the second or the byte, or not at all. */
const FREE_AT_REST: readonly RegExp[] = [
  /^AWS::IAM::/,
  /^AWS::Lambda::(Function|Permission|EventInvokeConfig)$/,
  /^AWS::Logs::(LogGroup|ResourcePolicy|MetricFilter)$/,
  /^AWS::ApiGateway::(RestApi|Resource|Method|Deployment|Stage|Account|GatewayResponse)$/,
  /^AWS::DynamoDB::Table$/,
  /^AWS::S3::(Bucket|BucketPolicy)$/,
  /^AWS::KMS::Alias$/,
  /^AWS::StepFunctions::StateMachine$/,
  /^AWS::ECS::(Cluster|TaskDefinition)$/,
  /^AWS::Events::Rule$/,
  /^AWS::SQS::(Queue|QueuePolicy)$/,
  /^AWS::SNS::(Topic|TopicPolicy|Subscription)$/,
  /^AWS::EC2::(VPC|Subnet|RouteTable|SubnetRouteTableAssociation|SecurityGroup|SecurityGroupEgress|FlowLog)$/,
  /^AWS::Route53Resolver::(FirewallRuleGroup|FirewallRuleGroupAssociation|FirewallConfig|ResolverQueryLoggingConfig|ResolverQueryLoggingConfigAssociation)$/,
  /^AWS::WAFv2::(WebACLAssociation|LoggingConfiguration)$/,
  /^Custom::/,
];

/**
 * One line for each kind of thing, in the order of PRICED.
 * @throws Error for a resource type that this file does not know: its price must be looked up first.
 */
export function priceAtRest(templates: readonly unknown[]): RestingCost[] {
  const lines = new Map<string, RestingCost>();
  for (const { type, id, properties } of resourcesOf(templates)) {
    const amounts = PRICED[type]?.(properties);
    if (amounts === undefined) {
      if (FREE_AT_REST.some((free) => free.test(type))) continue;
      throw new Error(`what does ${type} (${id}) cost? infra/price/price-at-rest.ts does not know it`);
    }
    for (const [what, name, count, amount = 1] of amounts) {
      const before = lines.get(what) ?? { what, count: 0, usd: 0 };
      lines.set(what, {
        what,
        count: before.count + count,
        usd: before.usd + costOf(name, count * amount),
      });
    }
  }
  return [...lines.values()].filter(({ count }) => count > 0).toSorted((a, b) => b.usd - a.usd);
}

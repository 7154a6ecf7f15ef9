import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as wafv2 from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';

export interface WebAclProps {
  readonly deployment: string;
  /** Of a stage of a REST API. */
  readonly stageArn: string;
  /** Its name begins with `aws-waf-logs-`, or WAF refuses it. */
  readonly logGroup: logs.LogGroup;
  /** Requests of one address in five minutes. */
  readonly requestsPerAddress: number;
}

type Rule = wafv2.CfnWebACL.RuleProperty;

/**
 * Skills are programs: scripts with `../`, markup, addresses of all kinds, up to 4 MiB at once. Rules that judge bodies
 * would refuse honest ones at random, so they only count. So do the one about extensions, because `?path=` names files of
 * a skill, and the one for clients without a user agent.
 */
const COUNTED = [
  'SizeRestrictions_BODY',
  'CrossSiteScripting_BODY',
  'GenericLFI_BODY',
  'GenericRFI_BODY',
  'EC2MetaDataSSRF_BODY',
  'RestrictedExtensions_QUERYARGUMENTS',
  'NoUserAgent_HEADER',
];

/** Everything of a request that may hold the scope, a signature or a session token. */
const REDACTED: wafv2.CfnLoggingConfiguration.FieldToMatchProperty[] = [
  { uriPath: {} },
  { queryString: {} },
  { singleHeader: { Name: 'authorization' } },
  { singleHeader: { Name: 'x-amz-security-token' } },
];

/** A firewall in front of the API: AWS's common rules, known bad addresses, and a rate for each address. */
export class WebAcl extends Construct {
  readonly acl: wafv2.CfnWebACL;

  constructor(scope: Construct, id: string, props: WebAclProps) {
    super(scope, id);
    this.acl = new wafv2.CfnWebACL(this, 'Acl', {
      name: props.deployment,
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility(`${props.deployment}-waf`),
      rules: [
        rateRule(props.requestsPerAddress),
        managedRule(1, 'AWSManagedRulesAmazonIpReputationList'),
        managedRule(2, 'AWSManagedRulesCommonRuleSet', COUNTED),
      ],
    });
    new wafv2.CfnWebACLAssociation(this, 'Association', {
      resourceArn: props.stageArn,
      webAclArn: this.acl.attrArn,
    });
    this.#log(props.logGroup);
  }

  #log(logGroup: logs.LogGroup): void {
    const { account, region, partition } = Stack.of(this);
    const allowed = new logs.ResourcePolicy(this, 'LogPolicy', {
      policyStatements: [
        new iam.PolicyStatement({
          principals: [new iam.ServicePrincipal('delivery.logs.amazonaws.com')],
          actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          resources: [logGroup.logGroupArn],
          conditions: {
            StringEquals: { 'aws:SourceAccount': account },
            ArnLike: { 'aws:SourceArn': `arn:${partition}:logs:${region}:${account}:*` },
          },
        }),
      ],
    });
    const logging = new wafv2.CfnLoggingConfiguration(this, 'Logging', {
      resourceArn: this.acl.attrArn,
      // WAF takes the group's ARN without the `:*` that CloudFormation gives.
      logDestinationConfigs: [
        `arn:${partition}:logs:${region}:${account}:log-group:${logGroup.logGroupName}`,
      ],
      redactedFields: REDACTED,
    });
    logging.node.addDependency(allowed);
  }
}

/** Samples would show the path of whole requests in the console. */
const visibility = (metricName: string): wafv2.CfnWebACL.VisibilityConfigProperty => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
});

const rateRule = (limit: number): Rule => ({
  name: 'rate',
  priority: 0,
  action: { block: {} },
  statement: { rateBasedStatement: { limit, aggregateKeyType: 'IP', evaluationWindowSec: 300 } },
  visibilityConfig: visibility('rate'),
});

const managedRule = (priority: number, name: string, counted: readonly string[] = []): Rule => ({
  name,
  priority,
  overrideAction: { none: {} },
  statement: {
    managedRuleGroupStatement: {
      vendorName: 'AWS',
      name,
      ...(counted.length === 0
        ? {}
        : { ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })) }),
    },
  },
  visibilityConfig: visibility(name),
});

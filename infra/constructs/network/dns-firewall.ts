import type * as logs from 'aws-cdk-lib/aws-logs';
import * as resolver from 'aws-cdk-lib/aws-route53resolver';
import { Construct } from 'constructs';

export interface DnsFirewallProps {
  readonly deployment: string;
  readonly vpcId: string;
  /** Exact names: a wildcard below a name is a channel for whoever reads the queries for it. */
  readonly names: readonly string[];
  readonly queryLogs: logs.ILogGroup;
}

/**
 * Lets the given names be resolved and answers every other question with "no such name"; if the firewall itself cannot
 * be asked, nothing is resolved. A query is a message to whoever runs the name's server, so without this a sandbox that
 * has no route out still has a way out.
 */
export class DnsFirewall extends Construct {
  constructor(scope: Construct, id: string, props: DnsFirewallProps) {
    super(scope, id);
    const { deployment, vpcId } = props;
    const list = (name: string, domains: string[]): string =>
      new resolver.CfnFirewallDomainList(this, name, { domains, name: `${deployment}-${name.toLowerCase()}` })
        .attrId;
    const rules = new resolver.CfnFirewallRuleGroup(this, 'Rules', {
      name: deployment,
      firewallRules: [
        {
          action: 'ALLOW',
          firewallDomainListId: list('Allowed', [...props.names]),
          // Names of AWS lead to others of AWS, which change.
          firewallDomainRedirectionAction: 'TRUST_REDIRECTION_DOMAIN',
          priority: 100,
        },
        {
          action: 'BLOCK',
          blockResponse: 'NXDOMAIN',
          firewallDomainListId: list('Everything', ['*']),
          priority: 200,
        },
      ],
    });
    new resolver.CfnFirewallRuleGroupAssociation(this, 'Association', {
      firewallRuleGroupId: rules.attrId,
      name: deployment,
      priority: 101,
      vpcId,
    });
    new resolver.CfnFirewallConfig(this, 'Config', { resourceId: vpcId, firewallFailOpen: 'DISABLED' });
    this.#log(props);
  }

  #log({ deployment, vpcId, queryLogs }: DnsFirewallProps): void {
    const config = new resolver.CfnResolverQueryLoggingConfig(this, 'QueryLogging', {
      name: deployment,
      destinationArn: queryLogs.logGroupArn,
    });
    new resolver.CfnResolverQueryLoggingConfigAssociation(this, 'QueryLoggingAssociation', {
      resolverQueryLogConfigId: config.attrId,
      resourceId: vpcId,
    });
  }
}

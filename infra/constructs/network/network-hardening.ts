import { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { DeploymentSettings } from '../../../shared/contracts/deployment-settings.ts';
import { acknowledge, OWN_INLINE_POLICY } from '../acknowledge.ts';
import { EncryptedLogGroup } from '../encrypted-log-group.ts';
import { DnsFirewall } from './dns-firewall.ts';

export interface NetworkHardeningProps {
  readonly vpc: ec2.IVpc;
  readonly settings: DeploymentSettings;
  readonly encryptionKey: kms.IKey;
  /** The only names that can be resolved. */
  readonly names: readonly string[];
}

/** What security groups cannot do: names, which are asked for through the VPC's own resolver, and a record of it all. */
export class NetworkHardening extends Construct {
  /** One line for each name that was asked for. */
  readonly queryLogs: logs.LogGroup;

  constructor(scope: Construct, id: string, props: NetworkHardeningProps) {
    super(scope, id);
    const { vpc, settings, encryptionKey } = props;
    const { deployment } = settings;
    const logGroup = (name: string, logGroupName: string): logs.LogGroup =>
      new EncryptedLogGroup(this, name, { logGroupName, settings, encryptionKey });
    this.queryLogs = logGroup('QueryLogs', `/aws/vendedlogs/route53resolver/${deployment}`);
    new DnsFirewall(this, 'DnsFirewall', {
      deployment,
      vpcId: vpc.vpcId,
      names: props.names,
      queryLogs: this.queryLogs,
    });
    const flows = logGroup('FlowLogs', `/cognition/${deployment}/flows`);
    new ec2.FlowLog(this, 'Flows', {
      resourceType: ec2.FlowLogResourceType.fromVpc(vpc),
      trafficType: ec2.FlowLogTrafficType.ALL,
      destination: ec2.FlowLogDestination.toCloudWatchLogs(flows, this.#flowRole()),
    });
  }

  #flowRole(): iam.Role {
    const role = new iam.Role(this, 'FlowRole', {
      assumedBy: new iam.ServicePrincipal('vpc-flow-logs.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
      description: 'Writes the flow log of the network',
    });
    acknowledge(role, OWN_INLINE_POLICY);
    return role;
  }
}

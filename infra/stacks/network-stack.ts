import { Fn, Stack, type StackProps } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../../shared/contracts/deployment-settings.ts';
import { asInterface } from '../constructs/as-interface.ts';

export interface NetworkStackProps extends StackProps {
  readonly settings: DeploymentSettings;
}

/** A VPC without a way out: sandboxes and the functions that reach them, in subnets of their own. */
export class NetworkStack extends Stack {
  readonly vpc: ec2.IVpc;
  readonly sandboxSubnets: ec2.ISubnet[];
  readonly functionSubnets: ec2.ISubnet[];
  readonly sandboxSecurityGroup: ec2.SecurityGroup;
  readonly functionSecurityGroup: ec2.SecurityGroup;
  /** Every DNS query and what the firewall made of it; undefined where there is no firewall. */
  readonly queryLogs: logs.ILogGroup | undefined;
  readonly #zones: number;

  constructor(scope: Construct, id: string, props: NetworkStackProps) {
    super(scope, id, props);
    this.queryLogs = undefined;
    this.#zones = props.settings.availability_zones;
    const { PRIVATE_ISOLATED: subnetType } = ec2.SubnetType;
    const vpc = new ec2.Vpc(this, 'Vpc', {
      maxAzs: this.#zones,
      natGateways: 0,
      createInternetGateway: false,
      subnetConfiguration: [
        { name: 'sandboxes', subnetType, cidrMask: 20 },
        { name: 'functions', subnetType, cidrMask: 24 },
      ],
    });
    this.vpc = asInterface(vpc);
    this.sandboxSubnets = this.vpc.selectSubnets({ subnetGroupName: 'sandboxes' }).subnets;
    this.functionSubnets = this.vpc.selectSubnets({ subnetGroupName: 'functions' }).subnets;
    const group = (name: string) =>
      new ec2.SecurityGroup(this, name, { vpc: this.vpc, allowAllOutbound: false });
    this.sandboxSecurityGroup = group('SandboxGroup');
    this.functionSecurityGroup = group('FunctionGroup');
  }

  /** Found at deployment: a look-up would need credentials at synth, and bundle everything twice. */
  override get availabilityZones(): string[] {
    return Array.from({ length: this.#zones }, (_, index) => Fn.select(index, Fn.getAzs()));
  }
}

import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import { SANDBOX_PORT } from '../../../shared/contracts/daemon.ts';
import { acknowledge } from '../acknowledge.ts';
import { asInterface } from '../as-interface.ts';

export interface ClosedVpcProps {
  /** In the description of each group. */
  readonly deployment: string;
  readonly zones: number;
  /** Whether the group that a VPC comes with is emptied, by a function of the CDK. False in the form for emulators. */
  readonly closeDefaultGroup: boolean;
}

/** As many as the settings allow. */
const ZONES_MAX = 4;
const IN_EMULATORS = {
  'AwsSolutions-VPC7': 'Emulators have no flow logs, and no traffic that these could show.',
  'NIST.800.53.R5-VPCFlowLogsEnabled': 'Emulators have no flow logs, and no traffic that these could show.',
  'NIST.800.53.R5-VPCDefaultSecurityGroupClosed':
    'Emulators hold nothing to the rules of groups, and it takes a function to empty this one.',
};

const HTTPS = ec2.Port.tcp(443);

/**
 * A VPC without a gateway of any kind to the internet. Sandboxes, the functions that reach them and the endpoints of AWS
 * services are each in subnets of their own, with route tables of their own.
 *
 * Rules of groups name another group on one side only, and the subnets' ranges on the other: two groups that name each
 * other could not be made in one go.
 */
export class ClosedVpc extends Construct {
  readonly vpc: ec2.IVpc;
  readonly sandboxSubnets: ec2.ISubnet[];
  readonly functionSubnets: ec2.ISubnet[];
  readonly endpointSubnets: ec2.ISubnet[];
  readonly sandboxGroup: ec2.SecurityGroup;
  readonly functionGroup: ec2.SecurityGroup;
  /** Of the endpoints that only sandboxes reach, and of those that only functions reach. */
  readonly sandboxEndpointGroup: ec2.SecurityGroup;
  readonly functionEndpointGroup: ec2.SecurityGroup;
  readonly #deployment: string;

  constructor(scope: Construct, id: string, props: ClosedVpcProps) {
    super(scope, id);
    this.#deployment = props.deployment;
    const subnetType = ec2.SubnetType.PRIVATE_ISOLATED;
    const vpc = new ec2.Vpc(this, 'Vpc', {
      vpcName: props.deployment,
      ipAddresses: ec2.IpAddresses.cidr('10.0.0.0/16'),
      maxAzs: props.zones,
      // Ranges stay where they are when zones are added later.
      reservedAzs: ZONES_MAX - props.zones,
      natGateways: 0,
      createInternetGateway: false,
      restrictDefaultSecurityGroup: props.closeDefaultGroup,
      // A task has an address of its own, so the first range bounds how many there can be in a zone.
      subnetConfiguration: [
        { name: 'sandboxes', subnetType, cidrMask: 20 },
        { name: 'functions', subnetType, cidrMask: 24 },
        { name: 'endpoints', subnetType, cidrMask: 28 },
      ],
    });
    if (!props.closeDefaultGroup) acknowledge(vpc, IN_EMULATORS);
    this.vpc = asInterface(vpc);
    const subnets = (subnetGroupName: string) => this.vpc.selectSubnets({ subnetGroupName }).subnets;
    this.sandboxSubnets = subnets('sandboxes');
    this.functionSubnets = subnets('functions');
    this.endpointSubnets = subnets('endpoints');
    this.sandboxGroup = this.#group('Sandboxes', 'sandboxes');
    this.functionGroup = this.#group('Functions', 'functions that reach sandboxes');
    this.sandboxEndpointGroup = this.#group('SandboxEndpoints', 'endpoints that Fargate needs');
    this.functionEndpointGroup = this.#group('FunctionEndpoints', 'endpoints that functions need');
    this.#connect();
  }

  /** AWS services behind gateway endpoints, by their prefix lists. Only routes of the subnets lead there. */
  reachGateways(group: ec2.SecurityGroup, services: ReadonlyMap<string, ec2.IPeer>): void {
    for (const [service, peer] of services) group.addEgressRule(peer, HTTPS, `${service} by its endpoint`);
  }

  #group(id: string, what: string): ec2.SecurityGroup {
    return new ec2.SecurityGroup(this, id, {
      vpc: this.vpc,
      description: `${this.#deployment}: ${what}`,
      allowAllOutbound: false,
    });
  }

  #connect(): void {
    const { sandboxGroup, functionGroup, sandboxEndpointGroup, functionEndpointGroup } = this;
    const daemon = ec2.Port.tcp(SANDBOX_PORT);
    sandboxGroup.addIngressRule(peer(functionGroup), daemon, 'calls of functions to the daemon');
    for (const { ipv4CidrBlock } of this.sandboxSubnets) {
      functionGroup.addEgressRule(ec2.Peer.ipv4(ipv4CidrBlock), daemon, 'daemons of sandboxes');
    }
    sandboxEndpointGroup.addIngressRule(peer(sandboxGroup), HTTPS, 'start of sandboxes');
    functionEndpointGroup.addIngressRule(peer(functionGroup), HTTPS, 'calls of functions');
    for (const { ipv4CidrBlock } of this.endpointSubnets) {
      const endpoints = ec2.Peer.ipv4(ipv4CidrBlock);
      sandboxGroup.addEgressRule(endpoints, HTTPS, 'endpoints that Fargate needs');
      functionGroup.addEgressRule(endpoints, HTTPS, 'endpoints that functions need');
    }
  }
}

/** By its id, so that the rule is part of the group and no resource of its own. */
const peer = (group: ec2.SecurityGroup): ec2.IPeer => ec2.Peer.securityGroupId(group.securityGroupId);

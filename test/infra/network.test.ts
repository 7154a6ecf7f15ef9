import { describe, expect, it } from 'vitest';
import { SANDBOX_PORT } from '../../shared/contracts/daemon.ts';
import {
  all,
  cidrsOf,
  egressOf,
  group,
  network,
  rulesOf,
  template,
  toText,
} from './support/network-template.ts';
import { textOf } from './support/policy-statements.ts';
import {
  resourcesOf,
  settingsOf,
  synthesize,
  VARIANT_NAMES,
  type VariantName,
} from './support/synthesize.ts';

describe.each(VARIANT_NAMES)('the network of %s', (name) => {
  it('has no way to the internet', () => {
    for (const type of [
      'InternetGateway',
      'NatGateway',
      'EgressOnlyInternetGateway',
      'VPNGateway',
      'Route',
    ]) {
      expect(all(type, name), type).toEqual([]);
    }
    for (const { Properties } of all('Subnet', name)) {
      expect(Properties?.MapPublicIpOnLaunch).toBe(false);
    }
  });

  it('gives each subnet a route table of its own', () => {
    const tables = all('SubnetRouteTableAssociation', name).map(({ Properties }) =>
      textOf(Properties?.RouteTableId),
    );

    expect(new Set(tables).size).toBe(tables.length);
    expect(tables).toHaveLength(all('Subnet', name).length);
  });
});

describe('subnets', () => {
  it('are in as many zones as the settings say, found at deployment', () => {
    const zones = (variant: VariantName) =>
      new Set(all('Subnet', variant).map(({ Properties }) => JSON.stringify(Properties?.AvailabilityZone)));

    expect([...zones('production')]).toEqual(
      [0, 1].map((zone) => `{"Fn::Select":[${zone},{"Fn::GetAZs":""}]}`),
    );
    expect(zones('everything').size).toBe(3);
  });

  it('stay where they are when a zone is added', () => {
    const rangesOf = (zones: string): string[] => {
      const { templates } = synthesize(settingsOf({ environment: { COGNITION_AVAILABILITY_ZONES: zones } }));
      const made = templates.get('network');
      return made === undefined
        ? []
        : resourcesOf(made, 'AWS::EC2::Subnet').map(({ id, Properties }) => `${id} ${Properties?.CidrBlock}`);
    };

    const [one, four] = [rangesOf('1'), rangesOf('4')];

    expect(one).toHaveLength(3);
    expect(four).toHaveLength(12);
    expect(four).toEqual(expect.arrayContaining(one));
  });
});

describe('security groups', () => {
  it('let functions reach the daemon, and sandboxes reach what Fargate needs', () => {
    const daemon = `${SANDBOX_PORT}-${SANDBOX_PORT}/tcp`;
    const s3 = expect.stringMatching(/^\$\{PrefixListsS3.*PrefixLists\.0\.PrefixListId}:443-443\/tcp$/);
    const dynamodb = expect.stringMatching(/^\$\{PrefixListsDynamoDb.*PrefixListId}:443-443\/tcp$/);
    const endpoints = cidrsOf('endpoints').map((cidr) => `${cidr}:443-443/tcp`);

    expect(egressOf('Sandboxes')).toEqual([...endpoints, s3]);
    expect(rulesOf(group('Sandboxes').Properties, 'Ingress').map(toText)).toEqual([
      `\${${group('Functions').id}.GroupId}:${daemon}`,
    ]);
    expect(egressOf('Functions')).toEqual([
      ...cidrsOf('sandboxes').map((cidr) => `${cidr}:${daemon}`),
      ...endpoints,
      s3,
      dynamodb,
    ]);
    expect(rulesOf(group('Functions').Properties, 'Ingress')).toEqual([]);
  });

  it('let only sandboxes to the endpoints of sandboxes, and only functions to those of functions', () => {
    for (const [endpoints, callers] of [
      ['SandboxEndpoints', 'Sandboxes'],
      ['FunctionEndpoints', 'Functions'],
    ] as const) {
      const { Properties } = group(endpoints);
      expect(rulesOf(Properties, 'Ingress').map(toText)).toEqual([
        `\${${group(callers).id}.GroupId}:443-443/tcp`,
      ]);
      // How CloudFormation is told "nothing".
      expect(rulesOf(Properties, 'Egress').map(toText)).toEqual(['255.255.255.255/32:252-86/icmp']);
    }
  });

  it('leave the one that comes with the VPC empty', () => {
    template().resourceCountIs('Custom::VpcRestrictDefaultSG', 1);
  });
});

describe('the form for emulators', () => {
  it('has nothing that emulators do not know', () => {
    const types = new Set(Object.values(network('emulator').Resources).map(({ Type }) => Type));

    expect([...types].filter((type) => !PORTABLE.has(type))).toEqual([]);
  });

  const PORTABLE = new Set([
    'AWS::EC2::VPC',
    'AWS::EC2::Subnet',
    'AWS::EC2::RouteTable',
    'AWS::EC2::SubnetRouteTableAssociation',
    'AWS::EC2::SecurityGroup',
    'AWS::EC2::VPCEndpoint',
  ]);
});

import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { SANDBOX_PORT } from '../../shared/contracts/daemon.ts';
import { type PolicyStatement, statementsOf, textOf } from './support/policy-statements.ts';
import {
  type Properties,
  type Resource,
  resourcesOf,
  settingsOf,
  synthesize,
  templateOf,
  VARIANT_NAMES,
  type VariantName,
} from './support/synthesize.ts';

const network = (name: VariantName = 'production') => templateOf(name, 'network');
const template = (name?: VariantName) => Template.fromJSON({ ...network(name) });
const all = (type: string, name?: VariantName) => resourcesOf(network(name), `AWS::EC2::${type}`);

type Rule = Readonly<Record<string, unknown>>;

const listOf = (properties: Properties | undefined, name: string): readonly unknown[] =>
  (properties?.[name] as unknown[] | undefined) ?? [];

/** `Sandboxes`, `Functions`, ... */
function group(name: string, variant?: VariantName): Resource & { readonly id: string } {
  const found = all('SecurityGroup', variant).find(({ id }) =>
    new RegExp(`^Network${name}[0-9A-F]{8}$`).test(id),
  );
  if (found === undefined) throw new Error(`no security group ${name}`);
  return found;
}

const rulesOf = (properties: Properties | undefined, direction: 'Ingress' | 'Egress'): readonly Rule[] =>
  listOf(properties, `SecurityGroup${direction}`) as Rule[];

/** Where a rule leads, and by which port. */
const toText = (rule: Rule): string => {
  const peer = rule.CidrIp ?? rule.SourceSecurityGroupId ?? rule.DestinationPrefixListId;
  return `${textOf(peer)}:${rule.FromPort}-${rule.ToPort}/${rule.IpProtocol}`;
};

const egressOf = (name: string): string[] => {
  const { id, Properties } = group(name);
  const apart = all('SecurityGroupEgress').filter(
    ({ Properties: rule }) => textOf(rule?.GroupId) === `\${${id}.GroupId}`,
  );
  return [...rulesOf(Properties, 'Egress'), ...apart.map((rule) => rule.Properties ?? {})].map(toText);
};

const cidrsOf = (subnets: string): string[] =>
  all('Subnet')
    .filter(({ id }) => id.startsWith(`NetworkVpc${subnets}Subnet`))
    .map(({ Properties }) => String(Properties?.CidrBlock));

const endpoint = (name: string) => {
  const found = all('VPCEndpoint').find(({ id }) => id.startsWith(name));
  if (found === undefined) throw new Error(`no endpoint ${name}`);
  return found;
};

const policyOf = (name: string): PolicyStatement[] => {
  const { id } = endpoint(name);
  return statementsOf('network', network()).filter(({ where }) => where === `network/${id}`);
};

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

describe('endpoints', () => {
  it('are those that are needed and no more', () => {
    const made = all('VPCEndpoint').map(({ Properties }) => [
      textOf(Properties?.ServiceName).replace(/^com\.amazonaws\.\$\{AWS::Region}\./, ''),
      Properties?.VpcEndpointType,
    ]);

    expect(made.toSorted()).toEqual(
      [
        ['ecr.api', 'Interface'],
        ['ecr.dkr', 'Interface'],
        ['logs', 'Interface'],
        ['s3', 'Gateway'],
        ['s3', 'Gateway'],
        ['dynamodb', 'Gateway'],
        ['ecs', 'Interface'],
      ].toSorted(),
    );
  });

  it.each([
    ['SandboxEndpointsEcrApi', 'SandboxEndpoints'],
    ['SandboxEndpointsEcrDocker', 'SandboxEndpoints'],
    ['SandboxEndpointsLogs', 'SandboxEndpoints'],
    ['FunctionEndpointsEcs', 'FunctionEndpoints'],
  ])('%s are behind the group %s', (name, groupName) => {
    const { Properties } = endpoint(name);

    expect(Properties).toMatchObject({
      PrivateDnsEnabled: true,
      SecurityGroupIds: [{ 'Fn::GetAtt': [group(groupName).id, 'GroupId'] }],
    });
    for (const subnet of listOf(Properties, 'SubnetIds')) {
      expect(textOf(subnet)).toMatch(/^\$\{NetworkVpcendpointsSubnet/);
    }
  });

  it.each([
    ['SandboxEndpointsLayers', 'sandboxes'],
    ['FunctionEndpointsTable', 'functions'],
    ['FunctionEndpointsBuckets', 'functions'],
  ])('%s are in the routes of %s alone', (name, subnets) => {
    const tables = listOf(endpoint(name).Properties, 'RouteTableIds').map(textOf);

    expect(tables).toHaveLength(2);
    for (const table of tables) expect(table).toContain(`{NetworkVpc${subnets}Subnet`);
  });

  it('give sandboxes the layers of images, and no other object of anybody', () => {
    expect(policyOf('SandboxEndpointsLayers')).toMatchObject([
      {
        effect: 'Allow',
        actions: ['s3:GetObject'],
        resources: [`arn:\${AWS::Partition}:s3:::prod-\${AWS::Region}-starport-layer-bucket/*`],
      },
    ]);
  });

  it('give the execution role one repository and one log group', () => {
    const role = `\${cognition-sandbox:PublishOutputFnGetAttExecutionRole`;
    const statements = ['EcrApi', 'EcrDocker', 'Logs'].flatMap((name) => policyOf(`SandboxEndpoints${name}`));

    for (const { conditions } of statements) {
      const { ArnEquals, ...others } = conditions as { ArnEquals: Record<string, unknown> };
      expect(others).toEqual({});
      expect(textOf(ArnEquals['aws:PrincipalArn'])).toContain(role);
    }
    const resources = new Map(
      statements.flatMap(({ actions, resources }) => actions.map((action) => [action, resources])),
    );
    expect(Object.fromEntries(resources)).toEqual({
      'ecr:GetAuthorizationToken': ['*'],
      'ecr:BatchCheckLayerAvailability': [expect.stringMatching(/:repository\/sandbox$/)],
      'ecr:BatchGetImage': [expect.stringMatching(/:repository\/sandbox$/)],
      'ecr:GetDownloadUrlForLayer': [expect.stringMatching(/:repository\/sandbox$/)],
      'logs:CreateLogStream': [expect.stringContaining('Logs')],
      'logs:PutLogEvents': [expect.stringContaining('Logs')],
    });
  });

  it('give functions the table, the buckets and the tasks of the deployment, as principals of its account', () => {
    const statements = ['Table', 'Buckets', 'Ecs'].flatMap((name) => policyOf(`FunctionEndpoints${name}`));

    for (const { conditions } of statements) {
      expect(conditions).toMatchObject({
        StringEquals: { 'aws:PrincipalAccount': { Ref: 'AWS::AccountId' } },
      });
    }
    expect(new Set(statements.flatMap(({ actions }) => actions))).toEqual(
      new Set([
        'dynamodb:ConditionCheckItem',
        'dynamodb:DeleteItem',
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        'dynamodb:Query',
        's3:GetObject',
        's3:PutObject',
        's3:ListBucket',
        'ecs:RunTask',
        'ecs:TagResource',
        'ecs:DescribeTasks',
        'ecs:StopTask',
      ]),
    );
    expect(statements.flatMap(({ resources }) => resources)).not.toContain('*');
  });
});

describe('names', () => {
  const domains = (id: string): unknown =>
    resourcesOf(network(), 'AWS::Route53Resolver::FirewallDomainList').find((list) =>
      list.id.startsWith(`HardeningDnsFirewall${id}`),
    )?.Properties?.Domains;

  it('are those of the endpoints, each in full: a wildcard would be a channel', () => {
    const names = (domains('Allowed') as unknown[]).map(textOf);

    expect(names.filter((name) => name.includes('*'))).toEqual([]);
    expect(names).toEqual([
      ...['api.ecr', 'dynamodb', 'ecs', 'logs'].map(
        (service) => `${service}.\${AWS::Region}.\${AWS::URLSuffix}`,
      ),
      '111122223333.dkr.ecr.eu-central-1.amazonaws.com',
      `prod-\${AWS::Region}-starport-layer-bucket.s3.\${AWS::Region}.\${AWS::URLSuffix}`,
      expect.stringMatching(/Artifacts\w+}\.s3\.\$\{AWS::Region}\.\$\{AWS::URLSuffix}$/),
      expect.stringMatching(/Packages\w+}\.s3\.\$\{AWS::Region}\.\$\{AWS::URLSuffix}$/),
      `s3.\${AWS::Region}.\${AWS::URLSuffix}`,
    ]);
  });

  it('are resolved first, and everything else is answered with "no such name"', () => {
    expect(domains('Everything')).toEqual(['*']);
    template().hasResourceProperties('AWS::Route53Resolver::FirewallRuleGroup', {
      FirewallRules: [
        {
          Action: 'ALLOW',
          Priority: 100,
          FirewallDomainListId: { 'Fn::GetAtt': [Match.stringLikeRegexp('DnsFirewallAllowed'), 'Id'] },
          FirewallDomainRedirectionAction: 'TRUST_REDIRECTION_DOMAIN',
        },
        {
          Action: 'BLOCK',
          Priority: 200,
          BlockResponse: 'NXDOMAIN',
          FirewallDomainListId: { 'Fn::GetAtt': [Match.stringLikeRegexp('DnsFirewallEverything'), 'Id'] },
        },
      ],
    });
  });

  it('are not resolved at all where the firewall cannot be asked', () => {
    const [vpc] = all('VPC');
    const VpcId = { 'Fn::GetAtt': [vpc?.id, 'VpcId'] };
    const byRef = { Ref: vpc?.id };

    template().hasResourceProperties('AWS::Route53Resolver::FirewallConfig', {
      FirewallFailOpen: 'DISABLED',
      ResourceId: Match.anyValue(),
    });
    const [config] = resourcesOf(network(), 'AWS::Route53Resolver::FirewallConfig');
    const [association] = resourcesOf(network(), 'AWS::Route53Resolver::FirewallRuleGroupAssociation');
    expect([VpcId, byRef]).toContainEqual(config?.Properties?.ResourceId);
    expect([VpcId, byRef]).toContainEqual(association?.Properties?.VpcId);
  });

  it('are logged with who asked, and so are flows, both encrypted', () => {
    for (const LogGroupName of ['/aws/vendedlogs/route53resolver/cognition', '/cognition/cognition/flows']) {
      template().hasResourceProperties('AWS::Logs::LogGroup', {
        LogGroupName,
        KmsKeyId: Match.anyValue(),
        RetentionInDays: 90,
      });
    }
    template().resourceCountIs('AWS::Route53Resolver::ResolverQueryLoggingConfigAssociation', 1);
    template().hasResourceProperties('AWS::EC2::FlowLog', { ResourceType: 'VPC', TrafficType: 'ALL' });
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

import { describe, expect, it } from 'vitest';
import { all, endpoint, group, listOf, policyOf } from './support/network-template.ts';
import { textOf } from './support/policy-statements.ts';

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

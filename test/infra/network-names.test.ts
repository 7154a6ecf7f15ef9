import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { all, network, template } from './support/network-template.ts';
import { textOf } from './support/policy-statements.ts';
import { resourcesOf } from './support/synthesize.ts';

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

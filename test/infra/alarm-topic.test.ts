import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { statementsOf, textOf } from './support/policy-statements.ts';
import { resourcesOf, templateOf, type VariantName } from './support/synthesize.ts';

describe('the topic', () => {
  const template = templateOf('everything', 'observability');

  it('is encrypted with the key of the deployment, refuses plain HTTP, and hears of its own alarms only', () => {
    Template.fromJSON({ ...template }).hasResourceProperties('AWS::SNS::Topic', {
      TopicName: 'cognition-alarms',
    });
    expect(resourcesOf(template, 'AWS::SNS::Topic')[0]?.Properties?.KmsMasterKeyId).toBeDefined();
    const statements = statementsOf('observability', template).filter(
      ({ type }) => type === 'AWS::SNS::TopicPolicy',
    );

    expect(statements.map(({ effect }) => effect).toSorted()).toEqual(['Allow', 'Deny']);
    const admitted = statements.find(({ effect }) => effect === 'Allow');
    expect(admitted).toMatchObject({
      actions: ['sns:Publish'],
      principals: ['Service:cloudwatch.amazonaws.com'],
    });
    expect(textOf(admitted?.conditions)).toMatch(/ArnLike.*:cloudwatch:.*:alarm:cognition-\*/);
  });

  it('may use the key in the name of CloudWatch', () => {
    const uses = statementsOf('storage', templateOf('everything', 'storage')).filter(({ principals }) =>
      principals.includes('Service:cloudwatch.amazonaws.com'),
    );

    expect(uses).toMatchObject([{ effect: 'Allow', actions: ['kms:Decrypt', 'kms:GenerateDataKey'] }]);
  });

  it('writes mail by a setting only', () => {
    const subscriptions = (name: VariantName) =>
      resourcesOf(templateOf(name, 'observability'), 'AWS::SNS::Subscription').map(
        ({ Properties }) => Properties,
      );

    expect(subscriptions('everything')).toMatchObject([
      { Protocol: 'email', Endpoint: 'operators@example.com' },
    ]);
    expect(subscriptions('production')).toEqual([]);
  });
});

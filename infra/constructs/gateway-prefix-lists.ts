import { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as logs from 'aws-cdk-lib/aws-logs';
import * as cr from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';

export interface GatewayPrefixListsProps {
  /** Of the function that looks them up. */
  readonly logGroup: logs.ILogGroup;
}

/**
 * The addresses of S3 and DynamoDB in the Region, for rules of security groups. AWS keeps each as a list under an id
 * that differs from Region to Region and that only a look-up tells.
 */
export class GatewayPrefixLists extends Construct {
  readonly s3: ec2.IPeer;
  readonly dynamodb: ec2.IPeer;

  constructor(scope: Construct, id: string, props: GatewayPrefixListsProps) {
    super(scope, id);
    this.s3 = this.#lookUp('S3', 's3', props);
    this.dynamodb = this.#lookUp('DynamoDb', 'dynamodb', props);
  }

  #lookUp(id: string, service: string, { logGroup }: GatewayPrefixListsProps): ec2.IPeer {
    const name = `com.amazonaws.${Stack.of(this).region}.${service}`;
    const found = new cr.AwsCustomResource(this, id, {
      resourceType: 'Custom::PrefixList',
      onUpdate: {
        service: 'EC2',
        action: 'DescribeManagedPrefixLists',
        parameters: { Filters: [{ Name: 'prefix-list-name', Values: [name] }] },
        physicalResourceId: cr.PhysicalResourceId.of(service),
        outputPaths: ['PrefixLists.0.PrefixListId'],
      },
      policy: cr.AwsCustomResourcePolicy.fromStatements([
        // Descriptions have no resources in EC2.
        new iam.PolicyStatement({ actions: ['ec2:DescribeManagedPrefixLists'], resources: ['*'] }),
      ]),
      installLatestAwsSdk: false,
      logGroup,
    });
    return ec2.Peer.prefixList(found.getResponseField('PrefixLists.0.PrefixListId'));
  }
}

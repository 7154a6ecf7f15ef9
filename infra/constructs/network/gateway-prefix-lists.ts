import { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { LookUp } from '../look-up.ts';

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
    const found = new LookUp(this, id, {
      resourceType: 'Custom::PrefixList',
      call: { service: 'EC2', action: 'DescribeManagedPrefixLists' },
      parameters: { Filters: [{ Name: 'prefix-list-name', Values: [name] }] },
      path: 'PrefixLists.0.PrefixListId',
      of: service,
      // Descriptions have no resources in EC2.
      permission: { action: 'ec2:DescribeManagedPrefixLists', resource: '*' },
      logGroup,
    });
    return ec2.Peer.prefixList(found.value);
  }
}

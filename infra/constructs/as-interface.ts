import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as s3 from 'aws-cdk-lib/aws-s3';

/**
 * Some classes of the CDK do not fit their own interfaces where an optional property may be left out but not be
 * undefined. They do where they are used, since none of it asks whether a property is there.
 */
export function asInterface(made: ec2.Vpc): ec2.IVpc;
export function asInterface(made: s3.Bucket): s3.IBucket;
export function asInterface(made: unknown): unknown {
  return made;
}

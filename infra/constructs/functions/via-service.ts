import type { Stack } from 'aws-cdk-lib';
import type * as iam from 'aws-cdk-lib/aws-iam';

/** A key, but only as that service uses it. */
export const via = (stack: Stack, service: string): iam.Conditions => ({
  StringEquals: { 'kms:ViaService': `${service}.${stack.region}.amazonaws.com` },
});

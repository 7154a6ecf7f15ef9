import { type IAspect, Stack } from 'aws-cdk-lib';
import * as s3 from 'aws-cdk-lib/aws-s3';
import type { IConstruct } from 'constructs';
import * as z from 'zod';

/** What the function calls: it denies writes to the bucket, then lists and deletes what is in it. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  's3:DeleteObject*': ['s3:DeleteObject', 's3:DeleteObjectVersion'],
  's3:GetBucket*': ['s3:GetBucketPolicy', 's3:GetBucketTagging'],
  's3:List*': ['s3:ListBucketVersions'],
};

const documentSchema = z.looseObject({
  Statement: z.array(z.looseObject({ Action: z.union([z.string(), z.array(z.string())]) })),
});

/**
 * The CDK's function that empties a bucket before it is deleted is granted actions with wildcards; these become the
 * ones that it calls.
 */
export class NarrowEmptying implements IAspect {
  visit(node: IConstruct): void {
    if (!(node instanceof s3.CfnBucketPolicy)) return;
    const document = documentSchema.parse(Stack.of(node).resolve(node.policyDocument));
    node.policyDocument = {
      ...document,
      Statement: document.Statement.map((statement) => ({
        ...statement,
        Action: [statement.Action].flat().flatMap((action) => CALLS[action] ?? [action]),
      })),
    };
  }
}

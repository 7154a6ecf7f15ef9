import { Aspects, Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as s3 from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import { NarrowEmptying } from './narrow-emptying.ts';

/** How long an object that was deleted or replaced can be brought back. */
const RECOVERY = Duration.days(30);
const UNFINISHED_UPLOADS = Duration.days(1);

export interface PrivateBucketProps {
  /** Default: the key of S3, which is all that server access logs can be encrypted with. */
  readonly encryptionKey?: kms.IKey;
  /** Where requests are logged, below the bucket's id. Default: nowhere. */
  readonly accessLogs?: s3.IBucket;
  /** Prefixes of objects that are deleted some time after they were written. Default: objects stay. */
  readonly expire?: readonly { readonly prefix: string; readonly after: Duration }[];
  /**
   * What a write has to say of the object that may be there: `absent` (If-None-Match), or `known` (that, or If-Match
   * with the ETag of what it replaces). Default: nothing.
   */
  readonly writes?: 'absent' | 'known';
  /** Whether it outlives its stack. */
  readonly retain: boolean;
  /** Without `retain`, whether it is emptied first. Default: no, and a bucket that holds something stays. */
  readonly empty?: boolean;
}

/** A bucket for one account: no public access, TLS 1.2, versions, nothing left over of uploads. */
export class PrivateBucket extends s3.Bucket {
  constructor(scope: Construct, id: string, props: PrivateBucketProps) {
    const { encryptionKey, accessLogs, retain, empty = false, expire = [] } = props;
    super(scope, id, {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      versioned: true,
      ...(encryptionKey === undefined
        ? { encryption: s3.BucketEncryption.S3_MANAGED }
        : { encryption: s3.BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }),
      ...(accessLogs === undefined
        ? {}
        : { serverAccessLogsBucket: accessLogs, serverAccessLogsPrefix: `${id.toLowerCase()}/` }),
      lifecycleRules: [
        {
          id: 'leftovers',
          abortIncompleteMultipartUploadAfter: UNFINISHED_UPLOADS,
          noncurrentVersionExpiration: RECOVERY,
          expiredObjectDeleteMarker: true,
        },
        ...expire.map(({ prefix, after }) => ({
          id: `expire-${prefix.replaceAll('/', '') || 'all'}`,
          expiration: after,
          ...(prefix === '' ? {} : { prefix }),
        })),
      ],
      removalPolicy: retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
      ...(empty && !retain ? { autoDeleteObjects: true } : {}),
    });
    if (props.writes !== undefined) this.#denyBlindWrites(props.writes);
    if (empty && !retain) Aspects.of(this).add(new NarrowEmptying());
    acknowledge(this, {
      'NIST.800.53.R5-S3BucketReplicationEnabled':
        'A deployment is in one Region; versions bring back what was deleted or replaced by mistake.',
      ...(encryptionKey === undefined
        ? {
            'NIST.800.53.R5-S3DefaultEncryptionKMS':
              'S3 delivers server access logs to buckets that are encrypted with its own key only.',
          }
        : {}),
    });
  }

  /** Objects never change: who writes without asking what is there could replace one. */
  #denyBlindWrites(writes: 'absent' | 'known'): void {
    this.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'DenyBlindWrites',
        effect: iam.Effect.DENY,
        principals: [new iam.AnyPrincipal()],
        actions: ['s3:PutObject'],
        resources: [this.arnForObjects('*')],
        conditions: {
          // Of one block all must hold, so with both keys either header will do.
          Null: {
            's3:if-none-match': 'true',
            ...(writes === 'known' ? { 's3:if-match': 'true' } : {}),
          },
          // The parts of an upload take no such header; what finishes it does.
          Bool: { 's3:ObjectCreationOperation': 'true' },
        },
      }),
    );
  }
}

import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { statementsOf } from './support/policy-statements.ts';
import {
  type Resource,
  resourcesOf,
  settingsOf,
  synthesize,
  templateOf,
  VARIANT_NAMES,
  type VariantName,
} from './support/synthesize.ts';

const storage = (name: VariantName = 'production') => templateOf(name, 'storage');
const template = (name?: VariantName) => Template.fromJSON({ ...storage(name) });
const buckets = (name?: VariantName) => resourcesOf(storage(name), 'AWS::S3::Bucket');

function bucket(id: string, name?: VariantName): Resource {
  const found = buckets(name).find((one) => one.id.startsWith(id));
  if (found === undefined) throw new Error(`no bucket ${id}`);
  return found;
}

interface LifecycleRule {
  readonly Id: string;
  readonly Status: string;
  readonly Prefix?: string;
  readonly ExpirationInDays?: number;
  readonly NoncurrentVersionExpiration?: { readonly NoncurrentDays: number };
  readonly AbortIncompleteMultipartUpload?: { readonly DaysAfterInitiation: number };
}
const rulesOf = (one: Resource): readonly LifecycleRule[] =>
  (one.Properties?.LifecycleConfiguration as { Rules: LifecycleRule[] } | undefined)?.Rules ?? [];

describe('the table', () => {
  it('is on demand, encrypted with the own key, restorable to any second, and protected', () => {
    template().hasResource('AWS::DynamoDB::Table', {
      Properties: {
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        BillingMode: 'PAY_PER_REQUEST',
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: Match.anyValue() },
        DeletionProtectionEnabled: true,
        GlobalSecondaryIndexes: Match.absent(),
        LocalSecondaryIndexes: Match.absent(),
      },
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
    });
  });

  it('may be deleted when the operator has said so', () => {
    template('everything').hasResource('AWS::DynamoDB::Table', {
      Properties: { DeletionProtectionEnabled: false },
      DeletionPolicy: 'Delete',
    });
  });
});

describe('the key', () => {
  it('is rotated, and may be used by CloudWatch Logs for log groups of this account alone', () => {
    template().hasResource('AWS::KMS::Key', {
      Properties: { EnableKeyRotation: true },
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });

    const [logs] = statementsOf('storage', storage()).filter(({ principals }) =>
      principals.some((principal) => principal.startsWith('Service:logs.')),
    );

    expect(logs?.principals).toEqual([`Service:logs.\${AWS::Region}.amazonaws.com`]);
    expect(JSON.stringify(logs?.conditions)).toMatch(
      /^{"ArnLike":{"kms:EncryptionContext:aws:logs:arn":.*log-group:\*/,
    );
  });
});

describe.each(VARIANT_NAMES)('buckets of %s', (name) => {
  it('are closed to the public, versioned and encrypted, and belong to the account', () => {
    for (const { id, Properties } of buckets(name)) {
      expect(Properties, id).toMatchObject({
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
        VersioningConfiguration: { Status: 'Enabled' },
      });
      const encryption = Properties?.BucketEncryption;
      const kms = {
        BucketKeyEnabled: true,
        ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: expect.anything() },
      };
      // S3 delivers its own logs to nothing else.
      const aes = { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } };
      expect(encryption, id).toEqual({
        ServerSideEncryptionConfiguration: [id.startsWith('AccessLogs') ? aes : kms],
      });
    }
  });

  it('refuse anything but TLS 1.2', () => {
    for (const { id } of buckets(name)) {
      const denied = statementsOf('storage', storage(name)).filter(
        (statement) =>
          statement.effect === 'Deny' &&
          statement.principals.includes('AWS:*') &&
          statement.actions.includes('s3:*') &&
          statement.resources.some((resource) => resource.includes(id)),
      );
      const conditions = denied.map((statement) => statement.conditions);
      expect(conditions, id).toContainEqual({ Bool: { 'aws:SecureTransport': 'false' } });
      expect(conditions, id).toContainEqual({ NumericLessThan: { 's3:TlsVersion': 1.2 } });
      for (const { resources } of denied) expect(resources).toHaveLength(2);
    }
  });

  it('keep nothing of unfinished uploads, and what was replaced for a month', () => {
    for (const one of buckets(name)) {
      expect(rulesOf(one), one.id).toContainEqual(
        expect.objectContaining({
          Status: 'Enabled',
          AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
          NoncurrentVersionExpiration: { NoncurrentDays: 30 },
        }),
      );
    }
  });

  it('log their requests', () => {
    for (const { id, Properties } of buckets(name)) {
      if (id.startsWith('AccessLogs')) continue;
      expect(Properties?.LoggingConfiguration, id).toMatchObject({
        DestinationBucketName: { Ref: expect.stringMatching(/^AccessLogs/) },
      });
    }
  });
});

describe('what buckets hold', () => {
  it('outlives the rows that name it, by a day', () => {
    const rules = rulesOf(bucket('Artifacts'));

    const days = Object.fromEntries(rules.map((rule) => [rule.Prefix ?? '', rule.ExpirationInDays]));

    expect(days).toEqual({
      '': undefined,
      'artifacts/': LIMITS.runRetentionSeconds / 86_400 + 1,
      'inputs/': LIMITS.inputRetentionSeconds / 86_400 + 1,
    });
  });

  it('is never a package that has got too old', () => {
    expect(rulesOf(bucket('Packages')).filter((rule) => rule.ExpirationInDays !== undefined)).toEqual([]);
  });

  it('is never replaced unseen: artifacts not at all, packages only by who knows what is there', () => {
    const denials = statementsOf('storage', storage()).filter(({ actions }) =>
      actions.includes('s3:PutObject'),
    );
    const conditionsOf = (id: string) =>
      denials
        .filter(({ effect, resources }) => effect === 'Deny' && resources.every((one) => one.includes(id)))
        .map(({ conditions, principals, resources }) => ({ conditions, principals, resources }));

    const either = { 's3:if-none-match': 'true', 's3:if-match': 'true' };
    const Bool = { 's3:ObjectCreationOperation': 'true' };

    expect(conditionsOf('Artifacts')).toEqual([
      {
        conditions: { Null: { 's3:if-none-match': 'true' }, Bool },
        principals: ['AWS:*'],
        resources: [expect.stringMatching(/^\$\{Artifacts\w+\.Arn}\/\*$/)],
      },
    ]);
    expect(conditionsOf('Packages')).toEqual([
      {
        conditions: { Null: either, Bool },
        principals: ['AWS:*'],
        resources: [expect.stringMatching(/^\$\{Packages\w+\.Arn}\/\*$/)],
      },
    ]);
  });

  it('stays when its stack goes, unless the operator has said otherwise', () => {
    for (const { id, DeletionPolicy, UpdateReplacePolicy } of buckets()) {
      // One that is left over of a deployment that failed would be in the way of nobody, and of no use.
      expect({ DeletionPolicy, UpdateReplacePolicy }, id).toEqual({
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    }
    for (const { id, DeletionPolicy } of buckets('everything')) expect(DeletionPolicy, id).toBe('Delete');
    template().resourceCountIs('Custom::S3AutoDeleteObjects', 0);
    template('everything').resourceCountIs('Custom::S3AutoDeleteObjects', buckets('everything').length);
  });
});

describe('the bucket of packages', () => {
  it('is made for s3 alone, and not where there is one', () => {
    const made = (name: VariantName) => buckets(name).filter(({ id }) => id.startsWith('Packages')).length;

    expect(VARIANT_NAMES.map((name) => [name, made(name)])).toEqual([
      ['production', 1],
      ['everything', 0],
      ['own_bucket', 0],
      ['emulator', 1],
    ]);
  });
});

describe('two deployments', () => {
  it('share no name in an account', () => {
    const other = synthesize(settingsOf({ environment: { COGNITION_DEPLOYMENT: 'other' } }));
    const names = (templates: Iterable<unknown>): string[] =>
      [...JSON.stringify([...templates]).matchAll(/"(?:[A-Za-z]*Name|Name|Family)":"([^"]+)"/g)].map(
        ([, name = '']) => name,
      );

    const first = VARIANT_NAMES.flatMap((name) =>
      ['storage', 'network', 'runs', 'api', 'observability'].map((stack) => templateOf(name, stack)),
    );
    const own = new Set(names(first).filter((name) => name.startsWith('cognition')));
    const shared = names(other.templates.values()).filter((name) => own.has(name));

    // Families of tasks are told apart by the cluster.
    expect([...new Set(shared)]).toEqual([]);
    expect(own.size).toBeGreaterThan(10);
  });
});

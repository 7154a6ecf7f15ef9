import { Stack } from 'aws-cdk-lib';
import * as assets from 'aws-cdk-lib/aws-ecr-assets';
import type * as kms from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { DeploymentSettings } from '../../../shared/contracts/deployment-settings.ts';
import { parseEcrImage } from '../../../shared/contracts/image-uri.ts';
import { EncryptedLogGroup } from '../encrypted-log-group.ts';
import { LookUp } from '../look-up.ts';

export interface SandboxImageProps {
  readonly settings: DeploymentSettings;
  /** Folder that the image is built in; required where the settings name no image. */
  readonly context: string | undefined;
  /** Of the log of the function that looks up what was built. */
  readonly encryptionKey: kms.IKey;
}

/** What a repository in ECR is called by those that are allowed to pull from it. */
export interface ImageRepository {
  readonly arn: string;
  /** Such as `111122223333.dkr.ecr.us-east-1.amazonaws.com`. */
  readonly registry: string;
}

/** Smaller downloads that Fargate unpacks faster, where the engine that builds can make them. */
const ZSTD = 'type=image,oci-mediatypes=true,compression=zstd,force-compression=true';

/** The image of every sandbox: one that the settings name, or one that is built. Tasks name it by its digest. */
export class SandboxImage extends Construct {
  readonly uri: string;
  /** `sha256:` and hex digits; what an emulator is told may be any other name. A token where the image is built. */
  readonly digest: string;
  /** Changes with the image, and is known at synth. */
  readonly contentId: string;
  /** Undefined where the image is not in ECR, as emulators have it. */
  readonly repository: ImageRepository | undefined;

  constructor(scope: Construct, id: string, props: SandboxImageProps) {
    super(scope, id);
    const { sandbox_image } = props.settings;
    const made = sandbox_image === undefined ? this.#build(props) : this.#named(sandbox_image);
    this.uri = made.uri;
    this.digest = made.digest;
    this.contentId = made.contentId;
    this.repository = made.repository;
  }

  #named(uri: string) {
    const image = parseEcrImage(uri);
    if (image === undefined) return { uri, digest: uri, contentId: uri, repository: undefined };
    const { account, region, repository, digest } = image;
    const arn = Stack.of(this).formatArn({
      service: 'ecr',
      resource: 'repository',
      account,
      region,
      resourceName: repository,
    });
    const [registry = ''] = uri.split('/');
    return { uri, digest, contentId: digest, repository: { arn, registry } };
  }

  #build({ settings, context, encryptionKey }: SandboxImageProps) {
    if (context === undefined) throw new Error('there is no folder to build the image of sandboxes in');
    const asset = new assets.DockerImageAsset(this, 'Asset', {
      directory: context,
      platform: PLATFORMS[settings.sandbox_architecture],
      outputs: [ZSTD],
      ...(settings.sandbox_base === undefined ? {} : { buildArgs: { BASE: settings.sandbox_base } }),
      assetName: 'sandbox',
    });
    const logGroup = new EncryptedLogGroup(this, 'LookUpLogs', {
      logGroupName: `/cognition/${settings.deployment}/image-look-up`,
      settings,
      encryptionKey,
    });
    const digest = this.#digestOf(asset, logGroup);
    const [registry = ''] = asset.repository.repositoryUri.split('/');
    return {
      uri: `${asset.repository.repositoryUri}@${digest}`,
      digest,
      contentId: asset.assetHash,
      repository: { arn: asset.repository.repositoryArn, registry },
    };
  }

  /** Assets are pushed by tag; only the registry knows what digest the tag has got. */
  #digestOf(asset: assets.DockerImageAsset, logGroup: EncryptedLogGroup): string {
    const { repositoryName, repositoryArn } = asset.repository;
    return new LookUp(this, 'Digest', {
      resourceType: 'Custom::ImageDigest',
      call: { service: 'ECR', action: 'DescribeImages' },
      parameters: { repositoryName, imageIds: [{ imageTag: asset.imageTag }] },
      path: 'imageDetails.0.imageDigest',
      of: asset.assetHash,
      permission: { action: 'ecr:DescribeImages', resource: repositoryArn },
      logGroup,
    }).value;
  }
}

const PLATFORMS = {
  arm64: assets.Platform.LINUX_ARM64,
  x64: assets.Platform.LINUX_AMD64,
} as const;

/** URI of an image in ECR, by digest. Its parts are what the network and the execution role are narrowed to. */

export interface EcrImage {
  readonly account: string;
  readonly region: string;
  readonly repository: string;
  /** `sha256:` and 64 hex digits. */
  readonly digest: string;
}

const ECR =
  /^(?<account>[0-9]{12})\.dkr\.ecr\.(?<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\/(?<repository>[a-z0-9]+(?:[._/-][a-z0-9]+)*)@(?<digest>sha256:[0-9a-f]{64})$/;

export const namesDigest = (uri: string): boolean => /@sha256:[0-9a-f]{64}$/.test(uri);

export function parseEcrImage(uri: string): EcrImage | undefined {
  const { account, region, repository, digest } = ECR.exec(uri)?.groups ?? {};
  if (account === undefined || region === undefined) return undefined;
  if (repository === undefined || digest === undefined) return undefined;
  return { account, region, repository, digest };
}

/**
 * Why a deployment cannot take the image, in words that follow its setting's name.
 * @param region of the deployment; undefined when it is not known yet.
 */
export function imageProblem(uri: string, region: string | undefined): string | undefined {
  if (!namesDigest(uri)) {
    return 'names no digest: end it with @sha256: and 64 hex digits, which `aws ecr describe-images` prints';
  }
  const image = parseEcrImage(uri);
  if (image === undefined) {
    return 'is not in ECR, and the network reaches no other registry: push it to <account>.dkr.ecr.<Region>.amazonaws.com';
  }
  if (region === undefined || image.region === region) return undefined;
  return `is in ${image.region}, but the network reaches only ${region}: push it there`;
}

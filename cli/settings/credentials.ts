/** Who signs: the key of the local server for the local server, the usual AWS chain for everything else. */
import type { Credentials } from '../client/sign-request.ts';
import { CliFailure } from '../failure.ts';
import type { EndpointChoice } from './endpoint.ts';
import { readPrivateFile } from './read-private-file.ts';

export interface CredentialsChoice {
  readonly source: string;
  readonly load: () => Promise<Credentials>;
}

export function chooseCredentials(choice: EndpointChoice, profile: string | undefined): CredentialsChoice {
  const { local } = choice;
  if (profile === undefined && local !== undefined) {
    return {
      source: `profile ${local.profile} of ${local.credentials_file}`,
      load: once(async () => {
        if ((await readPrivateFile(local.credentials_file)) === undefined) {
          throw new Error(`${local.credentials_file} is not there`);
        }
        const { fromIni } = await import('@aws-sdk/credential-provider-ini');
        // configFilepath too, so that ~/.aws/config cannot put a role in the way of a profile of this name.
        const { profile, credentials_file: filepath } = local;
        return fromIni({ profile, filepath, configFilepath: filepath, ignoreCache: true })();
      }, 'start the local server again, it writes them anew'),
    };
  }
  return {
    source:
      profile === undefined ? 'the AWS credential chain' : `profile ${profile} of the AWS configuration`,
    load: once(async () => {
      const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
      return defaultProvider(profile === undefined ? {} : { profile })();
    }, 'set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws sso login`'),
  };
}

interface Expiring extends Credentials {
  readonly expiration?: Date | undefined;
}

const REFRESH_BEFORE_MS = 5 * 60_000;

/** Keeps what was loaded until it is about to expire. */
function once(load: () => Promise<Expiring>, fix: string): () => Promise<Credentials> {
  let loaded: Expiring | undefined;
  return async () => {
    const expires = loaded?.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
    if (loaded === undefined || expires - Date.now() < REFRESH_BEFORE_MS) {
      loaded = await load().catch((cause: unknown) => {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new CliFailure('no_credentials', `no credentials: ${reason}`, { fix, cause });
      });
    }
    return loaded;
  };
}

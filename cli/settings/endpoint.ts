/** Which API to call, and which source said so. */
import { join } from 'node:path';
import {
  LOCAL_ENDPOINT_FILE,
  type LocalEndpoint,
  localEndpointSchema,
} from '../../shared/contracts/local-endpoint.ts';
import { CliFailure, usage } from '../failure.ts';
import type { CliIo } from '../io.ts';
import { configDirectory } from './config-directory.ts';
import { readSettingsJson } from './read-settings-json.ts';

export interface EndpointChoice {
  readonly endpoint: string;
  /** `--endpoint`, `COGNITION_ENDPOINT`, or the path of the file. */
  readonly source: string;
  readonly region: string;
  readonly regionSource: string;
  /** Set when it is the server that left its file here, whichever source named it. */
  readonly local: LocalEndpoint | undefined;
}

export interface EndpointFlags {
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
}

export const localEndpointPath = (env: CliIo['env']): string =>
  join(configDirectory(env), LOCAL_ENDPOINT_FILE);

export async function resolveEndpoint(flags: EndpointFlags, env: CliIo['env']): Promise<EndpointChoice> {
  const path = localEndpointPath(env);
  const file = await readSettingsJson(path, localEndpointSchema);
  const named = namedEndpoint(flags, env);
  if (named === undefined && file === undefined) {
    throw new CliFailure('no_endpoint', 'no endpoint is set, and no local server has left one', {
      fix: 'start one with `npm run local`, or give --endpoint URL or COGNITION_ENDPOINT',
    });
  }
  const endpoint = named?.endpoint ?? checkedEndpoint(file?.endpoint ?? '', path);
  const local = file !== undefined && checkedEndpoint(file.endpoint, path) === endpoint ? file : undefined;
  return { endpoint, source: named?.source ?? path, local, ...regionOf(flags, env, endpoint, local, path) };
}

function namedEndpoint(
  flags: EndpointFlags,
  env: CliIo['env'],
): { endpoint: string; source: string } | undefined {
  if (flags.endpoint !== undefined) {
    return { endpoint: checkedEndpoint(flags.endpoint, '--endpoint'), source: '--endpoint' };
  }
  const fromEnv = env.COGNITION_ENDPOINT;
  if (fromEnv === undefined || fromEnv === '') return undefined;
  return { endpoint: checkedEndpoint(fromEnv, 'COGNITION_ENDPOINT'), source: 'COGNITION_ENDPOINT' };
}

const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);

/** Without the last slash. Plain http only to this machine: SigV4 does not hide what is sent. */
function checkedEndpoint(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw usage(`${source} is not a URL: ${JSON.stringify(text)}`, 'give it as https://HOST/STAGE');
  }
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw usage(`${source} has more than a host and a path`, 'give it as https://HOST/STAGE');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw usage(`${source} is plain http to another machine`, 'use https; http is for 127.0.0.1 only');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function regionOf(
  flags: EndpointFlags,
  env: CliIo['env'],
  endpoint: string,
  local: LocalEndpoint | undefined,
  path: string,
): { region: string; regionSource: string } {
  if (flags.region !== undefined) return { region: flags.region, regionSource: '--region' };
  if (local !== undefined) return { region: local.region, regionSource: path };
  const host = /\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/.exec(new URL(endpoint).hostname);
  if (host?.[1] !== undefined) return { region: host[1], regionSource: 'the name of the endpoint' };
  for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION']) {
    const region = env[name];
    if (region !== undefined && region !== '') return { region, regionSource: name };
  }
  throw usage('the Region to sign for is not known', 'give --region or set AWS_REGION');
}

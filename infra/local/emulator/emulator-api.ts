/** Calls of AWS APIs for which the product has no client, signed by a small one. */
import { AwsClient } from 'aws4fetch';
import type { EmulatorConnection } from './start-emulator.ts';

export interface EmulatorApi {
  /** An API with JSON bodies and paths, such as Lambda's. @throws with the answer when it is no success. */
  rest(service: string, method: string, path: string, body?: unknown): Promise<unknown>;
  /** AWS JSON 1.1, such as CloudWatch Logs. */
  json(service: string, target: string, body: unknown): Promise<unknown>;
  /** The older kind with forms and XML, such as STS. @returns the text of an element by its name. */
  query(service: string, version: string, parameters: Readonly<Record<string, string>>): Promise<Xml>;
}

export type Xml = (element: string) => string;

export function emulatorApi(emulator: EmulatorConnection): EmulatorApi {
  const { endpoint, region, credentials } = emulator;
  const client = new AwsClient({ ...credentials, region, retries: 0 });
  const call = async (service: string, path: string, init: RequestInit): Promise<string> => {
    const response = await client.fetch(`${endpoint}${path}`, { ...init, aws: { service } });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${service} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
    return text;
  };
  return {
    rest: async (service, method, path, body) => {
      const headers = { 'content-type': 'application/json' };
      const text = await call(service, path, { method, headers, body: JSON.stringify(body) ?? null });
      return text === '' ? undefined : JSON.parse(text);
    },
    json: async (service, target, body) => {
      const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
      return JSON.parse(await call(service, '/', { method: 'POST', headers, body: JSON.stringify(body) }));
    },
    query: async (service, version, parameters) => {
      const form = new URLSearchParams({ Version: version, ...parameters });
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const text = await call(service, '/', { method: 'POST', headers, body: form.toString() });
      return (element) => {
        const value = new RegExp(`<${element}>([^<]*)</${element}>`).exec(text)?.[1];
        if (value === undefined)
          throw new Error(`${service} answered without ${element}: ${text.slice(0, 500)}`);
        return value;
      };
    },
  };
}

/** The account that an emulator takes its callers for. */
export async function callerAccount(api: EmulatorApi): Promise<string> {
  const answer = await api.query('sts', '2011-06-15', { Action: 'GetCallerIdentity' });
  return answer('Account');
}

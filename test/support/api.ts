/** A second client of the API, written apart from the product's own: aws4fetch signs, fetch sends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';

export interface TestTarget {
  readonly endpoint: string;
  readonly region: string;
  readonly access_key_id: string;
  readonly secret_access_key: string;
  readonly session_token?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

export interface CallOptions {
  readonly json?: unknown;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
}

export type Scope = Record<string, string>;

export const scopeRef = (scope: Scope): string =>
  Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(scope).toSorted()))).toString('base64url');

export class Api {
  readonly target: TestTarget;
  readonly scope: Scope;
  readonly #aws: AwsClient;

  constructor(target: TestTarget, scope: Scope) {
    this.target = target;
    this.scope = scope;
    this.#aws = new AwsClient({
      accessKeyId: target.access_key_id,
      secretAccessKey: target.secret_access_key,
      ...(target.session_token === undefined ? {} : { sessionToken: target.session_token }),
      service: 'execute-api',
      region: target.region,
      retries: 0,
    });
  }

  /** `path` is below the scope, e.g. `/skills`. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const url = `${this.target.endpoint}/v1/scopes/${scopeRef(this.scope)}${path}`;
    const body = options.json === undefined ? options.body : JSON.stringify(options.json);
    const headers = {
      ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    };
    const request = await this.#aws.sign(url, { method, headers, ...(body === undefined ? {} : { body }) });
    const response = await fetch(request);
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes, json: parse(bytes) };
  }

  get = (path: string, headers: Record<string, string> = {}) => this.call('GET', path, { headers });
  post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    this.call('POST', path, { json, headers });
  put = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    this.call('PUT', path, { json, headers });
  patch = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    this.call('PATCH', path, { json, headers });
  delete = (path: string, headers: Record<string, string> = {}) => this.call('DELETE', path, { headers });

  /** Publishes, and fails the test where that fails. */
  async publish(name: string, files: Record<string, string>): Promise<Answer> {
    const answer = await this.put(`/skills/${name}`, { files });
    if (answer.status > 201) throw new Error(`publish ${name}: ${answer.status} ${answer.bytes}`);
    return answer;
  }

  async putAgent(name: string, fields: Record<string, unknown>): Promise<Answer> {
    const answer = await this.put(`/agents/${name}`, fields);
    if (answer.status > 201) throw new Error(`put agent ${name}: ${answer.status} ${answer.bytes}`);
    return answer;
  }

  /** Starts a run and waits for its end. */
  async run(request: Record<string, unknown>): Promise<Answer> {
    const started = await this.post('/runs', request);
    if (started.status !== 202) throw new Error(`POST /runs: ${started.status} ${started.bytes}`);
    return this.finished(started.json.run_id);
  }

  async finished(runId: string, deadlineSeconds = 60): Promise<Answer> {
    const deadline = Date.now() + deadlineSeconds * 1000;
    for (;;) {
      const asked = Date.now();
      const answer = await this.get(`/runs/${runId}`);
      if (['succeeded', 'failed', 'timed_out', 'cancelled'].includes(answer.json.status)) return answer;
      if (Date.now() > deadline) throw new Error(`run ${runId} is still ${answer.json.status}`);
      // A slow server is not made slower by the question.
      await sleep(Math.max(25, 4 * (Date.now() - asked)));
    }
  }

  /** Waits until the run's events hold one of the type. */
  async event(runId: string, type: string, deadlineSeconds = 30): Promise<void> {
    const deadline = Date.now() + deadlineSeconds * 1000;
    let after = 0;
    for (;;) {
      const { json } = await this.get(`/runs/${runId}/events?after=${after}&wait_seconds=1`);
      if (json.items.some((event: { type: string }) => event.type === type)) return;
      if (Date.now() > deadline) throw new Error(`run ${runId} has no ${type}`);
      if (json.items.length > 0) after = json.items.at(-1).sequence;
      // An ended run is answered at once, although its teardown still has an event to add.
      else await sleep(25);
    }
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

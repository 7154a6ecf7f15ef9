/** A lean client for timing: aws4fetch signs, node:http keeps its connections. */
import { Agent, request } from 'node:http';
import { AwsClient } from 'aws4fetch';
import { type Scope, scopeRef, type TestTarget } from '../support/api.ts';

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

export class BenchClient {
  readonly #target: TestTarget;
  readonly #base: string;
  readonly #aws: AwsClient;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(target: TestTarget, scope: Scope) {
    this.#target = target;
    this.#base = `/v1/scopes/${scopeRef(scope)}`;
    this.#aws = new AwsClient({
      accessKeyId: target.access_key_id,
      secretAccessKey: target.secret_access_key,
      service: 'execute-api',
      region: target.region,
      retries: 0,
    });
  }

  async sign(method: string, path: string, json?: unknown): Promise<SignedRequest> {
    const url = new URL(this.#target.endpoint + this.#base + path);
    const body = json === undefined ? undefined : JSON.stringify(json);
    const signed = await this.#aws.sign(url.href, {
      method,
      ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
    });
    const headers = { ...Object.fromEntries(signed.headers), host: url.host };
    return { method, path: url.pathname + url.search, headers, body };
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  send(signed: SignedRequest): Promise<{ status: number; json: any }> {
    const { hostname, port } = new URL(this.#target.endpoint);
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          agent: this.#agent,
          hostname,
          port,
          method: signed.method,
          path: signed.path,
          headers: signed.headers,
        },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk) => chunks.push(chunk));
          answer.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            resolve({ status: answer.statusCode ?? 0, json: text === '' ? undefined : JSON.parse(text) });
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(signed.body);
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async call(method: string, path: string, json?: unknown): Promise<{ status: number; json: any }> {
    const answer = await this.send(await this.sign(method, path, json));
    if (answer.status >= 400)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.json)}`);
    return answer;
  }

  /** POST to final status, by the events as a builder follows them. */
  async wholeRun(run: unknown): Promise<{ run_id: string; status: string }> {
    const { run_id } = (await this.call('POST', '/runs', run)).json;
    for (let after = 0; ; ) {
      const { items } = (await this.call('GET', `/runs/${run_id}/events?after=${after}&wait_seconds=20`))
        .json;
      for (const event of items) {
        after = event.sequence;
        const end = /^run\.(succeeded|failed|timed_out|cancelled)$/.exec(event.type);
        if (end !== null) return { run_id, status: end[1] ?? '' };
      }
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}

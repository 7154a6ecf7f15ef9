/** The typed client: one method for each route of the API, in one scope. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EffectiveScope } from '../../shared/contracts/scope.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import { agentsClient } from './agents-client.ts';
import { createCaller } from './caller.ts';
import { runsClient } from './runs-client.ts';
import type { Credentials } from './sign-request.ts';
import { skillsClient } from './skills-client.ts';

export interface ClientOptions {
  /** Origin of the API; on AWS with the stage, e.g. https://abc.execute-api.eu-west-1.amazonaws.com/prod. */
  readonly endpoint: string;
  readonly region: string;
  readonly scope: EffectiveScope;
  /** Asked before each request, so that it may refresh them. */
  readonly credentials: () => Promise<Credentials>;
  readonly fetch?: typeof fetch;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
  /** A new Idempotency-Key; one serves all attempts of a call. */
  readonly newKey?: () => string;
  /** Attempts after the first one, for 429, 503 and broken connections. Default: 3. */
  readonly retries?: number;
  readonly userAgent?: string;
}

export type Client = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
  const caller = createCaller({
    endpoint: options.endpoint,
    region: options.region,
    credentials: options.credentials,
    scopeRef: encodeScopeRef(options.scope),
    fetch: options.fetch ?? fetch,
    now: options.now ?? Date.now,
    sleep: options.sleep ?? ((ms) => sleep(ms)),
    newKey: options.newKey ?? randomUUID,
    retries: options.retries ?? 3,
    userAgent: options.userAgent ?? 'cognition-client',
  });
  return { ...skillsClient(caller), ...agentsClient(caller), ...runsClient(caller) };
}

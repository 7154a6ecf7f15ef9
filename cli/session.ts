/** What one invocation of the command shares: its streams, its options, its connection. */
import type { Client } from './client/create-client.ts';
import type { CliIo } from './io.ts';
import type { CredentialsChoice } from './settings/credentials.ts';
import type { EndpointChoice } from './settings/endpoint.ts';
import type { ScopeChoice } from './settings/scope.ts';
import type { Output } from './terminal/output.ts';

export interface Connection {
  readonly client: Client;
  readonly endpoint: EndpointChoice;
  readonly scope: ScopeChoice;
  readonly credentials: CredentialsChoice;
}

export interface CommonFlags {
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly profile: string | undefined;
  readonly scope: readonly string[];
}

export interface Session {
  readonly io: CliIo;
  readonly output: Output;
  readonly flags: CommonFlags;
  /** Settles endpoint, scope and credentials; sends nothing yet. */
  readonly connect: () => Promise<Connection>;
}

export function createSession(io: CliIo, output: Output, flags: CommonFlags): Session {
  return { io, output, flags, connect: () => connect(io, flags) };
}

async function connect(io: CliIo, flags: CommonFlags): Promise<Connection> {
  const [{ resolveEndpoint }, { resolveScope }, { chooseCredentials }, { createClient }, { VERSION }] =
    await Promise.all([
      import('./settings/endpoint.ts'),
      import('./settings/scope.ts'),
      import('./settings/credentials.ts'),
      import('./client/create-client.ts'),
      import('./version.ts'),
    ]);
  const endpoint = await resolveEndpoint(flags, io.env);
  const scope = await resolveScope(flags.scope, io.env);
  const credentials = chooseCredentials(endpoint, flags.profile);
  const client = createClient({
    endpoint: endpoint.endpoint,
    region: endpoint.region,
    scope: scope.scope,
    credentials: credentials.load,
    fetch: io.fetch,
    now: io.now,
    userAgent: `cognition-cli/${VERSION}`,
  });
  return { client, endpoint, scope, credentials };
}

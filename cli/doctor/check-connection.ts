/** From the settings to an accepted request, each step only where the one before has passed. */
import { LIMITS } from '../../shared/contracts/limits.ts';
import { SCOPE_PREFIX } from '../../shared/contracts/routes.ts';
import type { EffectiveScope } from '../../shared/contracts/scope.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import { ApiError } from '../client/client-errors.ts';
import { API_FIXES } from '../error-fixes.ts';
import { CliFailure } from '../failure.ts';
import type { Connection, Session } from '../session.ts';
import { chooseCredentials } from '../settings/credentials.ts';
import { type EndpointChoice, resolveEndpoint } from '../settings/endpoint.ts';
import { resolveScope } from '../settings/scope.ts';
import type { Check } from './check.ts';

export async function checkConnection(session: Session): Promise<Check[]> {
  const { flags, io } = session;
  const checks: Check[] = [];
  const endpoint = await settled(
    checks,
    'endpoint',
    () => resolveEndpoint(flags, io.env),
    (choice) =>
      `${choice.endpoint} (from ${choice.source}), Region ${choice.region} (from ${choice.regionSource})`,
  );
  const scope = await settled(
    checks,
    'scope',
    () => resolveScope(flags.scope, io.env),
    (choice) =>
      `${Object.entries(choice.scope)
        .map(([key, value]) => `${key}=${value}`)
        .join(',')} (from ${choice.source})`,
  );
  if (endpoint === undefined) return checks;
  const credentials = chooseCredentials(endpoint, flags.profile);
  const loaded = await settled(
    checks,
    'credentials',
    credentials.load,
    ({ accessKeyId }) => `${accessKeyId.slice(0, 4)}… (from ${credentials.source})`,
  );
  const reached = await checkServer(checks, endpoint, scope?.scope, session);
  if (reached && scope !== undefined && loaded !== undefined) {
    checks.push(await checkAccess(await session.connect()));
  }
  return checks;
}

async function settled<T>(
  checks: Check[],
  what: string,
  settle: () => Promise<T>,
  found: (value: T) => string,
): Promise<T | undefined> {
  try {
    const value = await settle();
    checks.push({ what, result: 'ok', found: found(value) });
    return value;
  } catch (error) {
    checks.push(failure(what, error));
    return undefined;
  }
}

function failure(what: string, error: unknown): Check {
  const found = error instanceof Error ? error.message : String(error);
  const fix =
    error instanceof CliFailure ? error.fix : error instanceof ApiError ? API_FIXES[error.code] : undefined;
  return { what, result: 'failed', found, ...(fix === undefined ? {} : { fix }) };
}

/** Asks without a signature: whatever answers is there, and says what time it is. */
async function checkServer(
  checks: Check[],
  endpoint: EndpointChoice,
  scope: EffectiveScope | undefined,
  session: Session,
): Promise<boolean> {
  const path = SCOPE_PREFIX.replace('{scopeRef}', encodeScopeRef(scope ?? { tenant: 'doctor' }));
  try {
    const asked = session.io.now();
    const response = await session.io.fetch(`${endpoint.endpoint}${path}/skills`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
    });
    await response.body?.cancel();
    checks.push({
      what: 'server',
      result: 'ok',
      found: `it answers (${response.status} to an unsigned request)`,
    });
    checks.push(checkClock(response.headers.get('date'), asked));
    return true;
  } catch {
    const { local } = endpoint;
    const pid = local === undefined ? '' : ` (its file names process ${local.pid})`;
    checks.push({
      what: 'server',
      result: 'failed',
      found: `nothing answers at ${endpoint.endpoint}${pid}`,
      fix: local === undefined ? 'check the endpoint and your network' : 'start it with `npm run local`',
    });
    return false;
  }
}

function checkClock(date: string | null, now: number): Check {
  const theirs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs))
    return { what: 'clock', result: 'note', found: 'the server does not say what time it is' };
  const skew = Math.round(Math.abs(now - theirs) / 1000);
  if (skew > LIMITS.clockSkewSeconds) {
    return {
      what: 'clock',
      result: 'failed',
      found: `${skew} s apart from the server's`,
      fix: 'set the clock of this machine',
    };
  }
  return {
    what: 'clock',
    result: 'ok',
    found: `${skew} s apart from the server's, ${LIMITS.clockSkewSeconds} are allowed`,
  };
}

async function checkAccess({ client }: Connection): Promise<Check> {
  try {
    await client.listSkills({ limit: 1 });
    return { what: 'access', result: 'ok', found: 'the credentials may work in this scope' };
  } catch (error) {
    return failure('access', error);
  }
}

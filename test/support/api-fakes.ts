/** A service layer in memory for tests of the API and the gateway; each test replaces what it looks at. */
import { setTimeout as sleep } from 'node:timers/promises';
import { provideServices, type Services } from '../../functions/runtime/services.ts';
import type { Logger } from '../../shared/ports/logger.ts';
import { ConditionFailed } from '../../shared/ports/table-store.ts';
import { MemoryTable } from './api-memory-table.ts';
import { RecordingMetrics } from './recording-metrics.ts';

export { ConditionFailed };

export const ACCOUNT = '123456789012';
export const ROLE = 'AROAEXAMPLEROLEID001';
/** Bound to SCOPE as well. */
export const SECOND_ROLE = 'AROASECONDROLEID0001';
export const SCOPE = { tenant: 'zebra-industries', project: 'quagga-7731' };

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export class RecordingLogger implements Logger {
  readonly lines: LogLine[] = [];
  info = (message: string, fields = {}): void => void this.lines.push({ level: 'info', message, fields });
  warn = (message: string, fields = {}): void => void this.lines.push({ level: 'warn', message, fields });
  error = (message: string, fields = {}): void => void this.lines.push({ level: 'error', message, fields });
}

/** Fails the test that reaches a method of a service that it did not replace. */
const partial = <T extends object>(name: string, replaced: Partial<T> = {}): T =>
  new Proxy(replaced as T, {
    get: (target, property) =>
      Reflect.get(target, property) ??
      (() => {
        throw new Error(`${name}.${String(property)} must not be called here`);
      }),
  });

export interface FakeServices {
  readonly table: MemoryTable;
  readonly logger: RecordingLogger;
  readonly metrics: RecordingMetrics;
  readonly clock: { at: number; now(): number; sleep(ms: number): Promise<void> };
}

type Replaced = { [K in keyof Services]?: Partial<Services[K]> };

/** Provides the services for the handlers of this test. */
export function fakeServices(replaced: Replaced = {}): FakeServices {
  const clock = {
    at: Date.parse('2026-11-30T12:00:00Z'),
    now: () => clock.at,
    sleep: async (ms: number) => void (await sleep(ms)),
  };
  const logger = new RecordingLogger();
  const metrics = new RecordingMetrics();
  const table = new MemoryTable();
  provideServices({
    table,
    clock,
    logger,
    metrics,
    bindings: [
      {
        account_id: ACCOUNT,
        role_id: ROLE,
        scopes: [SCOPE, { tenant: '*' }, { tenant: 'zebra-industries', project: '*', stage: 'dev' }],
      },
      { account_id: ACCOUNT, role_id: SECOND_ROLE, scopes: [SCOPE] },
    ],
    skills: partial('skills', replaced.skills),
    agents: partial('agents', replaced.agents),
    runs: partial('runs', replaced.runs),
    inputs: partial('inputs', replaced.inputs),
    steps: partial('steps', replaced.steps),
  });
  return { table, logger, metrics, clock };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { StateMachine } from 'aws-local-stepfunctions';
import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import { errorCodeSchema } from '../../contracts/error-codes.ts';
import { type RunRef, TRANSIENT_ERROR } from '../../contracts/workflow.ts';
import type { Logger } from '../../ports/logger.ts';
import type { RunOrchestrator } from '../../ports/run-orchestrator.ts';

/** The run machine in this process, where AWS has Step Functions. */
export interface InterpretedOrchestrator extends RunOrchestrator {
  /** Starts again what a process that ended had under way; every step is safe to run twice. */
  resumeAll(runs: Iterable<RunRef> | AsyncIterable<RunRef>): Promise<number>;
  /** Executions under way. */
  readonly active: number;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
  /** Takes nothing new, waits for what is under way and then leaves it as it is: a later process resumes it. */
  close(graceMs?: number): Promise<void>;
}

export interface InterpretedOrchestratorDeps {
  /** The parsed Amazon States Language document that AWS is given, placeholders and all. */
  readonly definition: unknown;
  /** What AWS would invoke, by the state's name. */
  readonly handlers: Readonly<Record<string, (payload: unknown) => Promise<unknown>>>;
  /** What the rule on failed executions does on AWS: the machine itself could not end the run. */
  readonly onFailedExecution: (run: RunRef, error: { code: string; message: string }) => Promise<void>;
  readonly logger: Logger;
  /** Factor on the machine's waits between attempts: a neighbour in the same process needs less; default 1. */
  readonly retryScale?: number;
}

type MachineDefinition = ConstructorParameters<typeof StateMachine>[0];
type LocalHandlers = NonNullable<
  NonNullable<NonNullable<Parameters<StateMachine['run']>[1]>['overrides']>['taskResourceLocalHandlers']
>;

/** Runs whose machine has come to its end and would begin anew; a start that is repeated comes within minutes. */
const REMEMBERED = 10_000;

export function createInterpretedOrchestrator(deps: InterpretedOrchestratorDeps): InterpretedOrchestrator {
  const machine = createMachine(deps.definition, deps.retryScale ?? 1);
  const taskResourceLocalHandlers = localHandlers(deps.handlers);
  const active = new Map<string, { readonly abort: () => void; readonly ended: Promise<void> }>();
  const closing = new AbortController();
  let closed = false;

  // Not those that failed: a later start is what heals them here.
  const succeeded = new LRUCache<string, true>({ max: REMEMBERED });

  const begin = ({ fingerprint, run_id }: RunRef): void => {
    if (closed || active.has(run_id)) return;
    const run: RunRef = { fingerprint, run_id };
    const execution = machine.run(run, { overrides: { taskResourceLocalHandlers } });
    const ended = execution.result
      .then(
        () => void succeeded.set(run_id, true),
        (error: unknown) => (closed ? undefined : endOutside(deps, run, error, closing.signal)),
      )
      .finally(() => active.delete(run_id));
    active.set(run_id, { abort: execution.abort, ended });
  };
  const idle = async (): Promise<void> => {
    while (active.size > 0) await Promise.all([...active.values()].map(({ ended }) => ended));
  };
  return {
    async start(run) {
      if (!succeeded.has(run.run_id)) begin(run);
    },
    async resumeAll(runs) {
      let resumed = 0;
      for await (const run of runs) {
        begin(run);
        resumed += 1;
      }
      return resumed;
    },
    get active() {
      return active.size;
    },
    idle,
    async close(graceMs = 0) {
      closed = true;
      await settle(idle(), graceMs);
      closing.abort();
      for (const { abort } of active.values()) abort();
      await idle();
    },
  };
}

async function settle(work: Promise<void>, graceMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, graceMs);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

/** Some minutes: what kept the machine from ending the run, such as a full disk, keeps this from it for a while too. */
const END_ATTEMPTS = 30;
const END_PAUSE_MS = { first: 1_000, last: 60_000 } as const;

async function endOutside(
  { onFailedExecution, logger, retryScale = 1 }: InterpretedOrchestratorDeps,
  run: RunRef,
  error: unknown,
  closing: AbortSignal,
): Promise<void> {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const name = cause instanceof Error ? cause.name : 'unknown';
  logger.error('run.execution_failed', { ...run, error: name });
  for (let attempt = 0; attempt < END_ATTEMPTS && !closing.aborted; attempt += 1) {
    try {
      await onFailedExecution(run, failureOf(name));
      return;
    } catch (failure) {
      const reason = failure instanceof Error ? failure.message : 'unknown';
      logger.error('run.outside_end_failed', { ...run, reason });
    }
    await pause(Math.min(END_PAUSE_MS.last, END_PAUSE_MS.first * 2 ** attempt) * retryScale, closing);
  }
}

function failureOf(name: string): { code: string; message: string } {
  if (name === TRANSIENT_ERROR) return { code: name, message: '' };
  const code = errorCodeSchema.safeParse(name);
  return code.success
    ? { code: code.data, message: 'a step failed, and the end of the run could not be recorded at once' }
    : { code: 'internal_error', message: '' };
}

/** Closing ends it early. */
async function pause(ms: number, closing: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal: closing });
  } catch (error) {
    if (!closing.aborted) throw error;
  }
}

const jsonSchema = z.json();
const inputSchema = z.object({ Payload: z.unknown() });

/** As `lambda:invoke` does it: the payload in, `{Payload}` out, and an error by its name with Lambda's JSON. */
function localHandlers(handlers: InterpretedOrchestratorDeps['handlers']): LocalHandlers {
  return Object.fromEntries(
    Object.entries(handlers).map(([state, handler]) => [
      state,
      async (input: unknown) => {
        const { Payload } = inputSchema.parse(input);
        try {
          return { Payload: jsonSchema.parse((await handler(Payload)) ?? null) };
        } catch (error) {
          throw lambdaError(error);
        }
      },
    ]),
  );
}

function lambdaError(error: unknown): Error {
  const errorType = error instanceof Error ? error.name : 'Error';
  const errorMessage = error instanceof Error ? error.message : String(error);
  const wrapped = new Error(JSON.stringify({ errorType, errorMessage, trace: [] }), { cause: error });
  wrapped.name = errorType;
  return wrapped;
}

const retrierSchema = z.looseObject({
  IntervalSeconds: z.number().optional(),
  MaxDelaySeconds: z.number().optional(),
});
const definitionSchema = z.looseObject({
  StartAt: z.string(),
  States: z.record(z.string(), z.looseObject({ Retry: z.array(retrierSchema).optional() })),
});

const machineSchema = z.custom<MachineDefinition>((value) => definitionSchema.safeParse(value).success);

/** Without the library's validation, which takes as long as a hundred runs: the document ships with its test. */
function createMachine(definition: unknown, retryScale: number): StateMachine {
  const scaled = scaleRetries(definitionSchema.parse(definition), retryScale);
  return new StateMachine(machineSchema.parse(scaled), { validationOptions: { noValidate: true } });
}

function scaleRetries({ States, ...machine }: z.infer<typeof definitionSchema>, scale: number): unknown {
  const scaled = Object.entries(States).map(([name, { Retry, ...state }]) => {
    if (Retry === undefined) return [name, state];
    const retriers = Retry.map(({ IntervalSeconds = 1, MaxDelaySeconds, ...retrier }) => ({
      ...retrier,
      IntervalSeconds: IntervalSeconds * scale,
      ...(MaxDelaySeconds === undefined ? {} : { MaxDelaySeconds: MaxDelaySeconds * scale }),
    }));
    return [name, { ...state, Retry: retriers }];
  });
  return { ...machine, States: Object.fromEntries(scaled) };
}

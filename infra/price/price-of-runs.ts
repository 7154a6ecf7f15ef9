/** What 1,000 standard runs cost, from counted calls, the sizes of functions and sandboxes, and assumed times. */
import { functionOfState, functionSpec } from '../functions/function-table.ts';
import { addCalls, timesCalls } from './calls.ts';
import { workOf } from './latency-model.ts';
import { costOf } from './list-prices.ts';
import { REQUEST_CALLS, STANDARD_RUN, STATE_CALLS, TRANSITIONS } from './standard-run.ts';

const RUNS = 1_000;

/** Requests of a client that starts a run, follows it by long polls and fetches its one output. */
export const REQUESTS: Readonly<Record<string, number>> = {
  createRun: 1,
  'listRunEvents, in vain': 1,
  listRunEvents: 6,
  getRun: 1,
  getRunArtifacts: 1,
  'getRunArtifacts, bytes': 1,
};

/** What a state waits for, in seconds, while its function is paid for. */
const WAITED: Readonly<Record<string, number>> = {
  AwaitSandbox: STANDARD_RUN.launch_seconds,
  Execute: STANDARD_RUN.command_seconds,
};
/** Assumed, of a warm function. */
const SECONDS_OF_REQUEST = 0.1;
/** The long polls of one run wait as long as the run does. */
const POLLED_SECONDS = STANDARD_RUN.launch_seconds + STANDARD_RUN.command_seconds + 2;

/** Bytes of logs: a function's own lines with those of Lambda, a line of the access log, an execution, a task. */
const LOG_BYTES = { function_call: 1_500, request: 350, execution: 12_000, sandbox: 1_000 } as const;
/** Fargate bills from the pull of the image to the end of the task, at least a minute. */
const SANDBOX_SECONDS = Math.max(60, STANDARD_RUN.launch_seconds + STANDARD_RUN.command_seconds + 5);
/** Assumed: table and buckets hold the keys that they were given for some minutes. */
const KMS_REQUESTS = 5;

export interface RunCost {
  readonly what: string;
  /** Of one run, in the words of the bill. */
  readonly amount: string;
  /** US dollars for 1,000 runs. */
  readonly usd: number;
}

export interface TaskSize {
  /** In vCPU. */
  readonly cpu: number;
  /** In GB. */
  readonly memory: number;
}

const rounded = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** In the order of the bill, the dearest first. */
export const priceOfRuns = (sandbox: TaskSize): RunCost[] =>
  [fargateLine(sandbox), ...linesByCall(), ...linesByCount()].toSorted((a, b) => b.usd - a.usd);

/** @param usd of one run. */
const line = (what: string, amount: string, usd: number): RunCost => ({ what, amount, usd: usd * RUNS });

function fargateLine({ cpu, memory }: TaskSize): RunCost {
  const hours = SANDBOX_SECONDS / 3_600;
  return line(
    'Fargate',
    `${SANDBOX_SECONDS} s of ${cpu} vCPU and ${memory} GB`,
    costOf('sandbox_cpu', hours * cpu) + costOf('sandbox_memory', hours * memory),
  );
}

/** What states and requests ask of table and buckets. */
function linesByCall(): RunCost[] {
  const calls = addCalls(
    ...Object.values(STATE_CALLS),
    ...Object.entries(REQUESTS).map(([name, times]) =>
      timesCalls(REQUEST_CALLS[name] ?? unknown(name), times),
    ),
  );
  return [
    line(
      'DynamoDB',
      `${calls.write_units} write units, ${calls.read_units} read units`,
      costOf('table_write_units', calls.write_units) + costOf('table_read_units', calls.read_units),
    ),
    line(
      'S3',
      `${calls.object_puts} PUT, ${calls.object_gets} GET`,
      costOf('object_puts', calls.object_puts) + costOf('object_gets', calls.object_gets),
    ),
  ];
}

/** What is paid by how many states and requests there are. */
function linesByCount(): RunCost[] {
  const requests = sum(Object.values(REQUESTS));
  const functionCalls = requests + Object.keys(STATE_CALLS).length;
  const gbSeconds = functionTime(requests);
  const logBytes =
    functionCalls * LOG_BYTES.function_call +
    requests * LOG_BYTES.request +
    LOG_BYTES.execution +
    LOG_BYTES.sandbox;
  return [
    line(
      'Lambda',
      `${functionCalls} calls, ${rounded(gbSeconds)} GB-seconds`,
      costOf('function_requests', functionCalls) + costOf('function_time', gbSeconds),
    ),
    line('Step Functions', `${TRANSITIONS} transitions`, costOf('transitions', TRANSITIONS)),
    line('API Gateway', `${requests} requests`, costOf('api_requests', requests)),
    line('CloudWatch Logs', `${rounded(logBytes / 1_000)} KB`, costOf('log_intake', logBytes / 1e9)),
    line('KMS', `${KMS_REQUESTS} requests`, costOf('key_requests', KMS_REQUESTS)),
    line('X-Ray', '1 trace', costOf('traces', 1)),
  ];
}

/** GB-seconds of one run. */
function functionTime(requests: number): number {
  const states = Object.keys(STATE_CALLS).map(
    (state) => (functionOfState(state).memory_mb / 1_024) * (workOf(state) / 1_000 + (WAITED[state] ?? 0)),
  );
  const api = (functionSpec('runs').memory_mb / 1_024) * (requests * SECONDS_OF_REQUEST + POLLED_SECONDS);
  return sum(states) + api;
}

function unknown(name: string): never {
  throw new Error(`nothing was counted for ${name}`);
}

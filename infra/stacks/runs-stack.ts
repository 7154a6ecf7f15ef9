import { Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { EncryptedLogGroup } from '../constructs/encrypted-log-group.ts';
import { CognitionFunction, type FunctionContext } from '../constructs/functions/cognition-function.ts';
import { DeadLetterQueue } from '../constructs/runs/dead-letter-queue.ts';
import { EndedExecutions } from '../constructs/runs/ended-executions.ts';
import { RunMachine, TASK_STATES } from '../constructs/runs/run-machine.ts';
import { ScheduledFunction } from '../constructs/runs/scheduled-function.ts';
import { type FunctionSpec, functionOfState, functionSpec } from '../functions/function-table.ts';

export interface RunsStackProps extends StackProps {
  readonly context: FunctionContext;
}

/** A function of the table that runs by the clock. */
interface Round {
  readonly name: string;
  readonly every: Duration;
  readonly description: string;
}

const SWEEPER: Round = {
  name: 'sweeper',
  every: Duration.minutes(1),
  description: 'Starts runs whose start was lost, and ends runs whose machine did not',
};
const REAPER: Round = {
  name: 'reaper',
  every: Duration.minutes(5),
  description: 'Stops sandboxes that nobody needs',
};
/** A pass reads every object row, and what it collects is a day old at least: oftener would cost more than it frees. */
const COLLECTOR: Round = {
  name: 'gc',
  every: Duration.hours(1),
  description: 'Deletes packages that nobody needs',
};
/**
 * Rounds take turns by a lease of their own. A reserved concurrency of one would say the same, but an account that is
 * new has too little for any reservation, and rounds that wait for their turn would count as throttled.
 */
const POOL: Round = {
  name: 'pool',
  every: Duration.minutes(1),
  description: 'Starts the sandboxes that wait for runs',
};

/** Runs: their machine, a function for each of its states, and what looks after runs that went astray. */
export class RunsStack extends Stack {
  readonly stateMachine: sfn.StateMachine;
  /** By name; steps and maintenance. */
  readonly functions: ReadonlyMap<string, lambda.Function>;
  readonly endedExecutions: EndedExecutions;
  /** Rounds of the scheduled functions that could not be started. */
  readonly lostRounds: DeadLetterQueue;
  readonly #functions = new Map<string, lambda.Function>();
  readonly #context: FunctionContext;

  constructor(scope: Construct, id: string, props: RunsStackProps) {
    super(scope, id, props);
    this.#context = props.context;
    this.functions = this.#functions;
    this.stateMachine = this.#machine();
    this.endedExecutions = new EndedExecutions(this, 'EndedExecutions', {
      machine: this.stateMachine,
      function: this.#function(functionSpec('execution-ended')),
    });
    this.lostRounds = new DeadLetterQueue(this, 'LostRounds');
    const pool = props.context.settings.sandbox_pool_size > 0 ? [POOL] : [];
    for (const round of [SWEEPER, REAPER, COLLECTOR, ...pool]) this.#schedule(round);
  }

  #machine(): sfn.StateMachine {
    const { settings, storage } = this.#context;
    const logGroup = new EncryptedLogGroup(this, 'MachineLog', {
      // Step Functions keeps a policy entry for each group, and one for all of this prefix.
      logGroupName: `/aws/vendedlogs/states/${settings.deployment}-runs`,
      settings,
      encryptionKey: storage.key,
    });
    const functions = new Map(TASK_STATES.map((state) => [state, this.#function(functionOfState(state))]));
    return new RunMachine(this, 'Runs', { deployment: settings.deployment, functions, logGroup }).machine;
  }

  #schedule(round: Round): void {
    new ScheduledFunction(this, `Schedule-${round.name}`, {
      function: this.#function(functionSpec(round.name)),
      every: round.every,
      description: round.description,
      deadLetters: this.lostRounds,
    });
  }

  #function(spec: FunctionSpec): lambda.Function {
    const made = new CognitionFunction(this, `Function-${spec.name}`, {
      spec,
      context: this.#context,
      ...(spec.starts_runs ? { stateMachine: this.stateMachine } : {}),
    }).function;
    this.#functions.set(spec.name, made);
    return made;
  }
}

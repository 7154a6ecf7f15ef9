import { Duration } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';

export interface ScheduledFunctionProps {
  readonly function: lambda.Function;
  readonly every: Duration;
  /** What it is for, in the console. */
  readonly description: string;
  /** Gets the rounds that EventBridge could not start. */
  readonly deadLetters: sqs.Queue;
}

/**
 * Calls a function at a fixed rate. A round that was missed is not made up for: the next one does its work, and a
 * queue of late rounds would only run into it. So nothing is tried again, neither by EventBridge nor by Lambda.
 *
 * By a rule and not by EventBridge Scheduler: the function itself says that the rule may call it, so no role is needed.
 */
export class ScheduledFunction extends Construct {
  readonly rule: events.Rule;

  constructor(scope: Construct, id: string, props: ScheduledFunctionProps) {
    super(scope, id);
    this.rule = new events.Rule(this, 'Rule', {
      description: props.description,
      schedule: events.Schedule.rate(props.every),
      targets: [
        new targets.LambdaFunction(props.function, {
          deadLetterQueue: props.deadLetters,
          maxEventAge: Duration.minutes(1),
          retryAttempts: 0,
        }),
      ],
    });
    props.function.configureAsyncInvoke({ maxEventAge: Duration.minutes(1), retryAttempts: 0 });
    acknowledge(props.function, {
      'Serverless-LambdaAsyncFailureDestination':
        'The event of a failed round says nothing that the next round would not know; failures have an alarm.',
    });
  }
}

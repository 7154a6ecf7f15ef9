import { Duration } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as destinations from 'aws-cdk-lib/aws-lambda-destinations';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import {
  ENDED_STATUSES,
  EXECUTION_EVENT_SOURCE,
  EXECUTION_EVENT_TYPE,
} from '../../../shared/contracts/execution-event.ts';
import { DeadLetterQueue } from './dead-letter-queue.ts';

export interface EndedExecutionsProps {
  readonly machine: sfn.StateMachine;
  /** Ends the run and stops its sandbox; safe to call twice. */
  readonly function: lambda.Function;
}

/**
 * Follows up executions that ended without finishing their run. Nothing of it may get lost, so it is tried again for
 * hours, and then kept: the event names the run, and can be sent again.
 */
export class EndedExecutions extends Construct {
  readonly deadLetters: DeadLetterQueue;
  readonly rule: events.Rule;

  constructor(scope: Construct, id: string, props: EndedExecutionsProps) {
    super(scope, id);
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters');
    this.rule = new events.Rule(this, 'Rule', {
      description: 'Executions of the run machine that ended from outside',
      eventPattern: {
        source: [EXECUTION_EVENT_SOURCE],
        detailType: [EXECUTION_EVENT_TYPE],
        detail: { status: [...ENDED_STATUSES], stateMachineArn: [props.machine.stateMachineArn] },
      },
      targets: [
        // Lambda takes the event, or EventBridge tries again.
        new targets.LambdaFunction(props.function, {
          deadLetterQueue: this.deadLetters,
          maxEventAge: Duration.hours(6),
          retryAttempts: 30,
        }),
      ],
    });
    // Once taken, the function gets three chances: at once, after a minute, after two more.
    props.function.configureAsyncInvoke({
      maxEventAge: Duration.hours(6),
      retryAttempts: 2,
      onFailure: new destinations.SqsDestination(this.deadLetters),
    });
  }
}

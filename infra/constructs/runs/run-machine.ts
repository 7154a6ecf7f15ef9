import { readFileSync } from 'node:fs';
import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import * as z from 'zod';
import { acknowledge, OWN_INLINE_POLICY } from '../acknowledge.ts';

const DOCUMENT = readFileSync(new URL('../../run-machine.asl.json', import.meta.url), 'utf8');

const statesSchema = z.object({ States: z.record(z.string(), z.object({ Type: z.string() })) });

/** The states of the run machine that are a function each, in the order of the document. */
export const TASK_STATES: readonly string[] = Object.entries(statesSchema.parse(JSON.parse(DOCUMENT)).States)
  .filter(([, state]) => state.Type === 'Task')
  .map(([name]) => name);

export interface RunMachineProps {
  readonly deployment: string;
  /** By state: every one of TASK_STATES. */
  readonly functions: ReadonlyMap<string, lambda.Function>;
  readonly logGroup: logs.LogGroup;
}

/** The machine of runs: the same document that the standalone server interprets, with a function for each state. */
export class RunMachine extends Construct {
  readonly machine: sfn.StateMachine;

  constructor(scope: Construct, id: string, props: RunMachineProps) {
    super(scope, id);
    const functions = TASK_STATES.map((state) => [state, functionOf(props, state)] as const);
    this.machine = new sfn.StateMachine(this, 'Machine', {
      stateMachineName: `${props.deployment}-runs`,
      stateMachineType: sfn.StateMachineType.STANDARD,
      definitionBody: sfn.DefinitionBody.fromString(DOCUMENT),
      definitionSubstitutions: Object.fromEntries(
        functions.map(([state, fn]) => [`${state}FunctionArn`, fn.functionArn]),
      ),
      role: this.#role(functions.map(([, fn]) => fn.functionArn)),
      // Every transition, so that a run can be followed; no data, although it is fingerprint and run id only.
      logs: { destination: props.logGroup, level: sfn.LogLevel.ALL, includeExecutionData: false },
      tracingEnabled: true,
    });
  }

  /** The machine names functions without version or alias, so their plain ARNs are enough. */
  #role(functionArns: string[]): iam.Role {
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('states.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    });
    role.addToPolicy(
      new iam.PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: functionArns }),
    );
    acknowledge(role, OWN_INLINE_POLICY);
    return role;
  }
}

function functionOf(props: RunMachineProps, state: string): lambda.Function {
  const found = props.functions.get(state);
  if (found === undefined) throw new Error(`no function for the state ${state}`);
  return found;
}

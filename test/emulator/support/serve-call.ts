/** One call of a function: passed on, unless a rule says what is to become of it. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { dynamoUnits, readDynamoCall } from './dynamodb-call.ts';
import type { ParsedFaultRule, Service } from './fault-rules.ts';
import { type Answer, forwardCall, type ProxiedCall } from './forward-call.ts';
import { operationOf } from './operation-of.ts';
import { throttled } from './throttled.ts';
import type { TransactionConflicts } from './transaction-conflicts.ts';

export interface ServeCallOptions {
  /** By the id of who has set them; the first that fits applies. */
  readonly rules: readonly (readonly [string, ParsedFaultRule])[];
  readonly upstream: string;
  readonly conflicts: TransactionConflicts;
}

export type Served = {
  /** Undefined: the connection is to end without one. */
  readonly answer: Answer | undefined;
  readonly fault?: string;
  readonly faults_id?: string;
} & ReturnType<typeof dynamoUnits>;

/** By the prefix of AWS JSON's target; S3 has none. */
const TARGETS: Readonly<Record<string, Service>> = {
  DynamoDB_20120810: 'dynamodb',
  AWSStepFunctions: 'states',
  AmazonEC2ContainerServiceV20141113: 'ecs',
};

export function toCall(name: string, incoming: IncomingMessage, body: Buffer): ProxiedCall {
  const path = incoming.url ?? '/';
  const target = incoming.headers['x-amz-target'];
  const service = typeof target === 'string' ? TARGETS[target.split('.')[0] ?? ''] : 's3';
  if (service === undefined) throw new Error(`${target} is of no service that functions call`);
  const operation = operationOf(incoming.method ?? '', path, target);
  return { function: name, service, operation, path, body, incoming };
}

export async function serveCall(call: ProxiedCall, options: ServeCallOptions): Promise<Served> {
  const [faultsId, rule] = options.rules.find(([, one]) => matches(one, call) && take(one)) ?? [];
  const fault =
    rule === undefined || faultsId === undefined ? {} : { fault: rule.action, faults_id: faultsId };
  if (rule?.action === 'throttle') return { answer: throttled(call.service), ...fault };
  if (rule?.action === 'reset') return { answer: undefined, ...fault };
  if (rule?.action === 'delay') await sleep(rule.delay_ms);
  const { answer, ...facts } =
    call.service === 'dynamodb'
      ? await serveDynamo(call, options)
      : { answer: await forwardCall(call, options.upstream) };
  return { answer: rule?.action === 'lose_reply' ? undefined : answer, ...facts, ...fault };
}

async function serveDynamo(call: ProxiedCall, { upstream, conflicts }: ServeCallOptions): Promise<Served> {
  const dynamo = readDynamoCall(call.operation, call.body.toString());
  const entered = conflicts.enter(dynamo);
  if (typeof entered !== 'function') {
    const headers = { 'content-type': 'application/x-amz-json-1.0' };
    const answer = { status: entered.status, headers, body: Buffer.from(entered.body) };
    return { answer, fault: 'conflict' };
  }
  try {
    const answer = await forwardCall(call, upstream);
    if (answer.status >= 300) return { answer };
    return { answer, ...dynamoUnits(call.operation, dynamo, answer.body.toString()) };
  } finally {
    entered();
  }
}

function matches(rule: ParsedFaultRule, call: ProxiedCall): boolean {
  return (
    rule.service === call.service &&
    (rule.functions?.includes(call.function) ?? true) &&
    (rule.operations?.includes(call.operation) ?? true) &&
    (rule.contains === undefined || call.path.includes(rule.contains) || call.body.includes(rule.contains)) &&
    Math.random() < rule.share
  );
}

/** A rule for a number of calls is used up. */
function take(rule: ParsedFaultRule): boolean {
  if (rule.times === undefined) return true;
  if (rule.times === 0) return false;
  rule.times -= 1;
  return true;
}

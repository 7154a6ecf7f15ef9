/** What the proxy in front of the emulator does to calls of functions, and what it tells of them. */
import * as z from 'zod';

export const SERVICES = ['dynamodb', 's3', 'states', 'ecs'] as const;
export type Service = (typeof SERVICES)[number];

const faultRuleSchema = z.strictObject({
  service: z.enum(SERVICES),
  /** Default: all. Named as in the function table. */
  functions: z.array(z.string()).optional(),
  /** Default: all. Such as `TransactWriteItems`. */
  operations: z.array(z.string()).optional(),
  /** What path or body must contain. */
  contains: z.string().optional(),
  action: z.enum([
    /** Answered with the service's throttling error; the service does not see it. */
    'throttle',
    /** The service has done it, and the connection ends without the answer. */
    'lose_reply',
    /** The connection ends before the service sees the call. */
    'reset',
    /** The service sees the call after `delay_ms`. */
    'delay',
  ]),
  /** Of the calls that match. Default: 1. */
  share: z.number().min(0).max(1).default(1),
  /** How many calls. Default: no bound. */
  times: z.int().min(1).optional(),
  delay_ms: z.int().min(0).default(0),
});
export type FaultRule = z.input<typeof faultRuleSchema>;
export type ParsedFaultRule = z.infer<typeof faultRuleSchema>;

/** What a function does instead of, or after, its work: see the wrapper. */
const functionFaultSchema = z.strictObject({
  function: z.string(),
  /** Only for runs of this scope; a step is given no more of a run. */
  fingerprint: z.string(),
  action: z.enum([
    'throw_before',
    'throw_after',
    'transient_before',
    'transient_after',
    'exit_before',
    'exit_after',
  ]),
  times: z.int().min(1).default(1),
});
export type FunctionFault = z.input<typeof functionFaultSchema>;

/** Those of one test: many tests disturb at a time, each only what it can name. */
export const faultsSchema = z.strictObject({
  rules: z.array(faultRuleSchema).default([]),
  functions: z.array(functionFaultSchema).default([]),
});
export type Faults = z.input<typeof faultsSchema>;
export type ParsedFaults = z.infer<typeof faultsSchema>;

export const seenCallSchema = z.object({
  /** From 1, in the order in which calls came. */
  sequence: z.int(),
  function: z.string(),
  service: z.enum(SERVICES),
  operation: z.string(),
  /** 0: the connection ended without an answer. */
  status: z.int(),
  ms: z.number(),
  request_bytes: z.int(),
  response_bytes: z.int(),
  /** What was done to it, and on whose behalf: see the rules. */
  fault: z.string().optional(),
  faults_id: z.string().optional(),
  /** Items that a DynamoDB write names; a transaction may have many. */
  items: z.int().optional(),
  /** DynamoDB's units by the size of items: for writes with the doubling of transactions, strong for reads. */
  write_units: z.number().optional(),
  read_units: z.number().optional(),
});
export type SeenCall = z.infer<typeof seenCallSchema>;
export const seenCallsSchema = z.array(seenCallSchema);

import aslValidator from 'asl-validator';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { STEP_HANDLERS } from '../../functions/run-steps/step-handlers.ts';
import { TRANSIENT_ERROR } from '../../shared/contracts/workflow.ts';
import { RUN_MACHINE } from '../support/run-world.ts';

const taskSchema = z.strictObject({
  Type: z.literal('Task'),
  Comment: z.string(),
  Resource: z.literal('arn:aws:states:::lambda:invoke'),
  Parameters: z.strictObject({ FunctionName: z.string(), 'Payload.$': z.literal('$') }),
  TimeoutSeconds: z.int().max(300),
  ResultSelector: z.record(z.string(), z.string()).optional(),
  ResultPath: z.string().nullable(),
  Retry: z.array(
    z.strictObject({
      ErrorEquals: z.array(z.string()),
      IntervalSeconds: z.int(),
      BackoffRate: z.number(),
      MaxAttempts: z.int(),
      MaxDelaySeconds: z.int(),
      JitterStrategy: z.literal('FULL'),
    }),
  ),
  Catch: z
    .array(
      z.strictObject({
        ErrorEquals: z.tuple([z.literal('States.ALL')]),
        ResultPath: z.literal('$.error'),
        Next: z.string(),
      }),
    )
    .optional(),
  Next: z.string().optional(),
  End: z.boolean().optional(),
});
const machineSchema = z.object({
  TimeoutSeconds: z.int(),
  States: z.record(z.string(), z.looseObject({ Type: z.string() })),
});

const machine = machineSchema.parse(RUN_MACHINE);
const tasks = Object.entries(machine.States)
  .filter(([, state]) => state.Type === 'Task')
  .map(([name, state]) => ({ name, ...taskSchema.parse(state) }));

describe('the run machine document', () => {
  it('is valid Amazon States Language', () => {
    const definition = structuredClone(RUN_MACHINE);

    const { isValid, errorsText } = aslValidator(definition, { checkPaths: true, checkArn: true });

    expect(isValid, errorsText('\n')).toBe(true);
  });

  it('has a function for each task and a task for each function', () => {
    expect(tasks.map(({ name }) => name).sort()).toEqual(Object.keys(STEP_HANDLERS).sort());
    for (const { name, Parameters } of tasks) {
      expect(Parameters.FunctionName).toBe(`\${${name}FunctionArn}`);
    }
  });

  it('adds a progress word and an error to the ids that it was started with, and nothing of a caller', () => {
    expect(new Set(tasks.map(({ ResultPath }) => ResultPath))).toEqual(new Set([null, '$.progress']));
    for (const { ResultSelector } of tasks) {
      expect([undefined, '{"status.$":"$.Payload.status"}']).toContain(
        ResultSelector && JSON.stringify(ResultSelector),
      );
    }
  });

  it('retries what may pass in every task, with jitter', () => {
    for (const { Retry } of tasks) {
      expect(Retry.map(({ ErrorEquals }) => ErrorEquals[0])).toEqual([
        TRANSIENT_ERROR,
        'Lambda.ServiceException',
      ]);
    }
  });

  it('sends every failure to RecordFailure, that one to Teardown, and lets only Teardown fail the execution', () => {
    const caught = Object.fromEntries(tasks.map(({ name, Catch }) => [name, Catch?.map(({ Next }) => Next)]));
    const { RecordFailure, Teardown, ...rest } = caught;
    expect(new Set(Object.values(rest).flat())).toEqual(new Set(['RecordFailure']));
    expect(Object.values(rest)).not.toContain(undefined);
    expect(RecordFailure).toEqual(['Teardown']);
    expect(Teardown).toBeUndefined();
  });

  it('never waits on the way of a run that goes well', () => {
    expect(Object.values(machine.States).filter(({ Type }) => Type === 'Wait')).toEqual([]);
  });

  it('gives the whole execution more time than the longest run may take', () => {
    expect(machine.TimeoutSeconds).toBeGreaterThan(4_680);
  });
});

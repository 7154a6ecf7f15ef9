import { readFileSync } from 'node:fs';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { TASK_STATES } from '../../infra/constructs/runs/run-machine.ts';
import { FUNCTIONS, functionOfState } from '../../infra/functions/function-table.ts';
import { statementsOf } from './support/policy-statements.ts';
import { resourcesOf, templateOf, type VariantName } from './support/synthesize.ts';

const runs = (name: VariantName = 'production') => Template.fromJSON({ ...templateOf(name, 'runs') });
const machine = () => resourcesOf(templateOf('production', 'runs'), 'AWS::StepFunctions::StateMachine')[0];

/** The logical id of the function of that name. */
function idOf(functionName: string, variant: VariantName = 'production'): string {
  const found = resourcesOf(templateOf(variant, 'runs'), 'AWS::Lambda::Function').find(
    ({ Properties }) => Properties?.FunctionName === `cognition-${functionName}`,
  );
  if (found === undefined) throw new Error(`no function ${functionName}`);
  return found.id;
}

const arnOf = (functionName: string, variant?: VariantName) => ({
  'Fn::GetAtt': [idOf(functionName, variant), 'Arn'],
});

describe('the run machine', () => {
  it('is the document that the standalone server interprets, to the letter', () => {
    const document = readFileSync(new URL('../../infra/run-machine.asl.json', import.meta.url), 'utf8');

    expect(machine()?.Properties?.DefinitionString).toBe(document);
  });

  it('calls the function of each state', () => {
    const substitutions = machine()?.Properties?.DefinitionSubstitutions;

    expect(TASK_STATES).toHaveLength(9);
    expect(substitutions).toEqual(
      Object.fromEntries(
        TASK_STATES.map((state) => [`${state}FunctionArn`, arnOf(functionOfState(state).name)]),
      ),
    );
  });

  it('logs every transition without its data, and is traced', () => {
    runs().hasResourceProperties('AWS::StepFunctions::StateMachine', {
      StateMachineName: 'cognition-runs',
      StateMachineType: 'STANDARD',
      LoggingConfiguration: { IncludeExecutionData: false, Level: 'ALL' },
      TracingConfiguration: { Enabled: true },
    });
    runs().hasResourceProperties('AWS::Logs::LogGroup', {
      LogGroupName: '/aws/vendedlogs/states/cognition-runs',
      RetentionInDays: Match.anyValue(),
      KmsKeyId: Match.anyValue(),
    });
  });

  it('may invoke exactly the functions of its states, unqualified, and is assumed for this account only', () => {
    const template = templateOf('production', 'runs');
    const role = machine()?.Properties?.RoleArn as { 'Fn::GetAtt': [string] };
    const statements = statementsOf('runs', template).filter(({ actions }) =>
      actions.includes('lambda:InvokeFunction'),
    );

    expect(statements).toHaveLength(1);
    expect(statements[0]?.actions).toEqual(['lambda:InvokeFunction']);
    expect(statements[0]?.resources.toSorted()).toEqual(
      TASK_STATES.map((state) => idOf(functionOfState(state).name))
        .map((id) => `\${${id}.Arn}`)
        .toSorted(),
    );
    expect(template.Resources[role['Fn::GetAtt'][0]]?.Properties?.AssumeRolePolicyDocument).toMatchObject({
      Statement: [
        {
          Principal: { Service: 'states.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        },
      ],
    });
  });
});

describe('maintenance', () => {
  it.each([
    ['sweeper', 'rate(1 minute)'],
    ['reaper', 'rate(5 minutes)'],
    ['gc', 'rate(1 hour)'],
  ])('calls the %s at %s, and makes up for no round', (name, rate) => {
    runs().hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: rate,
      State: 'ENABLED',
      Targets: [
        Match.objectLike({
          Arn: arnOf(name),
          DeadLetterConfig: Match.anyValue(),
          RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
        }),
      ],
    });
    runs().hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: idOf(name) },
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    });
  });

  it('fills the pool, where there is one', () => {
    runs('everything').hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 minute)',
      Targets: [Match.objectLike({ Arn: arnOf('pool', 'everything') })],
    });
    expect(() => idOf('pool', 'production')).toThrow();
  });

  it('has every function of the table that is no API function', () => {
    const names = resourcesOf(templateOf('everything', 'runs'), 'AWS::Lambda::Function').map(
      ({ Properties }) => Properties?.FunctionName,
    );

    expect(names.toSorted()).toEqual(
      FUNCTIONS.filter(({ kind }) => kind !== 'api')
        .map(({ name }) => `cognition-${name}`)
        .toSorted(),
    );
  });
});

describe('an execution that ends from outside', () => {
  it('is followed up, with hours of retries, and kept when nothing helped', () => {
    const template = templateOf('production', 'runs');
    const [queue] = resourcesOf(template, 'AWS::SQS::Queue').filter(({ id }) =>
      id.startsWith('EndedExecutions'),
    );
    const deadLetters = { 'Fn::GetAtt': [queue?.id, 'Arn'] };

    runs().hasResourceProperties('AWS::Events::Rule', {
      EventPattern: {
        source: ['aws.states'],
        'detail-type': ['Step Functions Execution Status Change'],
        detail: {
          status: ['ABORTED', 'TIMED_OUT', 'FAILED'],
          stateMachineArn: [{ Ref: machine()?.id }],
        },
      },
      Targets: [
        Match.objectLike({
          Arn: arnOf('execution-ended'),
          DeadLetterConfig: { Arn: deadLetters },
          RetryPolicy: { MaximumEventAgeInSeconds: 6 * 3_600, MaximumRetryAttempts: 30 },
        }),
      ],
    });
    runs().hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: idOf('execution-ended') },
      DestinationConfig: { OnFailure: { Destination: deadLetters } },
      MaximumRetryAttempts: 2,
    });
  });

  it('may be called by its rule alone, as every rule may call its own function', () => {
    const template = templateOf('everything', 'runs');
    const permissions = resourcesOf(template, 'AWS::Lambda::Permission');
    const rules = resourcesOf(template, 'AWS::Events::Rule');

    expect(permissions).toHaveLength(rules.length);
    for (const { Properties } of permissions) {
      expect(Properties).toMatchObject({
        Action: 'lambda:InvokeFunction',
        Principal: 'events.amazonaws.com',
        SourceArn: { 'Fn::GetAtt': [expect.any(String), 'Arn'] },
      });
    }
  });
});

describe('queues of dead letters', () => {
  it('are encrypted, refuse plain HTTP and keep what they get for two weeks', () => {
    const queues = resourcesOf(templateOf('production', 'runs'), 'AWS::SQS::Queue');

    expect(queues).toHaveLength(2);
    for (const { Properties } of queues) {
      expect(Properties).toEqual({ SqsManagedSseEnabled: true, MessageRetentionPeriod: 14 * 86_400 });
    }
    expect(
      statementsOf('runs', templateOf('production', 'runs')).filter(
        ({ effect, conditions }) =>
          effect === 'Deny' && JSON.stringify(conditions) === '{"Bool":{"aws:SecureTransport":"false"}}',
      ),
    ).toHaveLength(2);
  });
});

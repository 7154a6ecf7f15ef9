import { Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { CognitionFunction } from '../../infra/constructs/functions/cognition-function.ts';
import { FUNCTIONS, type FunctionSpec, functionSpec } from '../../infra/functions/function-table.ts';
import {
  environmentGroups,
  FUNCTION_ENVIRONMENT,
  functionVariables,
} from '../../shared/contracts/function-environment.ts';
import { sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { type PolicyStatement, statementsOf, textOf } from './support/policy-statements.ts';
import {
  type Properties,
  type Resource,
  resourcesOf,
  settingsOf,
  synthesize,
  templateOf,
  VARIANT_NAMES,
  VARIANTS,
  type VariantName,
  variant,
} from './support/synthesize.ts';

const stackOf = ({ kind }: FunctionSpec): string => (kind === 'api' ? 'api' : 'runs');

function deployed(spec: FunctionSpec, name: VariantName = 'production'): Resource & { readonly id: string } {
  const found = resourcesOf(templateOf(name, stackOf(spec)), 'AWS::Lambda::Function').find(
    ({ Properties }) => Properties?.FunctionName === `cognition-${spec.name}`,
  );
  if (found === undefined) throw new Error(`no function ${spec.name}`);
  return found;
}

/** Its environment as the template has it. */
const given = ({ Properties }: Resource): Properties =>
  (Properties?.Environment as { Variables?: Properties } | undefined)?.Variables ?? {};

const isDeployed = (spec: FunctionSpec, name: VariantName): boolean =>
  spec.name !== 'pool' || variant(name).stacks.context.settings.sandbox_pool_size > 0;

function variablesOf(spec: FunctionSpec, name?: VariantName): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(given(deployed(spec, name))).map(([key, value]) => [key, textOf(value)]),
  );
}

function statements(spec: FunctionSpec, name: VariantName = 'production'): PolicyStatement[] {
  const role = textOf(deployed(spec, name).Properties?.Role).match(/\w+/)?.[0];
  const stack = stackOf(spec);
  return statementsOf(stack, templateOf(name, stack)).filter(
    ({ where, type }) => type === 'AWS::IAM::Policy' && where.startsWith(`${stack}/${role?.slice(0, -8)}`),
  );
}

const allowed = (spec: FunctionSpec, name?: VariantName): Set<string> =>
  new Set(
    statements(spec, name)
      .filter(({ effect }) => effect === 'Allow')
      .flatMap(({ actions }) => actions),
  );

const named = functionSpec;
const cases = VARIANT_NAMES.flatMap((name) =>
  FUNCTIONS.filter((spec) => isDeployed(spec, name)).map((spec) => ({
    variant: name,
    name: spec.name,
    spec,
  })),
);

const REGION_AND_ACCOUNT = 'ap-southeast-1:123456789012';

/** What AWS puts in the place of each value that is known at deployment only, as long as it can be. */
const LONGEST: readonly (readonly [RegExp, string])[] = [
  [/RefTask/, `arn:aws:ecs:${REGION_AND_ACCOUNT}:task-definition/cognition-sandbox-${'x'.repeat(64)}:99999`],
  [/Subnet/, `subnet-${'0'.repeat(17)}`],
  [/GroupId/, `sg-${'0'.repeat(17)}`],
  [/RefTable/, `${'d'.repeat(20)}-storage-TableCD117FA1-${'X'.repeat(13)}`],
  [/Artifacts|Packages/, 'b'.repeat(63)],
  [/Machine/, `arn:aws:states:${REGION_AND_ACCOUNT}:stateMachine:${'d'.repeat(20)}-runs`],
];

function longest(text: string): string {
  return text.replaceAll(/\$\{[^}]*}/g, (token) => {
    const [, value] = LONGEST.find(([pattern]) => pattern.test(token)) ?? [];
    if (value === undefined) throw new Error(`how long can ${token} be?`);
    return value;
  });
}

describe('a function', () => {
  it.each(FUNCTIONS)('runs the code of its bundle as its row says: $name', (spec) => {
    const { Properties } = deployed(spec, 'everything');

    expect(Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      MemorySize: spec.memory_mb,
      Timeout: spec.timeout_seconds,
    });
    expect(Properties?.VpcConfig === undefined).toBe(!spec.vpc);
  });

  it.each(cases)('is given what its environment must have, and nothing else: $name in $variant', (one) => {
    const variables = variablesOf(one.spec, one.variant);

    for (const group of environmentGroups(one.spec)) {
      const parsed = FUNCTION_ENVIRONMENT[group].safeParse(variables);
      expect(parsed.error?.issues ?? [], group).toEqual([]);
    }
    const ofEmulators = one.variant === 'emulator' ? ['COGNITION_UNSAFE_CALLER'] : [];
    const known = new Set([...functionVariables(one.spec), ...ofEmulators, 'AWS_ACCOUNT_ID_ENDPOINT_MODE']);
    expect(Object.keys(variables).filter((name) => !known.has(name))).toEqual([]);
  });

  it('reads logs, table and packages of its own deployment', () => {
    const variables = variablesOf(named('runs'));

    expect(variables).toMatchObject({
      COGNITION_ENVIRONMENT: 'production',
      COGNITION_DEPLOYMENT: 'cognition',
      COGNITION_SKILLS_BACKEND: 's3',
      COGNITION_TABLE: expect.stringContaining('cognition-storage:PublishOutputRefTable'),
      COGNITION_SKILLS_S3_BUCKET: expect.stringContaining('Packages'),
      COGNITION_RUNS_AT_ONCE: '500',
    });
    expect(variablesOf(named('skills'), 'own_bucket')).toMatchObject({
      COGNITION_SKILLS_S3_BUCKET: 'operators-packages',
      COGNITION_SKILLS_S3_PREFIX: 'skills/',
    });
    expect(variablesOf(named('skills'), 'everything')).not.toHaveProperty('COGNITION_SKILLS_S3_BUCKET');
  });

  it('is told of an unsafe caller and another ECS in the form for emulators alone', () => {
    const { environment } = VARIANTS.emulator;
    const settings = { ...environment, COGNITION_ENDPOINT_URL_ECS: 'http://127.0.0.1:1234/secret' };
    const { templates } = synthesize(settingsOf({ environment: settings }));
    const made = [...templates.values()].flatMap((template) =>
      resourcesOf(template, 'AWS::Lambda::Function'),
    );
    const variables = (name: string): Properties => {
      const found = made.find(({ Properties }) => Properties?.FunctionName === `cognition-${name}`);
      if (found === undefined) throw new Error(`no function ${name}`);
      return given(found);
    };

    for (const spec of FUNCTIONS.filter(({ name }) => name !== 'pool')) {
      const { COGNITION_UNSAFE_CALLER, AWS_ENDPOINT_URL_ECS } = variables(spec.name);
      expect(COGNITION_UNSAFE_CALLER, spec.name).toBe(
        spec.kind === 'api' ? '000000000000/AROALOCALBUILDER' : undefined,
      );
      expect(AWS_ENDPOINT_URL_ECS, spec.name).toBe(
        spec.ecs.length > 0 ? 'http://127.0.0.1:1234/secret' : undefined,
      );
    }
    // The other ECS knows families; the emulator may have no definitions at all.
    expect(variables('launch-sandbox').COGNITION_TASK_DEFINITIONS).toBe(
      '{"default":"cognition-sandbox-default"}',
    );
    for (const { spec, variant: name } of cases.filter(({ variant: one }) => one !== 'emulator')) {
      expect(Object.keys(variablesOf(spec, name)).join(' ')).not.toMatch(/UNSAFE|AWS_ENDPOINT_URL/);
    }
  });

  it('fits into the environment that Lambda has, with as many profiles and as long names as there may be', () => {
    const profiles = Array.from({ length: 8 }, (_, index) =>
      sandboxProfileSchema.parse({ name: `${index}${'x'.repeat(63)}` }),
    );
    const settings = settingsOf({ environment: { COGNITION_DEPLOYMENT: 'd'.repeat(20) } });
    const { templates } = synthesize({ ...settings, profiles });

    const sizes = [...templates.values()]
      .flatMap((template) => resourcesOf(template, 'AWS::Lambda::Function'))
      .map(
        ({ Properties }) =>
          (Properties?.Environment as { Variables?: Properties } | undefined)?.Variables ?? {},
      )
      .map((variables) => Object.entries(variables).map(([name, value]) => name + longest(textOf(value))))
      .map((variables) => Buffer.byteLength(variables.join('')));

    expect(Math.max(...sizes)).toBeGreaterThan(3_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4_096);
  });

  it('writes a log of its own, encrypted and for a while, and none but this', () => {
    for (const spec of FUNCTIONS) {
      const groups = resourcesOf(templateOf('everything', stackOf(spec)), 'AWS::Logs::LogGroup');
      const own = groups.find(
        ({ Properties }) => Properties?.LogGroupName === `/aws/lambda/cognition-${spec.name}`,
      );
      expect(own?.Properties, spec.name).toMatchObject({ RetentionInDays: 90, KmsKeyId: expect.anything() });
      const logging = statements(spec, 'everything').filter(({ actions }) =>
        actions.includes('logs:PutLogEvents'),
      );
      expect(logging.map(({ actions, resources }) => ({ actions, resources }))).toEqual([
        { actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [`\${${own?.id}.Arn}`] },
      ]);
    }
  });

  it('is traced as a state of the machine, and never as part of the API, whose paths hold scopes', () => {
    for (const spec of FUNCTIONS) {
      const mode = (deployed(spec, 'everything').Properties?.TracingConfig as { Mode?: string } | undefined)
        ?.Mode;
      expect(mode, spec.name).toBe(spec.kind === 'step' ? 'Active' : undefined);
    }
  });

  it('reserves no concurrency: an account that is new has none to spare, and would refuse the deployment', () => {
    for (const spec of FUNCTIONS) {
      expect(deployed(spec, 'everything').Properties, spec.name).not.toHaveProperty(
        'ReservedConcurrentExecutions',
      );
    }
  });

  it('has no role of another', () => {
    const roles = FUNCTIONS.map(
      (spec) => `${stackOf(spec)} ${textOf(deployed(spec, 'everything').Properties?.Role)}`,
    );

    expect(new Set(roles).size).toBe(FUNCTIONS.length);
  });
});

describe('what a function may do', () => {
  it.each(cases)('follows from its row: $name in $variant', ({ spec, variant: name }) => {
    const actions = allowed(spec, name);
    const s3 = name !== 'everything';
    const has = (action: string): boolean => actions.has(action);

    expect(has('dynamodb:GetItem')).toBe(spec.table !== 'none');
    expect(has('dynamodb:Scan')).toBe(false);
    expect(has('ecs:RunTask')).toBe(spec.ecs.includes('RunTask'));
    expect(has('iam:PassRole')).toBe(spec.ecs.includes('RunTask'));
    expect(has('ecs:TagResource')).toBe(spec.ecs.includes('RunTask'));
    expect(has('ecs:StopTask')).toBe(spec.ecs.includes('StopTask'));
    expect(has('ecs:ListTasks')).toBe(spec.ecs.includes('ListTasks'));
    expect(has('states:StartExecution')).toBe(spec.starts_runs);
    expect(has('ec2:CreateNetworkInterface')).toBe(spec.vpc);
    const reads = (s3 && /read/.test(spec.packages)) || /read/.test(`${spec.artifacts} ${spec.inputs}`);
    const writes = (s3 && /write/.test(spec.packages)) || /write/.test(`${spec.artifacts} ${spec.inputs}`);
    expect(has('s3:GetObject')).toBe(reads);
    expect(has('s3:PutObject')).toBe(writes);
    expect(has('s3:DeleteObject')).toBe(s3 && spec.packages === 'delete');
  });

  it('is to start tasks of the deployment, in its cluster, with no role but the one that starts them', () => {
    const launch = statements(named('launch-sandbox'));
    const of = (action: string) => launch.filter(({ actions }) => actions.includes(action));

    expect(of('ecs:RunTask')).toMatchObject([
      {
        resources: [expect.stringMatching(/:task-definition\/cognition-sandbox-default:\*$/)],
        conditions: { ArnEquals: { 'ecs:cluster': expect.anything() } },
      },
    ]);
    expect(of('ecs:TagResource')).toMatchObject([
      { conditions: { StringEquals: { 'ecs:CreateAction': 'RunTask' } } },
    ]);
    expect(of('iam:PassRole')).toMatchObject([
      {
        resources: [expect.stringContaining('cognition-sandbox:PublishOutputFnGetAttExecutionRole')],
        conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
      },
    ]);
  });

  it('is never to see the key of a sandbox, but for those that talk to one', () => {
    for (const spec of FUNCTIONS) {
      const denied = statements(spec, 'everything').filter(
        ({ effect, actions, conditions }) =>
          effect === 'Deny' &&
          actions.some((action) => action.startsWith('dynamodb:')) &&
          JSON.stringify(conditions).includes('sandbox-key#'),
      );
      if (spec.sandbox_keys || spec.table === 'none') {
        expect(denied, spec.name).toEqual([]);
        continue;
      }
      for (const { conditions } of denied) {
        expect(conditions, spec.name).toMatchObject({
          'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': ['sandbox-key#*'] },
        });
      }
      const actions = new Set(denied.flatMap((statement) => statement.actions));
      expect(actions, spec.name).toEqual(
        new Set(
          ['ConditionCheckItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query'].map((one) => `dynamodb:${one}`),
        ),
      );
      // Who ends sandboxes deletes their keys, and is not told what it deletes.
      const deletion = denied.find((statement) => statement.actions.includes('dynamodb:DeleteItem'));
      const unseen = { StringEquals: { 'dynamodb:ReturnValues': 'ALL_OLD' } };
      if (spec.ecs.includes('StopTask')) expect(deletion?.conditions).toMatchObject(unseen);
      else expect(deletion?.conditions).not.toMatchObject(unseen);
    }
  });

  it('is to use the key only as the table and the buckets do', () => {
    for (const spec of FUNCTIONS) {
      const uses = statements(spec, 'everything').filter(({ actions }) =>
        actions.some((action) => action.startsWith('kms:')),
      );
      for (const { conditions, resources } of uses) {
        expect(textOf((conditions as { StringEquals: Properties }).StringEquals['kms:ViaService'])).toMatch(
          /^(dynamodb|s3)\.\$\{AWS::Region}\.amazonaws\.com$/,
        );
        expect(resources).not.toContain('*');
      }
    }
  });

  it('is not to make network interfaces itself', () => {
    const [denied] = statements(named('execute')).filter(
      ({ effect, actions }) => effect === 'Deny' && actions.includes('ec2:CreateNetworkInterface'),
    );

    expect(denied?.conditions).toMatchObject({
      ArnEquals: { 'lambda:SourceFunctionArn': expect.anything() },
    });
  });

  it('is nothing with an existing bucket but its own packages in it', () => {
    const [write] = statements(named('skills'), 'own_bucket').filter(({ actions }) =>
      actions.includes('s3:PutObject'),
    );

    expect(write?.resources).toEqual([
      expect.stringMatching(/:s3:::operators-packages\/skills\/packages\/\*$/),
    ]);
  });

  it('is nothing with a bucket of that name in another account', () => {
    const ofPackages = FUNCTIONS.filter(
      (spec) => spec.packages !== 'none' && isDeployed(spec, 'own_bucket'),
    ).flatMap((spec) =>
      statements(spec, 'own_bucket').filter(({ resources }) =>
        resources.some((one) => one.includes(':s3:::operators-packages')),
      ),
    );

    expect(ofPackages.length).toBeGreaterThan(5);
    for (const { conditions } of ofPackages) {
      expect(textOf((conditions as { StringEquals: Properties }).StringEquals['aws:ResourceAccount'])).toBe(
        `\${AWS::AccountId}`,
      );
    }
  });
});

describe('a construct of a function', () => {
  it('refuses a bundle that is not there, and a machine where none belongs', () => {
    const { context, runs } = variant('production').stacks;
    const make = (spec: FunctionSpec, more = {}) =>
      new CognitionFunction(new Stack(), 'One', { spec, context: { ...context, ...more } });

    expect(() => make(named('agents'), { bundles: new Map() })).toThrow('no bundle of the function agents');
    expect(() => make(named('runs'))).toThrow('runs needs the machine of runs');
    expect(
      () =>
        new CognitionFunction(new Stack(), 'Two', {
          spec: named('agents'),
          context,
          stateMachine: runs.stateMachine,
        }),
    ).toThrow('agents has no use for the machine of runs');
  });
});

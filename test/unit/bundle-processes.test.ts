/** Each bundle in a process of its own, as Lambda runs it: how it starts, how it refuses to, and what it answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FUNCTIONS } from '../../infra/functions/function-table.ts';
import { FUNCTION_ENVIRONMENT } from '../../shared/contracts/function-environment.ts';
import { encodeScopeRef, scopeFingerprint } from '../../shared/domain/scope.ts';
import { SCOPE } from '../support/api-fakes.ts';
import { apiEvent } from '../support/api-requests.ts';
import { type FakeAws, startFakeAws } from '../support/fake-aws.ts';
import {
  environmentOf,
  LAMBDA_ENVIRONMENT,
  makeBundles,
  messageOf,
  runFunction,
  type TestBundles,
} from '../support/function-bundles.ts';
import { skillFiles } from '../support/skill-files.ts';

let bundles: TestBundles;
let aws: FakeAws;
beforeAll(async () => {
  [bundles, aws] = await Promise.all([makeBundles(), startFakeAws()]);
}, 240_000);
afterAll(async () => {
  await bundles.close();
  await aws.close();
});

const names = FUNCTIONS.map(({ name }) => name);
const run = (name: string, environment: Record<string, string>, event?: unknown, from = bundles) =>
  runFunction(from.folders.get(name) ?? '', environment, event);

describe.each(names)('%s', (name) => {
  it('starts with the environment that it is deployed with', async () => {
    const started = await run(name, { ...environmentOf(name), ...LAMBDA_ENVIRONMENT });

    expect(started).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('does not start without one, and names all that is missing in one line', async () => {
    const optional = new Set([
      'COGNITION_SKILLS_S3_BUCKET',
      'COGNITION_SKILLS_S3_PREFIX',
      'COGNITION_SKILLS_S3_REGION',
    ]);
    const required = Object.keys(environmentOf(name)).filter((variable) => !optional.has(variable));

    const refused = await run(name, LAMBDA_ENVIRONMENT);

    expect(refused.code).toBe(1);
    const message = messageOf(refused);
    expect(message).toMatch(new RegExp(`^the function ${name} cannot start: `));
    const told = message.replace(/^.*?: /, '').split('; ');
    expect(told.toSorted()).toEqual(required.map((variable) => `${variable} is missing`).toSorted());
  });
});

describe('a function', () => {
  it('with the S3 backend and no bucket does not start', async () => {
    const { COGNITION_SKILLS_S3_BUCKET: _, ...environment } = environmentOf('materialize');

    const refused = await run('materialize', { ...environment, ...LAMBDA_ENVIRONMENT });

    expect(messageOf(refused)).toBe(
      'the function materialize cannot start: COGNITION_SKILLS_S3_BUCKET is missing',
    );
  });

  it('with packages in the table needs no bucket', async () => {
    const { COGNITION_SKILLS_S3_BUCKET: _, ...environment } = environmentOf('materialize');

    const started = await run('materialize', { ...environment, COGNITION_SKILLS_BACKEND: 'config_registry' });

    expect(started.code).toBe(0);
  });

  it.each([
    ['COGNITION_SKILLS_BACKEND', 'filesystem', 'is config_registry or s3'],
    ['COGNITION_TASK_DEFINITIONS', '{', 'is not JSON'],
    ['COGNITION_TASK_DEFINITIONS', '[]', 'is a JSON object of texts by profile'],
    ['COGNITION_ENVIRONMENT', 'test', 'is development or production'],
    ['COGNITION_SANDBOX_SUBNETS', '', 'is missing'],
  ])('with %s=%s says that it %s', async (variable, value, problem) => {
    const refused = await run('pool', { ...environmentOf('pool'), [variable]: value });

    expect(messageOf(refused)).toBe(`the function pool cannot start: ${variable} ${problem}`);
  });

  it('knows every variable by one name', () => {
    const all = Object.values(FUNCTION_ENVIRONMENT).flatMap(({ shape }) => Object.keys(shape));

    expect(new Set(all).size).toBe(all.length);
  });
});

const RUN = { fingerprint: scopeFingerprint(SCOPE), run_id: '01JZ0000000000000000000000' };
const EXECUTION_ENDED = {
  source: 'aws.states',
  'detail-type': 'Step Functions Execution Status Change',
  detail: { name: RUN.run_id, status: 'ABORTED', input: JSON.stringify(RUN) },
};
const NOT_FOUND = { error: expect.objectContaining({ name: 'not_found' }) };
const NOTHING = {};
const answered = (status: number) => ({ value: expect.objectContaining({ statusCode: status }) });

const answerOf = async (name: string, event: unknown, more: Record<string, string> = {}, from = bundles) => {
  const environment = {
    ...environmentOf(name),
    ...LAMBDA_ENVIRONMENT,
    AWS_ENDPOINT_URL: aws.endpoint,
    ...more,
  };
  const { stdout, stderr } = await run(name, environment, event, from);
  const [logs = '', answer = ''] = stdout.split('ANSWER ');
  const written = logs + stderr;
  const lines = written.split('\n').filter((line) => line !== '');
  return { answer: JSON.parse(answer), written, lines: lines.map((line) => JSON.parse(line)) };
};

describe('over clients of AWS that find nothing', () => {
  const files = skillFiles('one', {});
  it.each([
    ['skills', apiEvent('getSkill', { params: { name: 'one' } }), answered(404), 'DynamoDB_20120810.GetItem'],
    [
      'skills',
      apiEvent('createSkill', { json: { name: 'one', files } }),
      answered(201),
      'S3 PUT /packages-bucket/packages',
    ],
    ['skill-validations', apiEvent('validateSkill', { json: { name: 'one', files } }), answered(200), ''],
    [
      'agents',
      apiEvent('createAgent', { json: { name: 'a', skills: [] } }),
      answered(201),
      'DynamoDB_20120810.PutItem',
    ],
    ['runs', apiEvent('listRuns'), answered(200), 'DynamoDB_20120810.Query'],
    [
      'artifacts',
      apiEvent('createArtifact', { body: 'bytes' }),
      answered(201),
      'S3 PUT /artifacts-bucket/inputs',
    ],
    ['pin-manifest', RUN, NOT_FOUND, 'DynamoDB_20120810.GetItem'],
    ['launch-sandbox', RUN, NOT_FOUND, 'DynamoDB_20120810.GetItem'],
    ['await-sandbox', RUN, NOT_FOUND, 'DynamoDB_20120810.GetItem'],
    ['materialize', RUN, NOT_FOUND, 'DynamoDB_20120810.GetItem'],
    ['execute', RUN, NOT_FOUND, 'DynamoDB_20120810.GetItem'],
    ['collect-artifacts', RUN, NOT_FOUND, 'DynamoDB_20120810.GetItem'],
    ['finish', RUN, NOT_FOUND, 'DynamoDB_20120810.GetItem'],
    ['record-failure', RUN, NOTHING, 'DynamoDB_20120810.GetItem'],
    ['teardown', RUN, NOTHING, 'DynamoDB_20120810.DeleteItem'],
    ['execution-ended', EXECUTION_ENDED, NOTHING, 'DynamoDB_20120810.DeleteItem'],
    ['sweeper', {}, NOTHING, 'DynamoDB_20120810.Query'],
    ['reaper', {}, NOTHING, 'AmazonEC2ContainerServiceV20141113.ListTasks'],
    ['gc', {}, NOTHING, 'DynamoDB_20120810.Query'],
    ['pool', {}, NOTHING, 'DynamoDB_20120810.TransactWriteItems'],
  ])('%s comes to its answer', async (name, event, expected, call) => {
    aws.calls.length = 0;

    const { answer, lines, written } = await answerOf(name, event);

    expect(answer).toEqual(expected);
    if (call === '') expect(aws.calls).toEqual([]);
    else expect(aws.calls.filter((made) => made.startsWith(call))).not.toEqual([]);
    expect(lines).not.toEqual([]);
    for (const line of lines.filter(({ _aws }) => _aws === undefined)) {
      expect(line).toMatchObject({
        service: name,
        function_request_id: 'lambda-1',
        function_name: 'blue-function',
        cold_start: true,
      });
    }
    for (const secret of [...Object.values(SCOPE), encodeScopeRef(SCOPE)])
      expect(written).not.toContain(secret);
  });
});

describe('what an API function logs', () => {
  it('joins the request with the fingerprint of its scope', async () => {
    const { lines } = await answerOf('runs', apiEvent('listRuns'));

    expect(lines).toMatchObject([
      {
        message: 'request answered',
        request_id: 'req-1',
        route: 'GET /v1/scopes/{scopeRef}/runs',
        fingerprint: scopeFingerprint(SCOPE),
        status: 200,
      },
    ]);
  });

  it('of a step joins the run and the invocation', async () => {
    const { lines } = await answerOf('finish', RUN);

    expect(lines).toMatchObject([{ message: 'run.step_failed', step: 'Finish', ...RUN }]);
  });

  it('goes along with what was measured', async () => {
    const ref = encodeScopeRef({ tenant: 'other' });
    const { answer, lines } = await answerOf('runs', apiEvent('listRuns', { ref }));

    expect(answer).toEqual(answered(403));
    expect(lines.find(({ _aws }) => _aws !== undefined)).toMatchObject({
      deployment: 'blue',
      ScopeDenied: 1,
    });
  });
});

describe('the caller that an emulator does not name', () => {
  let trusting: TestBundles;
  beforeAll(async () => {
    trusting = await makeBundles({ unsafe_caller: true });
  }, 240_000);
  afterAll(() => trusting.close());
  const development = {
    COGNITION_ENVIRONMENT: 'development',
    COGNITION_UNSAFE_CALLER: '123456789012/AROAEXAMPLEROLEID001',
  };
  const unsigned = apiEvent('listRuns', { identity: { accountId: null, caller: null } });

  it('is taken where API Gateway names none, with a warning', async () => {
    const { answer, lines } = await answerOf('runs', unsigned, development, trusting);

    expect(answer).toEqual(answered(200));
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'WARN',
        message: expect.stringContaining('COGNITION_UNSAFE_CALLER'),
      }),
    );
  });

  it('is not taken where API Gateway names one', async () => {
    const identity = { accountId: '123456789012', caller: 'AROAOTHERROLEID00001:session' };
    const { answer } = await answerOf('runs', apiEvent('listRuns', { identity }), development, trusting);

    expect(answer).toEqual(answered(403));
  });

  it('is nobody to a function that is bundled for AWS, whatever its environment says', async () => {
    for (const environment of [development, { ...development, COGNITION_ENVIRONMENT: 'production' }]) {
      const { answer } = await answerOf('runs', unsigned, environment);

      expect(answer).toEqual(answered(403));
    }
  });

  it('is refused in production', async () => {
    const production = { ...development, COGNITION_ENVIRONMENT: 'production' };

    const refused = await run('runs', { ...environmentOf('runs'), ...production }, undefined, trusting);

    expect(messageOf(refused)).toBe(
      'the function runs cannot start: COGNITION_UNSAFE_CALLER is for development: leave it out',
    );
  });

  it('is nobody where none is set', async () => {
    const { answer } = await answerOf('runs', unsigned, {}, trusting);

    expect(answer).toEqual(answered(403));
  });
});

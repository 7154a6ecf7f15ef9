/** What the roles of functions may do: rows of others, keys of sandboxes, scans, objects, roles for tasks. */
import { describe, expect, it } from 'vitest';
import { FUNCTIONS } from '../../infra/functions/function-table.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import { CLUSTER, EXECUTION_ROLE, may, OUTPUTS, REGION, TABLE } from './support/policy-simulator.ts';
import { ACCOUNT } from './support/synthesize.ts';

const WITH_TABLE = FUNCTIONS.filter(({ table }) => table !== 'none').map(
  (spec) => [spec.name, spec] as const,
);
const leading = (...keys: string[]) => ({ 'dynamodb:LeadingKeys': keys });
const A_KEY = KEYS.sandboxKey('01ARZ3NDEKTSV4RRFFQ69G5FAV').pk;
const SCOPE = 'f'.repeat(52);
const A_ROW = KEYS.run(SCOPE, 'r').pk;

describe.each(WITH_TABLE)('the table, for %s', (_name, spec) => {
  it('is open for rows, all but those with keys of sandboxes', async () => {
    for (const action of ['GetItem', 'Query', 'PutItem', 'DeleteItem', 'ConditionCheckItem']) {
      expect(await may(spec, `dynamodb:${action}`, TABLE, leading(A_ROW)), action).toBe(true);
    }
    for (const action of ['GetItem', 'Query', 'PutItem', 'ConditionCheckItem']) {
      expect(await may(spec, `dynamodb:${action}`, TABLE, leading(A_KEY)), action).toBe(spec.sandbox_keys);
    }
  });

  it('gives up a key to be deleted by those who end sandboxes, and shows it to none of them', async () => {
    const ends = spec.sandbox_keys || spec.ecs.includes('StopTask');

    expect(await may(spec, 'dynamodb:DeleteItem', TABLE, leading(A_KEY))).toBe(ends);
    const shown = { ...leading(A_KEY), 'dynamodb:ReturnValues': 'ALL_OLD' };
    expect(await may(spec, 'dynamodb:DeleteItem', TABLE, shown)).toBe(spec.sandbox_keys);
  });

  it('shows no key among other rows', async () => {
    expect(await may(spec, 'dynamodb:GetItem', TABLE, leading(A_ROW, A_KEY))).toBe(spec.sandbox_keys);
  });

  it('is closed where skills, agents and inputs are, for those that only look after runs', async () => {
    const rows = [
      KEYS.skills(SCOPE),
      KEYS.revisions(SCOPE, 's'),
      KEYS.objects(SCOPE, 'd'),
      KEYS.agents(SCOPE),
      KEYS.inputArtifact(SCOPE, 'a').pk,
      KEYS.idempotency(SCOPE, 'h').pk,
      ...KEYS.objectIndex(),
      ...KEYS.deletedSkills(),
    ];
    for (const action of ['GetItem', 'Query', 'PutItem', 'DeleteItem', 'ConditionCheckItem']) {
      for (const row of rows) {
        expect(await may(spec, `dynamodb:${action}`, TABLE, leading(row)), `${action} ${row}`).toBe(
          spec.registry,
        );
      }
    }
  });

  it('takes a package from those that publish, and shows it to those that place it', async () => {
    const a_package = leading(KEYS.blob(`package#${SCOPE}#sha256:${'0'.repeat(64)}`));
    const can = (action: string) => may(spec, `dynamodb:${action}`, TABLE, a_package);

    expect(await can('PutItem')).toBe(spec.packages === 'read_write');
    expect(await can('DeleteItem')).toBe(['read_write', 'delete'].includes(spec.packages));
    for (const action of ['GetItem', 'Query']) expect(await can(action)).toBe(spec.packages !== 'none');
  });

  it('is open for pools, whatever a profile is called', async () => {
    for (const profile of ['object', 'revision', 'skill', 'package']) {
      const pool = KEYS.pools(profile, `sha256:${'0'.repeat(64)}/0123456789abcdef`);
      expect(await may(spec, 'dynamodb:Query', TABLE, leading(pool)), profile).toBe(true);
    }
  });

  it.each([
    'Scan',
    'BatchGetItem',
    'BatchWriteItem',
    'UpdateItem',
    'PartiQLSelect',
    'DeleteTable',
    'UpdateTable',
    'CreateBackup',
  ])('takes no %s', async (action) => {
    expect(await may(spec, `dynamodb:${action}`, TABLE, leading(A_ROW))).toBe(false);
  });
});

describe.each(FUNCTIONS.map((spec) => [spec.name, spec] as const))('tasks, for %s', (_name, spec) => {
  const toTasks = { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' };
  const starts = spec.ecs.includes('RunTask');

  it('get the execution role from those who start them, and no other role from anybody', async () => {
    expect(await may(spec, 'iam:PassRole', EXECUTION_ROLE, toTasks)).toBe(starts);
    expect(await may(spec, 'iam:PassRole', `arn:aws:iam::${ACCOUNT}:role/Administrator`, toTasks)).toBe(
      false,
    );
    expect(
      await may(spec, 'iam:PassRole', EXECUTION_ROLE, { 'iam:PassedToService': 'lambda.amazonaws.com' }),
    ).toBe(false);
  });

  it('are started of the deployment’s own families, in its own cluster', async () => {
    const family = (name: string) => `arn:aws:ecs:${REGION}:${ACCOUNT}:task-definition/${name}:7`;
    const run = (name: string, cluster: string) =>
      may(spec, 'ecs:RunTask', family(name), { 'ecs:cluster': cluster });

    expect(await run('cognition-sandbox-default', CLUSTER)).toBe(starts);
    expect(await run('cognition-sandbox-default', `${CLUSTER}-other`)).toBe(false);
    expect(await run('something-else', CLUSTER)).toBe(false);
  });

  it('are stopped in its own cluster', async () => {
    const task = (cluster: string) => `arn:aws:ecs:${REGION}:${ACCOUNT}:task/${cluster}/0123456789abcdef`;

    expect(await may(spec, 'ecs:StopTask', task('cognition'), { 'ecs:cluster': CLUSTER })).toBe(
      spec.ecs.includes('StopTask'),
    );
    expect(await may(spec, 'ecs:StopTask', task('other'), { 'ecs:cluster': `${CLUSTER}-other` })).toBe(false);
  });
});

describe.each(FUNCTIONS.map((spec) => [spec.name, spec] as const))('objects, for %s', (_name, spec) => {
  it.each(['artifacts', 'inputs'] as const)('are read and written as its row says: %s', async (side) => {
    const can = (action: string) => may(spec, `s3:${action}`, `${OUTPUTS}/${side}/${SCOPE}/an-object`);

    expect(await can('GetObject')).toBe(/read/.test(spec[side]));
    expect(await can('PutObject')).toBe(/write/.test(spec[side]));
    expect(await can('DeleteObject')).toBe(false);
  });

  it('are never both: nobody who writes what a run put out writes what another takes in', () => {
    expect([spec.artifacts, spec.inputs].filter((access) => /write/.test(access)).length).toBeLessThan(2);
  });
});

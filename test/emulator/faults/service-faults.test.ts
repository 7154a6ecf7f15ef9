/** Services that are too busy, and replies that are lost: runs still end well, and nothing happens twice. */
import { describe, expect, it } from 'vitest';
import { scopeFingerprint } from '../../../shared/domain/scope.ts';
import type { Answer, Api } from '../../support/api.ts';
import { scopeWithSkill, scriptRun } from '../../support/run-scope.ts';
import { deployed } from '../support/deployed.ts';
import type { FaultRule } from '../support/fault-rules.ts';
import { expectRunsClosed } from '../support/run-closed.ts';

const cognition = deployed();
const { faults } = cognition;

const SCRIPTS = { 'scripts/x.sh': 'echo once; echo once > /outputs/once' };
const WRITES = ['TransactWriteItems', 'PutItem', 'DeleteItem', 'UpdateItem'];
/** What a rule must find in a call, so that it meets nobody else. */
const of = (api: Api): { contains: string } => ({ contains: scopeFingerprint(api.scope) });

async function expectRuns(api: Api, count: number): Promise<Answer[]> {
  const started = await Promise.all(
    Array.from({ length: count }, () => api.post('/runs', scriptRun('scripts/x.sh'))),
  );
  expect(started.map(({ status }) => status)).toEqual(started.map(() => 202));
  const ended = await expectRunsClosed(
    cognition,
    api,
    started.map(({ json }) => json.run_id),
  );
  expect(ended.map(({ json }) => [json.status, json.stdout])).toEqual(
    ended.map(() => ['succeeded', 'once\n']),
  );
  return ended;
}

describe.concurrent('a throttled table', () => {
  it('a tenth of all calls: publications and runs are slower, and none fails', async () => {
    const api = cognition.api();
    const rules: FaultRule[] = [{ service: 'dynamodb', action: 'throttle', share: 0.1, ...of(api) }];

    const { disturbed } = await faults.while({ rules }, async () => {
      await scopeWithSkill(SCRIPTS, api);
      await expectRuns(api, 3);
    });

    expect(disturbed.length).toBeGreaterThan(3);
  });

  it('all calls: the API says that it is busy, and works again when the table does', async () => {
    const api = cognition.api();
    const rules: FaultRule[] = [{ service: 'dynamodb', action: 'throttle', ...of(api) }];

    const { result: refused } = await faults.while({ rules }, () => api.get('/skills'));

    expect(refused.status).toBe(503);
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    expect(refused.headers.get('retry-after')).toMatch(/^[0-9]+$/);
    expect((await api.get('/skills')).status).toBe(200);
  });
});

describe.concurrent('lost replies', () => {
  it('of a third of all writes to the table: each publication and each run happens once', async () => {
    const api = cognition.api();
    const rules: FaultRule[] = [
      { service: 'dynamodb', operations: WRITES, action: 'lose_reply', share: 0.3, ...of(api) },
    ];

    const { disturbed } = await faults.while({ rules }, async () => {
      await scopeWithSkill(SCRIPTS, api);
      expect((await api.get('/skills/t1/revisions')).json.items).toHaveLength(1);
      await expectRuns(api, 3);
    });

    expect((await api.get('/runs')).json.items).toHaveLength(3);
    expect(disturbed.length).toBeGreaterThan(3);
  });

  it('of StartExecution, RunTask and StopTask: one execution, one task, one end', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    const lost = { action: 'lose_reply', times: 1 } as const;

    const { result, disturbed } = await faults.while(
      {
        rules: [
          { service: 'states', operations: ['StartExecution'], ...lost, ...of(api) },
          { service: 'ecs', operations: ['RunTask'], ...lost, ...of(api) },
          { service: 'ecs', operations: ['StopTask'], functions: ['teardown'], ...lost },
        ],
      },
      () => expectRuns(api, 1),
    );

    // The first to stop a task may have been another run.
    const lostOnes = disturbed.map(({ operation }) => operation);
    expect(lostOnes.toSorted()).toEqual(['RunTask', 'StartExecution', 'StopTask']);
    const { items } = (await api.get(`/runs/${result[0]?.json.run_id}/events`)).json;
    expect(items.filter(({ type }: { type: string }) => type === 'sandbox.requested')).toHaveLength(1);
  });

  it('of the upload of a package and of an artifact: both are there, whole', async () => {
    const api = cognition.api();
    const lost: FaultRule = { service: 's3', operations: ['PutObject'], action: 'lose_reply', times: 1 };

    const { result, disturbed } = await faults.while(
      {
        rules: [
          { ...lost, functions: ['skills'], ...of(api) },
          { ...lost, functions: ['collect-artifacts'], ...of(api) },
        ],
      },
      async () => {
        await scopeWithSkill(SCRIPTS, api);
        return expectRuns(api, 1);
      },
    );

    expect(disturbed.map((call) => call.function)).toEqual(['skills', 'collect-artifacts']);
    const output = await api.get(`/runs/${result[0]?.json.run_id}/artifacts?path=once`);
    expect(output.bytes.toString()).toBe('once\n');
    const script = await api.get('/skills/t1/files?path=scripts/x.sh');
    expect(script.bytes.toString()).toBe(SCRIPTS['scripts/x.sh']);
  });
});

describe.concurrent('a run that could not be started', () => {
  it('is queued all the same, and the sweeper starts it', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    const rules: FaultRule[] = [{ service: 'states', action: 'throttle', ...of(api) }];
    const { result: started } = await faults.while({ rules }, () =>
      api.post('/runs', scriptRun('scripts/x.sh')),
    );
    expect([started.status, started.json.status]).toEqual([202, 'queued']);

    // The schedule is of a minute, and a run is given ten seconds to start by itself.
    const sweep = async (): Promise<string> => {
      await cognition.functions.invoke('sweeper', {});
      return (await api.get(`/runs/${started.json.run_id}`)).json.status;
    };

    await expect.poll(sweep, { timeout: 60_000, interval: 1_000 }).not.toBe('queued');
    const [ended] = await expectRunsClosed(cognition, api, [started.json.run_id]);
    expect(ended?.json).toMatchObject({ status: 'succeeded', stdout: 'once\n' });
  });
});

describe.concurrent('no capacity for tasks', () => {
  it('as long as the machine tries: the run ends as sandbox_unavailable, and no task is left', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    const rules: FaultRule[] = [{ service: 'ecs', operations: ['RunTask'], action: 'throttle', ...of(api) }];

    const { result: ended } = await faults.while({ rules }, async () => {
      const started = await api.post('/runs', scriptRun('scripts/x.sh'));
      return (await expectRunsClosed(cognition, api, [started.json.run_id]))[0];
    });

    expect(ended?.json).toMatchObject({
      status: 'failed',
      failure: { code: 'sandbox_unavailable', stage: 'launch' },
      exit_code: null,
    });
  });
});

describe.concurrent('a store that is slow', () => {
  it('makes a run late, not failed', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    const slow: FaultRule = { service: 's3', operations: ['GetObject'], action: 'delay', delay_ms: 3_000 };

    const { disturbed } = await faults.while({ rules: [{ ...slow, ...of(api) }] }, () => expectRuns(api, 1));

    expect(disturbed.length).toBeGreaterThan(0);
  });
});

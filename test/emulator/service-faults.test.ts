/** Services that are too busy, and replies that are lost: runs still end well, and nothing happens twice. */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { scopeWithSkill, scriptRun } from '../support/run-scope.ts';
import { skillFiles } from '../support/skill-files.ts';
import { deployed } from './support/deployed.ts';
import type { SeenCall } from './support/fault-rules.ts';
import { expectRunsClosed } from './support/run-closed.ts';

const cognition = deployed();
const { faults } = cognition;
afterEach(() => faults.clear());
afterAll(() => faults.clear());

const SCRIPTS = { 'scripts/x.sh': 'echo once; echo once > /outputs/once' };
const faulted = (calls: readonly SeenCall[], fault: string): SeenCall[] =>
  calls.filter((call) => call.fault === fault);

describe('a throttled table', () => {
  it('a fifth of all calls: publications and runs are slower, and none fails', async () => {
    await faults.set({ rules: [{ service: 'dynamodb', action: 'throttle', share: 0.2 }] });

    const { calls } = await faults.during(async () => {
      const api = await scopeWithSkill(SCRIPTS, cognition.api());
      const started = await Promise.all(
        Array.from({ length: 4 }, () => api.post('/runs', scriptRun('scripts/x.sh'))),
      );
      expect(started.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
      const ids = started.map(({ json }) => json.run_id);
      const ended = await expectRunsClosed(cognition, api, ids);
      expect(ended.map(({ json }) => [json.status, json.stdout])).toEqual(
        ids.map(() => ['succeeded', 'once\n']),
      );
    });

    expect(faulted(calls, 'throttle').length).toBeGreaterThan(10);
  });

  it('all calls: the API says that it is busy, and works again when the table does', async () => {
    const api = cognition.api();
    await faults.set({ rules: [{ service: 'dynamodb', action: 'throttle' }] });

    const refused = await api.get('/skills');

    expect(refused.status).toBe(503);
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    expect(refused.headers.get('retry-after')).toMatch(/^[0-9]+$/);
    await faults.clear();
    expect((await api.get('/skills')).status).toBe(200);
  });
});

describe('lost replies', () => {
  it('of a third of all transactions: each publication and each run happens once', async () => {
    await faults.set({
      rules: [
        {
          service: 'dynamodb',
          operations: ['TransactWriteItems', 'PutItem', 'DeleteItem', 'UpdateItem'],
          action: 'lose_reply',
          share: 0.3,
        },
      ],
    });

    const { calls } = await faults.during(async () => {
      const api = await scopeWithSkill(SCRIPTS, cognition.api());
      expect((await api.get('/skills/t1/revisions')).json.items).toHaveLength(1);
      const started = await Promise.all(
        Array.from({ length: 3 }, () => api.post('/runs', scriptRun('scripts/x.sh'))),
      );
      const ids = started.map(({ json }) => json.run_id);
      const ended = await expectRunsClosed(cognition, api, ids);
      expect(ended.map(({ json }) => [json.status, json.stdout])).toEqual(
        ids.map(() => ['succeeded', 'once\n']),
      );
      expect((await api.get('/runs')).json.items).toHaveLength(3);
    });

    expect(faulted(calls, 'lose_reply').length).toBeGreaterThan(5);
  });

  it('of StartExecution, RunTask and StopTask: one execution, one task, one end', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    await faults.set({
      rules: [
        { service: 'states', operations: ['StartExecution'], action: 'lose_reply', times: 1 },
        { service: 'ecs', operations: ['RunTask'], action: 'lose_reply', times: 1 },
        { service: 'ecs', operations: ['StopTask'], action: 'lose_reply', times: 1 },
      ],
    });

    const { result: run, calls } = await faults.during(async () => {
      const started = await api.post('/runs', scriptRun('scripts/x.sh'));
      expect(started.status).toBe(202);
      return (await expectRunsClosed(cognition, api, [started.json.run_id]))[0];
    });

    expect(run?.json).toMatchObject({ status: 'succeeded', stdout: 'once\n' });
    expect(faulted(calls, 'lose_reply').map(({ operation }) => operation)).toEqual([
      'StartExecution',
      'RunTask',
      'StopTask',
    ]);
    const { items } = (await api.get(`/runs/${run?.json.run_id}/events`)).json;
    const requested = items.filter(({ type }: { type: string }) => type === 'sandbox.requested');
    expect(requested).toHaveLength(1);
  });

  it('of the upload of a package and of an artifact: both are there, whole', async () => {
    await faults.set({
      rules: [{ service: 's3', operations: ['PutObject'], action: 'lose_reply', share: 0.5 }],
    });
    const api = await scopeWithSkill(SCRIPTS, cognition.api());

    const ended = await api.run(scriptRun('scripts/x.sh'));

    await expectRunsClosed(cognition, api, [ended.json.run_id]);
    expect(ended.json.status).toBe('succeeded');
    const output = await api.get(`/runs/${ended.json.run_id}/artifacts?path=once`);
    expect(output.bytes.toString()).toBe('once\n');
    expect((await api.get('/skills/t1/files?path=scripts/x.sh')).bytes.toString()).toBe(
      SCRIPTS['scripts/x.sh'],
    );
  });
});

describe('a run that could not be started', () => {
  it('is queued all the same, and the sweeper starts it', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    await faults.set({ rules: [{ service: 'states', action: 'throttle' }] });
    const started = await api.post('/runs', scriptRun('scripts/x.sh'));
    expect(started.status).toBe(202);
    expect(started.json.status).toBe('queued');
    await faults.clear();

    // The schedule is of a minute, and a run is given ten seconds to start by itself.
    const sweep = async (): Promise<string> => {
      await cognition.functions.invoke('sweeper', {});
      return (await api.get(`/runs/${started.json.run_id}`)).json.status;
    };

    await expect.poll(sweep, { timeout: 30_000, interval: 1_000 }).not.toBe('queued');
    const [ended] = await expectRunsClosed(cognition, api, [started.json.run_id]);
    expect(ended?.json).toMatchObject({ status: 'succeeded', stdout: 'once\n' });
  });
});

describe('no capacity for tasks', () => {
  it('as long as the machine tries: the run ends as sandbox_unavailable, and no task is left', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    await faults.set({ rules: [{ service: 'ecs', operations: ['RunTask'], action: 'throttle' }] });

    const started = await api.post('/runs', scriptRun('scripts/x.sh'));

    const [ended] = await expectRunsClosed(cognition, api, [started.json.run_id]);
    expect(ended?.json).toMatchObject({
      status: 'failed',
      failure: { code: 'sandbox_unavailable', stage: 'launch' },
      exit_code: null,
    });
  });
});

describe('a store that is slow', () => {
  it('makes a run late, not failed', async () => {
    const api = cognition.api();
    await api.publish('t1', skillFiles('t1', SCRIPTS));
    await api.putAgent('agent', { skills: ['t1'] });
    await faults.set({
      rules: [{ service: 's3', operations: ['GetObject'], action: 'delay', delay_ms: 3_000, times: 2 }],
    });

    const ended = await api.run(scriptRun('scripts/x.sh'));

    await expectRunsClosed(cognition, api, [ended.json.run_id]);
    expect(ended.json).toMatchObject({ status: 'succeeded', stdout: 'once\n' });
  });
});

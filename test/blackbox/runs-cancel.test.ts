/** POST /runs/{id}/cancel at every moment of a run. */
import { describe, expect, it } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { scopeWithAgent, shellRun } from '../support/run-scope.ts';

const types = (items: { type: string }[]): string[] => items.map(({ type }) => type);

describe('cancel', () => {
  it('right after the start ends the run as cancelled, and its command does not go on', async () => {
    const api = await scopeWithAgent();
    const { run_id } = (await api.post('/runs', shellRun('sleep 30'))).json;

    const answer = await api.post(`/runs/${run_id}/cancel`, {});

    expect(answer.status).toBe(202);
    expect(answer.json.cancel_requested).toBe(true);
    const run = (await api.finished(run_id, 15)).json;
    expect(run).toMatchObject({ status: 'cancelled', failure: { code: 'run_cancelled' } });
  });

  it('of a running command ends it, keeps its output so far, and stops the sandbox', async () => {
    const api = await scopeWithAgent();
    const { run_id } = (await api.post('/runs', shellRun('echo begun; sleep 30'))).json;
    await api.event(run_id, 'command.output');

    await api.post(`/runs/${run_id}/cancel`, {});

    const run = (await api.finished(run_id, 15)).json;
    expect(run).toMatchObject({ status: 'cancelled', stdout: 'begun\n', failure: { code: 'run_cancelled' } });
    await api.event(run_id, 'sandbox.stopped');
    const { items } = (await api.get(`/runs/${run_id}/events`)).json;
    expect(types(items)).toEqual(expect.arrayContaining(['run.cancel_requested', 'run.cancelled']));
  });

  it('again and again is 202 each time and one event', async () => {
    const api = await scopeWithAgent();
    const { run_id } = (await api.post('/runs', shellRun('sleep 30'))).json;

    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api.call('POST', `/runs/${run_id}/cancel`)),
    );

    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(202));
    await api.finished(run_id, 15);
    const late = await api.post(`/runs/${run_id}/cancel`, {});
    expect([late.status, late.json.status]).toEqual([202, 'cancelled']);
    const { items } = (await api.get(`/runs/${run_id}/events`)).json;
    expect(types(items).filter((type) => type === 'run.cancel_requested')).toHaveLength(1);
    expect(types(items).filter((type) => type === 'run.cancelled')).toHaveLength(1);
  });

  it('of a run that has ended changes nothing', async () => {
    const api = await scopeWithAgent();
    const ended = await api.run(shellRun('echo done'));
    await api.event(ended.json.run_id, 'sandbox.stopped');

    const answer = await api.post(`/runs/${ended.json.run_id}/cancel`, {});

    expect(answer.status).toBe(202);
    expect(answer.json).toEqual(ended.json);
  });

  it('of a run that is not there is 404, and a body that says more is refused', async () => {
    const api = await scopeWithAgent();

    expectProblem(await api.post(`/runs/${'0'.repeat(26)}/cancel`, {}), 404, 'not_found');
    expectProblem(await api.post(`/runs/${'0'.repeat(26)}/cancel`, { force: true }), 400, 'invalid_request');
  });
});

/** Tasks that die and executions that are stopped from outside, while a command runs. */
import { StopTaskCommand } from '@aws-sdk/client-ecs';
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import type { Api } from '../../support/api.ts';
import { scopeWithAgent, shellRun } from '../../support/run-scope.ts';
import { deployed } from '../support/deployed.ts';
import { expectRunsClosed } from '../support/run-closed.ts';

const cognition = deployed();

async function startSleeping(api: Api): Promise<string> {
  const started = await api.post('/runs', shellRun('echo here; sleep 60'));
  expect(started.status).toBe(202);
  await api.event(started.json.run_id, 'command.output', 60);
  return started.json.run_id;
}

describe('while a command runs', () => {
  it('its task dies: the run ends as interrupted, with the output so far', async () => {
    const api = await scopeWithAgent(cognition.api());
    const id = await startSleeping(api);
    const task = await cognition.taskOf(id);
    expect(task).toBeDefined();

    const { cluster } = cognition.facts;
    await cognition.ecs.send(new StopTaskCommand({ cluster, task: task?.taskArn, reason: 'by a test' }));

    const [ended] = await expectRunsClosed(cognition, api, [id]);
    expect(ended?.json).toMatchObject({
      status: 'failed',
      failure: { code: 'run_interrupted', stage: 'execute' },
      stdout: 'here\n',
    });
  });

  it('its execution is stopped from outside: the run ends as interrupted and its task is stopped', async () => {
    const api = await scopeWithAgent(cognition.api());
    const id = await startSleeping(api);

    await cognition.sfn.send(new StopExecutionCommand({ executionArn: cognition.executionArn(id) }));

    const [ended] = await expectRunsClosed(cognition, api, [id]);
    expect(ended?.json).toMatchObject({
      status: 'failed',
      failure: { code: 'run_interrupted' },
      stdout: 'here\n',
    });
    expect(await cognition.executionStatus(id)).toBe('ABORTED');
  });

  it('it is cancelled: the execution ends by itself, and well', async () => {
    const api = await scopeWithAgent(cognition.api());
    const id = await startSleeping(api);

    expect((await api.post(`/runs/${id}/cancel`, {})).status).toBe(202);

    const [ended] = await expectRunsClosed(cognition, api, [id]);
    expect(ended?.json).toMatchObject({ status: 'cancelled', stdout: 'here\n' });
    await expect.poll(() => cognition.executionStatus(id), { timeout: 20_000 }).toBe('SUCCEEDED');
  });
});

/** The conformance program of `cognition doctor --deployed`, against the sandbox itself. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONFORMANCE_PREFIX, conformanceSkill } from '../../cli/doctor/deployed/conformance-skill.ts';
import { judgeOutputs } from '../../cli/doctor/deployed/judge-outputs.ts';
import { readAttempts } from '../../cli/doctor/deployed/read-attempts.ts';
import { openSandboxes } from '../support/sandbox-form.ts';
import {
  client,
  run,
  type SandboxSource,
  sealTask,
  startTask,
  type TestTask,
} from '../support/sandboxd-task.ts';

let source: SandboxSource;
beforeAll(async () => {
  source = await openSandboxes();
});
afterAll(() => source.close());

async function runScript(script: string, timeout_ms = 60_000) {
  const task = await startTask(source);
  const files = Object.fromEntries(await conformanceSkill(CONFORMANCE_PREFIX));
  await sealTask(task, { skills: { [CONFORMANCE_PREFIX]: files }, inputs: { 'in.txt': 'an input' } });
  const command = { skill: CONFORMANCE_PREFIX, script: `scripts/${script}.py`, args: [] };
  return { task, ...(await run(task, { command, timeout_ms })) };
}

async function outputsOf({ sandbox }: TestTask) {
  const list = await client.listOutputs(sandbox);
  const collected = await Promise.all(
    list.files.map(async ({ path, size_bytes }) => {
      const bytes = await client.getOutput(sandbox, path, size_bytes);
      expect(bytes.length).toBe(size_bytes);
      return [path, Buffer.from(bytes).toString()] as const;
    }),
  );
  return {
    collected: new Map(collected),
    refused: new Map(list.refused.map(({ path, reason }) => [path, reason])),
  };
}

describe('every attempt', () => {
  let ran: Awaited<ReturnType<typeof runScript>>;
  beforeAll(async () => {
    ran = await runScript('attempts');
  });

  it('from inside is refused', () => {
    const attempts = readAttempts('attempts', ran.stdout);

    expect(attempts.filter(({ refused }) => !refused)).toEqual([]);
    expect(ran).toMatchObject({ stderr: '', status: { exit_code: 0, timed_out: false } });
    expect(attempts.length).toBeGreaterThan(250);
    const groups = new Set(attempts.map(({ group }) => group));
    expect([...groups].sort()).toEqual(
      [
        'files',
        'hijacks',
        'inputs',
        'kernel',
        'limits',
        'network',
        'processes',
        'rights',
        'skills',
        'sockets',
      ].sort(),
    );
  });

  it('to leave more than an honest output is refused', async () => {
    const outputs = await outputsOf(ran.task);

    expect(judgeOutputs(outputs).filter(({ refused }) => !refused)).toEqual([]);
    expect(outputs.refused.size).toBeGreaterThanOrEqual(11);
  });

  it('to change an output after the end is over with the end', async () => {
    const [before, after] = [await outputsOf(ran.task), await outputsOf(ran.task)];

    expect(after).toEqual(before);
  });
});

it('a flood without a line break is cut, and what it forges is no more than text', async () => {
  const { status, stdout, stderr } = await runScript('flood');

  expect(status).toMatchObject({ exit_code: 7, stdout: { truncated: true } });
  expect(stdout).toMatch(/^x{262144}$/);
  expect(stderr).toContain('"type":"run.succeeded"');
});

it('what ignores every signal ends at its deadline', async () => {
  const { status, stdout } = await runScript('linger', 1_000);

  expect(status).toMatchObject({ timed_out: true, exit_code: 137 });
  expect(stdout).toMatch(/^(lingering\n)+$/);
});

it('a hundred thousand outputs leave a daemon that answers', async () => {
  const { task, status, stdout } = await runScript('crowd');

  expect([status.exit_code, stdout]).toEqual([0, 'made 100000\n']);
  expect((await client.listOutputs(task.sandbox)).truncated).toBe(true);
});

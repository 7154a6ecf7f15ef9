/** A whole run over HTTP, from a pooled sandbox and without a pool, against `true` in sandbox-runtime. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxManager } from '@anthropic-ai/sandbox-runtime';
import { freshScope } from '../../support/fresh-scope.ts';
import { skillFiles } from '../../support/skill-files.ts';
import { removeFolder, startStandalone } from '../../support/standalone.ts';
import { BenchClient } from '../bench-client.ts';
import { atMost, type BenchRow, median } from '../bench-row.ts';

const ROUNDS = 40;

async function withServer<T>(poolSize: number, use: (client: BenchClient) => Promise<T>): Promise<T> {
  const server = await startStandalone({ COGNITION_SANDBOX_POOL_SIZE: String(poolSize) });
  const client = new BenchClient(server.target, freshScope());
  try {
    const files = Object.fromEntries(
      Array.from({ length: 18 }, (_, index) => [`references/${index}.md`, `note ${index}\n`.repeat(40)]),
    );
    await client.call('PUT', '/skills/t1', {
      files: skillFiles('t1', { ...files, 'scripts/hi.sh': '#!/bin/sh\necho hi\n' }),
    });
    await client.call('PUT', '/agents/agent', { skills: ['t1'] });
    return await use(client);
  } finally {
    client.close();
    await server.stop();
    removeFolder(server.folder);
  }
}

const RUN = { agent: 'agent', command: { skill: 't1', script: 'scripts/hi.sh' } };

async function oneRun(client: BenchClient): Promise<number> {
  const begin = performance.now();
  const { status } = await client.wholeRun(RUN);
  if (status !== 'succeeded') throw new Error(`a run of the bench ${status}`);
  return performance.now() - begin;
}

/** What the library's users write: wrap the command, start it through a shell. */
async function oneTrue(): Promise<number> {
  const begin = performance.now();
  const command = await SandboxManager.wrapWithSandbox('true');
  const code = await new Promise((resolve) =>
    spawn(command, { shell: true, stdio: 'ignore' }).once('exit', resolve),
  );
  if (code !== 0) throw new Error(`sandbox-runtime's \`true\` exited with ${code}`);
  SandboxManager.cleanupAfterCommand();
  return performance.now() - begin;
}

export async function wholeRun(): Promise<BenchRow[]> {
  await SandboxManager.initialize({
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: [], allowWrite: ['/tmp'], denyWrite: [] },
  });
  const [pooled, reference] = await withServer(2, async (client) => {
    const runs: number[] = [];
    const trues: number[] = [];
    for (let round = -5; round < ROUNDS; round += 1) {
      // The pool refills in between, as it does between the runs of one builder.
      await sleep(400);
      const run = await oneRun(client);
      await sleep(400);
      const one = await oneTrue();
      if (round >= 0) runs.push(run);
      if (round >= 0) trues.push(one);
    }
    return [median(runs), median(trues)];
  });
  await SandboxManager.reset();
  const cold = await withServer(0, async (client) => {
    const runs: number[] = [];
    for (let round = -3; round < 30; round += 1) {
      await sleep(150);
      const run = await oneRun(client);
      if (round >= 0) runs.push(run);
    }
    return median(runs);
  });
  return [
    atMost('run-pooled', 'whole run over HTTP, 20 files, from the pool', pooled, 80, 'ms'),
    atMost(
      'run-pooled-ratio',
      `the same: of \`true\` in sandbox-runtime (${reference.toFixed(0)} ms)`,
      pooled / reference,
      1.3,
      '×',
    ),
    atMost('run-cold', 'the same without a pool', cold, 220, 'ms'),
  ];
}

/** 300 runs at once against bare `bwrap node` starts, and the server's memory over 1,000 runs. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { freshScope } from '../../support/fresh-scope.ts';
import { skillFiles } from '../../support/skill-files.ts';
import { removeFolder, startStandalone } from '../../support/standalone.ts';
import { BenchClient } from '../bench-client.ts';
import { atLeast, atMost, type BenchRow } from '../bench-row.ts';

const RUN = { agent: 'agent', command: { skill: 't1', script: 'scripts/hi.sh' } };
const AT_ONCE = 300;
/** Long enough for the pool to be full again. */
const SETTLE_MS = 4_000;

/** The least that a sandbox with Node in it can cost: started as an unprivileged uid, as the product does. */
function bareStart(): Promise<void> {
  const node = process.execPath;
  const args = [
    '--unshare-all',
    '--die-with-parent',
    '--ro-bind',
    '/usr',
    '/usr',
    '--symlink',
    'usr/bin',
    '/bin',
  ];
  args.push(
    '--symlink',
    'usr/lib',
    '/lib',
    '--symlink',
    'usr/lib64',
    '/lib64',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
  );
  args.push('--ro-bind', node, '/node', '/node', '-e', '0');
  return new Promise((resolve, reject) => {
    spawn('bwrap', args, { stdio: 'ignore' }).once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`bare bwrap exited with ${code}`)),
    );
  });
}

async function bareStartsPerSecond(count: number): Promise<number> {
  const limit = pLimit(4);
  const begin = performance.now();
  await Promise.all(Array.from({ length: count }, () => limit(bareStart)));
  return count / ((performance.now() - begin) / 1000);
}

const residentMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** All descendants: sandboxes are children of children. */
function processesBelow(root: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    try {
      if (/^\d+$/.test(name)) parents.set(Number(name), parentOf(name));
    } catch {
      // It has ended meanwhile.
    }
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0;
    return parent === root || (parent > 1 && isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow).length;
}

const parentOf = (pid: string): number =>
  Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);

export async function manyRuns(): Promise<BenchRow[]> {
  const server = await startStandalone({ COGNITION_SANDBOX_POOL_SIZE: '2', COGNITION_RUNS_AT_ONCE: '1000' });
  const client = new BenchClient(server.target, freshScope());
  const pid = server.process.pid ?? 0;
  try {
    await client.call('PUT', '/skills/t1', {
      files: skillFiles('t1', { 'scripts/hi.sh': '#!/bin/sh\necho hi\n' }),
    });
    await client.call('PUT', '/agents/agent', { skills: ['t1'] });
    await client.wholeRun(RUN);
    await sleep(SETTLE_MS);
    // The pool's sandboxes.
    const idle = processesBelow(pid);
    const bareBefore = await bareStartsPerSecond(60);
    const begin = performance.now();
    const ends = await Promise.all(Array.from({ length: AT_ONCE }, () => client.wholeRun(RUN)));
    const perSecond = AT_ONCE / ((performance.now() - begin) / 1000);
    const bare = (bareBefore + (await bareStartsPerSecond(60))) / 2;
    const lost = ends.filter((end) => end.status !== 'succeeded').length;
    const warm = residentMb(pid);
    const limit = pLimit(16);
    await Promise.all(Array.from({ length: 1000 - AT_ONCE }, () => limit(() => client.wholeRun(RUN))));
    const after = residentMb(pid);
    await sleep(SETTLE_MS);
    const left = processesBelow(pid) - idle;
    return [
      atMost('runs-300-lost', '300 runs started at once: not succeeded', lost, 0, 'runs'),
      atLeast('runs-300-rate', '300 runs started at once', perSecond, 10, '/s'),
      atLeast(
        'runs-300-ratio',
        `the same: of bare \`bwrap node\` starts (${bare.toFixed(0)}/s)`,
        perSecond / bare,
        0.5,
        '×',
      ),
      atMost('memory', 'server after 1,000 runs, resident', after, 200, 'MB'),
      atMost('memory-growth', 'the same: growth from run 300 to run 1,000', after - warm, 20, 'MB'),
      atMost('processes-left', 'processes left after 1,000 runs, apart from the pool', left, 0, 'processes'),
    ];
  } finally {
    client.close();
    await server.stop();
    removeFolder(server.folder);
  }
}

/**
 * On an emulator of AWS: from a fresh clone to a finished run, as a newcomer types it; then, deployed once more, what a run
 * takes of its own, the launch of its sandbox and the command taken out.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Api, type TestTarget } from '../../support/api.ts';
import { freshScope } from '../../support/fresh-scope.ts';
import { scopeWithSkill, scriptRun } from '../../support/run-scope.ts';
import { atMost, type BenchRow, median } from '../bench-row.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const RUNS = 12;
/** Functions start cold. */
const WARM_UP = 3;

export async function emulatedRuns(): Promise<BenchRow[]> {
  return [
    atMost('emulator-clone', 'fresh clone to a finished run on the emulator', await fromClone(), 180, 's'),
    atMost('emulator-own', 'own part of a run on the emulator, median', await ownPart(), 1_500, 'ms'),
  ];
}

/** @returns seconds. */
async function fromClone(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'cognition-clone-'));
  try {
    const began = performance.now();
    await promisify(execFile)('git', ['clone', '--quiet', ROOT, folder]);
    const work = { cwd: folder, maxBuffer: 64 * 1024 * 1024 };
    await promisify(execFile)('npm', ['run', 'emulator', '--', '--once'], work);
    return (performance.now() - began) / 1_000;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns milliseconds. */
async function ownPart(): Promise<number> {
  const program = join(ROOT, 'infra/local/emulator/main.ts');
  const emulator = spawn(process.execPath, [program], { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(emulator, 'exit');
  try {
    const target = await deployedTarget(createInterface(emulator.stdout));
    const api = await scopeWithSkill(SCRIPTS, new Api(target, freshScope()));
    const own: number[] = [];
    for (let at = -WARM_UP; at < RUNS; at += 1) {
      const { timings } = (await api.run(scriptRun('scripts/once.sh'))).json;
      if (at >= 0) own.push(ownMs(timings));
    }
    return median(own);
  } finally {
    emulator.kill('SIGINT');
    await ended;
  }
}

const SCRIPTS = { 'scripts/once.sh': '#!/bin/sh\necho done > "$OUTPUT_DIR/result.txt"\n' };

function ownMs(timings: Readonly<Record<string, string>>): number {
  const between = (from: string, to: string): number =>
    Date.parse(timings[to] ?? '') - Date.parse(timings[from] ?? '');
  return (
    between('queued_at', 'finished_at') -
    between('pinned_at', 'sandbox_ready_at') -
    between('started_at', 'exited_at')
  );
}

/** From the variables that the command prints for a builder's shell. */
async function deployedTarget(lines: AsyncIterable<string>): Promise<TestTarget> {
  const found = new Map<string, string>();
  for await (const line of lines) {
    const [, name, value] = /^\s*export (\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) found.set(name, value);
    // Printed after all of them.
    if (line.trim().startsWith('npx cognition run')) break;
  }
  const value = (name: string): string => {
    const text = found.get(name);
    if (text === undefined) throw new Error(`the emulator's command printed no ${name}`);
    return text;
  };
  return {
    endpoint: value('COGNITION_ENDPOINT'),
    region: value('AWS_REGION'),
    access_key_id: value('AWS_ACCESS_KEY_ID'),
    secret_access_key: value('AWS_SECRET_ACCESS_KEY'),
  };
}

/** `cdk synth` of all stacks as an operator types it, with an image that has to be staged, after a first one. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atMost, type BenchRow, median } from '../bench-row.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TIMES = 3;

export async function synthesis(): Promise<BenchRow[]> {
  const out = mkdtempSync(join(tmpdir(), 'cognition-synth-'));
  try {
    await synth(out);
    const seconds: number[] = [];
    for (let time = 0; time < TIMES; time += 1) seconds.push(await synth(out));
    return [atMost('synth', '`cdk synth` of all stacks, warm', median(seconds), 6, 's')];
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** @returns seconds. */
function synth(out: string): Promise<number> {
  const bin = join(ROOT, 'node_modules', '.bin');
  const env = {
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    HOME: out,
    COGNITION_SCOPE_BINDINGS: 'examples/deployment/scope-bindings.json',
  };
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const args = ['synth', '--quiet', '--output', join(out, 'cdk.out'), '-c', 'settings=/dev/null'];
    execFile(join(bin, 'cdk'), args, { cwd: ROOT, env }, (error) => {
      if (error === null) resolve((performance.now() - began) / 1_000);
      else reject(error);
    });
  });
}

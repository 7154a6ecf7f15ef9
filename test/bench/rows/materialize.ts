/** 1,000 files of 10 MB from canonical bytes to sealed and verified, against `tar x` and `sha256sum -c` on tmpfs. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createLocalSandboxes } from '../../../infra/local/local-sandboxes.ts';
import { createHttpSandboxClient } from '../../../shared/adapters/sandbox/http-sandbox-client.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { createUlidIds } from '../../../shared/adapters/ulid-ids.ts';
import { sandboxProfileSchema } from '../../../shared/contracts/sandbox-profile.ts';
import { encodePackage, packageDigest } from '../../../shared/domain/canonical-package.ts';
import { newSandboxKeyPair } from '../../../shared/domain/daemon-signature.ts';
import type { SandboxHandle } from '../../../shared/ports/sandbox-client.ts';
import type { SandboxProvisioner } from '../../../shared/ports/sandbox-provisioner.ts';
import { skillMd } from '../../support/skill-files.ts';
import { atMost, type BenchRow, median } from '../bench-row.ts';

const ROUNDS = 30;
const FILES = 1_000;
const BYTES = 10_000_000;

function packageFiles(): Map<string, string> {
  const line = 'What a reference of a skill says, in some words that could be read. 0123456789\n';
  const text = line.repeat(Math.ceil(BYTES / FILES / line.length)).slice(0, BYTES / FILES);
  const files = new Map([['SKILL.md', skillMd('bench')]]);
  for (let index = 1; index < FILES; index += 1) {
    files.set(`references/${index % 20}/${index}.md`, `${index}\n${text}`.slice(0, BYTES / FILES));
  }
  return files;
}

/** `tar` and a checksum list of the same files, prepared beforehand. */
function prepareTar(folder: string, files: ReadonlyMap<string, string>): void {
  const source = join(folder, 'source');
  const sums: string[] = [];
  for (const [path, text] of files) {
    mkdirSync(dirname(join(source, path)), { recursive: true });
    writeFileSync(join(source, path), text);
    sums.push(`${createHash('sha256').update(text).digest('hex')}  ${path}`);
  }
  writeFileSync(join(folder, 'sums'), `${sums.join('\n')}\n`);
  execFileSync('tar', ['cf', join(folder, 'files.tar'), '-C', source, '.']);
}

function tarAndCheck(folder: string): number {
  const target = join(folder, 'target');
  mkdirSync(target);
  const begin = performance.now();
  execFileSync('tar', ['xf', join(folder, 'files.tar'), '-C', target]);
  execFileSync('sha256sum', ['--quiet', '-c', join(folder, 'sums')], { cwd: target });
  const time = performance.now() - begin;
  rmSync(target, { recursive: true });
  return time;
}

const ids = createUlidIds();
const profile = sandboxProfileSchema.parse({ name: 'default' });
const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function launch(provisioner: SandboxProvisioner): Promise<{ sandbox: SandboxHandle; task_id: string }> {
  const sandbox_id = ids.next();
  const { private_key, public_key } = newSandboxKeyPair();
  const { task_id } = await provisioner.launch({ sandbox_id, profile, public_key });
  for (;;) {
    const [task] = await provisioner.describe([task_id]);
    if (task?.status === 'running' && task.address !== undefined) {
      return { task_id, sandbox: { sandbox_id, private_key, run_id: ids.next(), ...task.address } };
    }
    await systemClock.sleep(10);
  }
}

export async function materialize(): Promise<BenchRow[]> {
  const files = packageFiles();
  const bytes = encodePackage(files);
  const digest = packageDigest(bytes);
  const folder = mkdtempSync('/dev/shm/cognition-bench-');
  const sandboxes = await createLocalSandboxes({
    profiles: [profile],
    max_tasks: 2,
    unsafe_no_isolation: false,
    clock: systemClock,
    logger,
  });
  const client = createHttpSandboxClient({ clock: systemClock, ids });
  const ours: number[] = [];
  const theirs: number[] = [];
  try {
    prepareTar(folder, files);
    for (let round = -3; round < ROUNDS; round += 1) {
      const { sandbox, task_id } = await launch(sandboxes.provisioner);
      await client.bind(sandbox, { run_id: sandbox.run_id, manifest_digest: digest });
      const begin = performance.now();
      await client.putPackage(sandbox, 'bench', digest, bytes);
      await client.seal(sandbox, { packages: [{ name: 'bench', digest }], inputs: [] });
      const time = performance.now() - begin;
      await sandboxes.provisioner.stop(task_id, 'measured');
      const reference = tarAndCheck(folder);
      if (round >= 0) ours.push(time);
      if (round >= 0) theirs.push(reference);
    }
  } finally {
    await sandboxes.close();
    rmSync(folder, { recursive: true, force: true });
  }
  const reference = median(theirs);
  return [
    atMost(
      'materialize-ratio',
      `1,000 files, 10 MB, upload to sealed and verified: of \`tar x\` and \`sha256sum -c\` (${reference.toFixed(0)} ms)`,
      median(ours) / reference,
      1,
      '×',
    ),
  ];
}

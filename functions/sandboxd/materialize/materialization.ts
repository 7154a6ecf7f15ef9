/** Everything that comes into a sandbox before it is sealed, and the seal. */
import { mkdirSync, rmSync } from 'node:fs';
import type { SealReceipt, SealRequest } from '../../../shared/contracts/daemon.ts';
import { DaemonError } from '../daemon-error.ts';
import { safePath } from './safe-path.ts';
import { fileHashOnDisk, mustHold, packageDigestOnDisk, sealFolders, TreeProblem } from './verify-tree.ts';
import { makeParents, writeError, writeNewFile, writePackage } from './write-package.ts';

const INPUT_MODE = 0o444;

export interface SandboxFolders {
  readonly skills: string;
  readonly workspace: string;
  readonly outputs: string;
}

export interface PackageReceipt {
  readonly digest: string;
  readonly file_count: number;
}
export interface InputReceipt {
  readonly path: string;
  readonly sha256: string;
  readonly size_bytes: number;
}

export interface Materialization {
  /** @param bytes whose hash is that of `digest` already. */
  putPackage(name: string, digest: string, bytes: Uint8Array): PackageReceipt;
  putInput(path: string, sha256: string, bytes: Uint8Array): InputReceipt;
  /** @throws DaemonError `digest_mismatch` when anything is missing, extra or different; nothing may run then. */
  seal(request: SealRequest): SealReceipt;
}

export function createMaterialization(folders: SandboxFolders): Materialization {
  const packages = new Map<string, PackageReceipt>();
  const sizes = new Map<string, number>();
  const inputs = new Map<string, InputReceipt>();
  const inputFolders = new Set<string>();
  const inputRoot = `${folders.workspace}/inputs`;
  mkdirSync(inputRoot, { recursive: true, mode: 0o755 });

  const writeInput = (path: string, bytes: Uint8Array): void => {
    const target = `${inputRoot}/${safePath(path)}`;
    try {
      makeParents(inputRoot, path, inputFolders);
      writeNewFile(target, bytes, INPUT_MODE);
    } catch (error) {
      const refusal = writeError(error, `input ${JSON.stringify(path)}`);
      // What was there before stays.
      if (!(refusal instanceof DaemonError && refusal.code === 'bad_request'))
        rmSync(target, { force: true });
      throw refusal;
    }
  };

  return {
    putPackage: (name, digest, bytes) => {
      const before = packages.get(name);
      if (before?.digest === digest) return before;
      if (before !== undefined) throw otherContent(`package ${name}`);
      const receipt = { digest, file_count: writePackage(`${folders.skills}/${name}`, bytes) };
      packages.set(name, receipt);
      sizes.set(name, bytes.length);
      return receipt;
    },
    putInput: (path, sha256, bytes) => {
      const before = inputs.get(path);
      if (before?.sha256 === sha256) return before;
      if (before !== undefined) throw otherContent(`input ${JSON.stringify(path)}`);
      writeInput(path, bytes);
      const receipt = { path, sha256, size_bytes: bytes.length };
      inputs.set(path, receipt);
      return receipt;
    },
    seal: (request) => {
      try {
        return sealAndVerify(folders, inputRoot, request, sizes);
      } catch (cause) {
        const what =
          cause instanceof TreeProblem ? cause.message : `the disk could not be read: ${String(cause)}`;
        throw new DaemonError('digest_mismatch', `the sandbox is not what the seal asks for: ${what}`, {
          cause,
        });
      }
    },
  };
}

const otherContent = (what: string): DaemonError =>
  new DaemonError('exists_with_other_content', `${what} is here already, with another content`);

function sealAndVerify(
  folders: SandboxFolders,
  inputRoot: string,
  request: SealRequest,
  sizes: ReadonlyMap<string, number>,
): SealReceipt {
  const names = request.packages.map((entry) => entry.name);
  mustHold(folders.skills, names);
  mustHold(folders.workspace, ['inputs']);
  mustHold(folders.outputs, []);
  const packages = request.packages.map(({ name, digest }) => {
    const found = packageDigestOnDisk(`${folders.skills}/${name}`, sizes.get(name) ?? 0);
    if (found !== digest) throw new TreeProblem(`package ${name} has digest ${found}, not ${digest}`);
    return { name, digest: found };
  });
  return { packages, inputs: verifyInputs(inputRoot, request) };
}

function verifyInputs(inputRoot: string, request: SealRequest): SealReceipt['inputs'] {
  const found = new Set(sealFolders(inputRoot));
  const inputs = request.inputs.map(({ path, sha256 }) => {
    if (!found.has(path)) throw new TreeProblem(`input ${JSON.stringify(path)} is missing`);
    const actual = fileHashOnDisk(inputRoot, path, INPUT_MODE);
    if (actual !== sha256) {
      throw new TreeProblem(`input ${JSON.stringify(path)} has hash ${actual}, not ${sha256}`);
    }
    return { path, sha256: actual };
  });
  const asked = new Set(inputs.map((input) => input.path));
  const extra = [...found].find((path) => !asked.has(path));
  if (extra !== undefined) {
    throw new TreeProblem(`input ${JSON.stringify(extra)} is here, which nobody asked for`);
  }
  return inputs;
}

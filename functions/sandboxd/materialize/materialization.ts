/** Everything that comes into a sandbox before it is sealed, and the seal. */
import { closeSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import type { SealReceipt, SealRequest } from '../../../shared/contracts/daemon.ts';
import { DaemonError } from '../daemon-error.ts';
import { createFile, createPackageWriter, writeAll } from './package-writer.ts';
import { safePath } from './safe-path.ts';
import { fileHashOnDisk, mustHold, packageDigestOnDisk, sealFolders, TreeProblem } from './verify-tree.ts';

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

/** A package on its way in. Whoever starts one ends it with `finish` or `discard`. */
export interface PackageUpload {
  /** @throws DaemonError */
  write(chunk: Buffer): void;
  /** To be called when the hash of all chunks is that of the digest. @throws DaemonError */
  finish(): PackageReceipt;
  discard(): void;
}

export interface Materialization {
  /** @throws DaemonError `exists_with_other_content` */
  startPackage(name: string, digest: string): PackageUpload;
  putInput(path: string, sha256: string, bytes: Uint8Array): InputReceipt;
  /** @throws DaemonError `digest_mismatch` when anything is missing, extra or different; nothing may run then. */
  seal(request: SealRequest): SealReceipt;
}

export function createMaterialization(folders: SandboxFolders): Materialization {
  const packages = new Map<string, PackageReceipt>();
  const inputs = new Map<string, InputReceipt>();
  const inputFolders = new Set(['']);
  const inputRoot = `${folders.workspace}/inputs`;
  mkdirSync(inputRoot, { recursive: true, mode: 0o755 });
  const underWay = new Set<PackageUpload>();
  let uploads = 0;

  const known = (name: string, digest: string): PackageReceipt | undefined => {
    const before = packages.get(name);
    if (before !== undefined && before.digest !== digest) throw otherContent(`package ${name}`);
    return before;
  };
  const startPackage = (name: string, digest: string): PackageUpload => {
    known(name, digest);
    uploads += 1;
    // A name that no package can have.
    const root = `${folders.skills}/.upload-${uploads}`;
    const writer = createPackageWriter(root);
    const upload = {
      write: writer.write,
      finish: () => {
        const before = known(name, digest);
        const receipt = before ?? { digest, file_count: writer.finish() };
        if (before === undefined) {
          if (receipt.file_count === 0) mkdirSync(root);
          renameSync(root, `${folders.skills}/${name}`);
          packages.set(name, receipt);
        }
        upload.discard();
        return receipt;
      },
      discard: () => {
        underWay.delete(upload);
        writer.discard();
      },
    };
    underWay.add(upload);
    return upload;
  };
  const putInput = (path: string, sha256: string, bytes: Uint8Array): InputReceipt => {
    const before = inputs.get(path);
    if (before?.sha256 === sha256) return before;
    if (before !== undefined) throw otherContent(`input ${JSON.stringify(path)}`);
    writeInput(inputRoot, safePath(path), bytes, inputFolders);
    const receipt = { path, sha256, size_bytes: bytes.length };
    inputs.set(path, receipt);
    return receipt;
  };
  return {
    startPackage,
    putInput,
    seal: (request) => {
      // Nobody waits for these any more.
      for (const upload of underWay) upload.discard();
      try {
        return sealAndVerify(folders, inputRoot, request);
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

function writeInput(root: string, path: string, bytes: Uint8Array, folders: Set<string>): void {
  const file = createFile(root, path, folders);
  try {
    writeAll(file, bytes);
  } catch (error) {
    rmSync(`${root}/${path}`, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

function sealAndVerify(folders: SandboxFolders, inputRoot: string, request: SealRequest): SealReceipt {
  const names = request.packages.map((entry) => entry.name);
  mustHold(folders.skills, names);
  mustHold(folders.workspace, ['inputs']);
  mustHold(folders.outputs, []);
  const packages = request.packages.map(({ name, digest }) => {
    const found = packageDigestOnDisk(`${folders.skills}/${name}`);
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

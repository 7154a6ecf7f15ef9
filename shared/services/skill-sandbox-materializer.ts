import pLimit from 'p-limit';
import type { SealReceipt, SealRequest } from '../contracts/daemon.ts';
import type { Manifest } from '../contracts/manifest.ts';
import { CognitionError } from '../domain/cognition-error.ts';
import { OBJECT_KEYS } from '../domain/row-keys.ts';
import { sha256Hex } from '../domain/sha256.ts';
import type { Clock } from '../ports/clock.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { type SandboxClient, type SandboxHandle, SandboxRefused } from '../ports/sandbox-client.ts';
import type { PackageReader } from './package-reader.ts';

/** Puts exactly the pinned packages and inputs into a sandbox and has it sealed. */
export interface SkillSandboxMaterializer {
  /**
   * Every call is idempotent, so a step that died begins again.
   * @throws CognitionError `package_unavailable`, `digest_mismatch`, `materialization_failed`: nothing has run, and
   *   the sandbox must not be used. TransientError when store or sandbox did not answer.
   */
  materialize(
    fingerprint: string,
    sandbox: SandboxHandle,
    pinned: { readonly manifest: Manifest; readonly manifest_digest: string },
  ): Promise<void>;
}

export interface SkillSandboxMaterializerDeps {
  readonly packages: PackageReader;
  readonly objects: ObjectStore;
  readonly client: SandboxClient;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** Transfers at once: as many as keep a link busy, few enough for the memory of a function. */
const TRANSFERS = 4;

export function createSkillSandboxMaterializer(deps: SkillSandboxMaterializerDeps): SkillSandboxMaterializer {
  const { client, clock, metrics } = deps;
  return {
    async materialize(fingerprint, sandbox, { manifest, manifest_digest }) {
      const began = clock.now();
      const request = sealRequest(manifest);
      try {
        const bound = client.bind(sandbox, { run_id: sandbox.run_id, manifest_digest });
        const bytes = await transfer(deps, fingerprint, sandbox, manifest, bound);
        requireExact(request, await client.seal(sandbox, request));
        metrics.add({ name: 'MaterializationLatency', value: clock.now() - began });
        metrics.add({ name: 'MaterializationBytes', value: bytes });
      } catch (error) {
        throw error instanceof SandboxRefused ? materializationFailure(error) : error;
      }
    },
  };
}

/** @returns how many bytes the sandbox was sent. */
async function transfer(
  { packages, objects, client }: SkillSandboxMaterializerDeps,
  fingerprint: string,
  sandbox: SandboxHandle,
  manifest: Manifest,
  bound: Promise<void>,
): Promise<number> {
  const limit = pLimit(TRANSFERS);
  let sent = 0;
  const putPackage = async ({ name, digest }: Manifest['packages'][number]): Promise<void> => {
    const bytes = await packages.bytes(fingerprint, digest);
    await bound;
    await client.putPackage(sandbox, name, digest, bytes);
    sent += bytes.byteLength;
  };
  const putInput = async ({ artifact_id, path, sha256 }: Manifest['inputs'][number]): Promise<void> => {
    const bytes = await objects.get(OBJECT_KEYS.input(fingerprint, artifact_id));
    if (bytes === undefined || sha256Hex(bytes) !== sha256) {
      throw new CognitionError(
        'materialization_failed',
        `the input ${JSON.stringify(path)} (artifact ${artifact_id}) is gone or is not what was pinned; upload it again`,
      );
    }
    await bound;
    await client.putInput(sandbox, path, sha256, bytes);
    sent += bytes.byteLength;
  };
  // The store is read while the sandbox is bound.
  await Promise.all([
    bound,
    ...manifest.packages.map((pinned) => limit(putPackage, pinned)),
    ...manifest.inputs.map((input) => limit(putInput, input)),
  ]);
  return sent;
}

function sealRequest({ packages, inputs }: Manifest): SealRequest {
  return {
    packages: packages.map(({ name, digest }) => ({ name, digest })),
    inputs: inputs.map(({ path, sha256 }) => ({ path, sha256 })),
  };
}

/** What the sandbox hashed from its sealed disk must be what was pinned: nothing missing, different or more. */
function requireExact(wanted: SealRequest, got: SealReceipt): void {
  const packages = difference(
    wanted.packages.map(({ name, digest }) => [name, digest]),
    got.packages.map(({ name, digest }) => [name, digest]),
  );
  if (packages !== undefined) {
    throw new CognitionError(
      'digest_mismatch',
      `the sandbox sealed another package "${packages}" than was pinned`,
    );
  }
  const inputs = difference(
    wanted.inputs.map(({ path, sha256 }) => [path, sha256]),
    got.inputs.map(({ path, sha256 }) => [path, sha256]),
  );
  if (inputs !== undefined) {
    throw new CognitionError(
      'materialization_failed',
      `the sandbox sealed another input ${JSON.stringify(inputs)} than was pinned`,
    );
  }
}

type Named = readonly [name: string, hash: string];

/** The first name that the two do not have alike, once each. */
function difference(wanted: readonly Named[], got: readonly Named[]): string | undefined {
  const left = new Map(wanted);
  for (const [name, hash] of got) {
    if (left.get(name) !== hash) return name.slice(0, 200);
    left.delete(name);
  }
  return [...left.keys()][0];
}

function materializationFailure(refused: SandboxRefused): CognitionError {
  const code = refused.code === 'digest_mismatch' ? 'digest_mismatch' : 'materialization_failed';
  return new CognitionError(code, `the sandbox refused what it was given: ${refused.code}`, {
    cause: refused,
  });
}

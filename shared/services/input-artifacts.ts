import { LIMITS } from '../contracts/limits.ts';
import { inputArtifactRowSchema } from '../contracts/rows.ts';
import type { InputArtifact } from '../contracts/run.ts';
import { CognitionError } from '../domain/cognition-error.ts';
import { KEYS, OBJECT_KEYS } from '../domain/row-keys.ts';
import { sha256Hex } from '../domain/sha256.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { TableStore } from '../ports/table-store.ts';
import type { BytesOrDownload, CommitWith } from './commit-with.ts';
import { rowData } from './records/row-data.ts';
import { bytesOrDownload } from './runs/bytes-or-download.ts';

/** Binary inputs that builders upload once and name in runs. */
export interface InputArtifacts {
  create(
    fingerprint: string,
    bytes: Uint8Array,
    contentType: string,
    commitWith?: CommitWith<InputArtifact>,
  ): Promise<InputArtifact>;
  get(fingerprint: string, artifactId: string): Promise<BytesOrDownload>;
  /** What they are, in the order asked for. @throws CognitionError `not_found` for the first that is not there. */
  describe(fingerprint: string, artifactIds: readonly string[]): Promise<InputArtifact[]>;
}

export interface InputArtifactsDeps {
  readonly table: TableStore;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly ids: Ids;
}

export function createInputArtifacts(deps: InputArtifactsDeps): InputArtifacts {
  const { table, objects, clock, ids } = deps;
  const find = async (fingerprint: string, artifactId: string): Promise<InputArtifact> => {
    const row = await table.get(KEYS.inputArtifact(fingerprint, artifactId));
    const artifact = row && inputArtifactRowSchema.parse(row.data);
    if (artifact === undefined || Date.parse(artifact.expires_at) <= clock.now()) throw notFound(artifactId);
    return artifact;
  };
  return {
    async create(fingerprint, bytes, contentType, commitWith = () => []) {
      const now = clock.now();
      const expires = now + LIMITS.inputRetentionSeconds * 1_000;
      const artifact: InputArtifact = {
        artifact_id: ids.next(),
        size_bytes: bytes.byteLength,
        sha256: sha256Hex(bytes),
        content_type: contentType,
        created_at: new Date(now).toISOString(),
        expires_at: new Date(expires).toISOString(),
      };
      const key = OBJECT_KEYS.input(fingerprint, artifact.artifact_id);
      await objects.put({ key, bytes, sha256: artifact.sha256, content_type: contentType });
      await table.transact([
        {
          kind: 'put',
          key: KEYS.inputArtifact(fingerprint, artifact.artifact_id),
          data: rowData(artifact),
          expires_at: Math.floor(expires / 1_000),
          if: { absent: true },
        },
        ...commitWith(artifact),
      ]);
      return artifact;
    },
    async get(fingerprint, artifactId) {
      const { sha256, size_bytes, content_type } = await find(fingerprint, artifactId);
      const found = await bytesOrDownload(deps, {
        key: OBJECT_KEYS.input(fingerprint, artifactId),
        sha256,
        size_bytes,
        content_type,
        file_name: artifactId,
      });
      if (found === undefined) throw notFound(artifactId);
      return found;
    },
    describe: (fingerprint, artifactIds) => Promise.all(artifactIds.map((id) => find(fingerprint, id))),
  };
}

function notFound(artifactId: string): CognitionError {
  return new CognitionError(
    'not_found',
    `there is no input artifact ${artifactId} in this scope; upload it with POST /artifacts`,
  );
}

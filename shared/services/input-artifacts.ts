import type { InputArtifact } from '../contracts/run.ts';
import type { BytesOrDownload, CommitWith } from './commit-with.ts';

/** Binary inputs that builders upload once and name in runs. */
export interface InputArtifacts {
  create(
    fingerprint: string,
    bytes: Uint8Array,
    contentType: string,
    commitWith?: CommitWith<InputArtifact>,
  ): Promise<InputArtifact>;
  get(fingerprint: string, artifactId: string): Promise<BytesOrDownload>;
}

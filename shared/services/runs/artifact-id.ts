import { createHash } from 'node:crypto';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ID_LENGTH = 26;

/**
 * The id of a run's output follows from what it is, so that collecting again after a crash finds the same object
 * instead of leaving one behind.
 */
export function artifactId(runId: string, path: string, sha256: string): string {
  const hash = createHash('sha256').update(`cognition:artifact:v1\n${runId}\n${sha256}\n${path}`).digest();
  return [...hash.subarray(0, ID_LENGTH)].map((byte) => CROCKFORD.charAt(byte & 31)).join('');
}

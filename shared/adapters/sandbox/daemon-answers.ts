/** Answers of the right shape that are still not about what was asked. */
import type { ExecStatus, SealReceipt, SealRequest, StreamSlice } from '../../contracts/daemon.ts';
import { LIMITS } from '../../contracts/limits.ts';
import { SandboxRefused } from '../../ports/sandbox-client.ts';

const SLICE_BYTES = 32 * 1_024;

/** What the daemon hashed from its sealed disk is exactly what was to be there, in any order. */
export function assertSameSeal(asked: SealRequest, receipt: SealReceipt): void {
  const lines = ({ packages, inputs }: SealRequest | SealReceipt): string =>
    JSON.stringify([
      ...packages.map(({ name, digest }) => ['package', name, digest].join('\n')).sort(),
      ...inputs.map(({ path, sha256 }) => ['input', path, sha256].join('\n')).sort(),
    ]);
  if (lines(asked) !== lines(receipt)) {
    throw new SandboxRefused('digest_mismatch', 'the sandbox sealed something else than it was given');
  }
}

export function assertExecStatus(
  execId: string,
  query: { stdout_offset: number; stderr_offset: number },
  status: ExecStatus,
): void {
  if (status.exec_id !== execId) throw refused('is about another command');
  assertSlice('stdout', query.stdout_offset, status.stdout);
  assertSlice('stderr', query.stderr_offset, status.stderr);
}

const refused = (problem: string): SandboxRefused =>
  new SandboxRefused('protocol', `the sandbox's answer about a command ${problem}`);

/** Offsets that add up: a reader who follows them gets each byte once and comes to an end. */
function assertSlice(stream: string, offset: number, slice: StreamSlice): void {
  const bytes = Buffer.from(slice.data, 'base64');
  const whole = bytes.toString('base64') === slice.data;
  const sum = offset + bytes.length;
  if (!whole || bytes.length > SLICE_BYTES || slice.next_offset !== sum || slice.length < sum) {
    throw refused(`has a ${stream} slice that does not add up`);
  }
  if (slice.length > LIMITS.streamBytes) throw refused(`keeps more of ${stream} than was asked for`);
}

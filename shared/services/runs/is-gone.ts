import type { SandboxRow } from '../../contracts/rows.ts';
import type { SandboxTask } from '../../ports/sandbox-provisioner.ts';
import type { SandboxManagerDeps } from '../sandbox-manager.ts';

/** Stopped, or unknown to the provider: at once when it was ready before, else after the time of being announced. */
export function isGone(
  { clock, missingGraceMs = 10_000 }: Pick<SandboxManagerDeps, 'clock' | 'missingGraceMs'>,
  task: SandboxTask | undefined,
  row: SandboxRow,
): boolean {
  if (task !== undefined && task.status !== 'missing') return task.status === 'stopped';
  return row.host !== null || clock.now() - Date.parse(row.requested_at) > missingGraceMs;
}

import type { RunSummary } from '../../../shared/contracts/run.ts';
import { formatStatus, formatTime } from '../../terminal/format.ts';
import type { Line } from '../../terminal/output.ts';
import { details } from '../../terminal/table.ts';

/** A run without its streams. */
export function runLines(run: RunSummary): Line[] {
  const { timings, failure } = run;
  return [
    ...details([
      ['run', { text: run.run_id, style: 'bold' }],
      ['agent', run.agent],
      ['status', formatStatus(run.status)],
      ['stage', run.stage],
      ['exit code', run.exit_code === null ? undefined : String(run.exit_code)],
      ['signal', run.signal ?? undefined],
      ['failure', failure === null ? undefined : `${failure.message} [${failure.code}, ${failure.stage}]`],
      ['manifest', run.manifest_digest ?? undefined],
      ['artifacts', String(run.artifact_count)],
      ['queued', formatTime(timings.queued_at)],
      ['command took', elapsed(timings.started_at, timings.exited_at)],
      ['whole run took', elapsed(timings.queued_at, timings.finished_at)],
    ]),
    ...run.warnings.map((warning): Line => [{ text: 'warning: ', style: 'yellow' }, warning]),
  ];
}

function elapsed(from: string | null, to: string | null): string | undefined {
  if (from === null || to === null) return undefined;
  return `${((Date.parse(to) - Date.parse(from)) / 1000).toFixed(2)} s`;
}

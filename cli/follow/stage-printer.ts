import * as z from 'zod';
import type { RunEvent } from '../../shared/contracts/event.ts';
import type { Progress } from '../terminal/progress.ts';

/** What of an event's data is worth a word; all of it is in `runs events`. */
const dataSchema = z
  .object({
    name: z.string(),
    path: z.string(),
    reason: z.string(),
    alias: z.string(),
    manifest_digest: z.string(),
    exit_code: z.int().nullable(),
  })
  .partial();
type Data = z.infer<typeof dataSchema>;

const STAGES: Partial<Record<RunEvent['type'], (data: Data) => { done: string; next?: string }>> = {
  'run.queued': () => ({ done: 'queued', next: 'pinning the manifest' }),
  'run.pinned': (data) => ({
    done: `pinned${data.manifest_digest === undefined ? '' : ` manifest ${data.manifest_digest}`}`,
    next: 'waiting for a sandbox',
  }),
  'sandbox.ready': () => ({ done: 'sandbox ready', next: 'putting the packages in place' }),
  'sandbox.sealed': () => ({ done: 'packages sealed and verified', next: 'starting the command' }),
  'command.started': () => ({ done: 'command started', next: 'running' }),
  'command.exited': (data) => ({
    done: `command exited${typeof data.exit_code === 'number' ? ` with ${data.exit_code}` : ''}`,
    next: 'collecting outputs',
  }),
  'egress.denied': (data) => ({ done: `egress denied: ${data.alias ?? 'unknown alias'}` }),
  'run.cancel_requested': () => ({ done: 'cancel requested', next: 'stopping' }),
};

/** The stages of a run as progress. */
export function createStagePrinter(runId: string, progress: Progress): { event: (event: RunEvent) => void } {
  progress.next(`run ${runId}`);
  return {
    event: (event) => {
      const data = dataSchema.safeParse(event.data);
      const stage = STAGES[event.type]?.(data.success ? data.data : {});
      if (stage === undefined) return;
      progress.done(stage.done);
      if (stage.next !== undefined) progress.next(stage.next);
    },
  };
}

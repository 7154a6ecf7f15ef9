import * as z from 'zod';
import type { RunEvent } from '../../shared/contracts/event.ts';
import type { Run } from '../../shared/contracts/run.ts';
import type { Session } from '../session.ts';
import type { Progress } from '../terminal/progress.ts';
import { sanitizeText } from '../terminal/sanitize.ts';

const outputSchema = z.object({ stream: z.enum(['stdout', 'stderr']), text: z.string() });
type StreamName = z.infer<typeof outputSchema>['stream'];

export interface StreamPrinter {
  event(event: RunEvent): void;
  /** What events did not bring: they are capped, the run keeps more. */
  finish(run: Run): void;
}

/**
 * stdout of the script to stdout, stderr to stderr: as they are into files and pipes, on a terminal without control
 * sequences. With --json nothing: the document has both.
 */
export function createStreamPrinter(session: Session, progress: Progress): StreamPrinter {
  const { io, output } = session;
  const shown: Record<StreamName, string> = { stdout: '', stderr: '' };
  const write = (stream: StreamName, text: string): void => {
    if (output.json || text === '') return;
    const shownText = io[stream].isTTY === true ? sanitizeText(text) : text;
    progress.makeRoom();
    io[stream].write(shownText);
    progress.wrote(shownText.endsWith('\n'));
  };
  const finishStream = (stream: StreamName, whole: string, truncated: boolean): void => {
    if (whole.startsWith(shown[stream])) write(stream, whole.slice(shown[stream].length));
    if (!truncated) return;
    progress.makeRoom();
    output.note([{ text: 'warning: ', style: 'yellow' }, `${stream} was cut: more was written than is kept`]);
  };
  return {
    event: (event) => {
      if (event.type !== 'command.output') return;
      const data = outputSchema.safeParse(event.data);
      if (!data.success) return;
      write(data.data.stream, data.data.text);
      shown[data.data.stream] += data.data.text;
    },
    finish: (run) => {
      finishStream('stdout', run.stdout, run.stdout_truncated);
      finishStream('stderr', run.stderr, run.stderr_truncated);
      progress.endLine();
    },
  };
}

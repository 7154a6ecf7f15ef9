import * as z from 'zod';
import type { RunEvent } from '../../shared/contracts/event.ts';
import type { Run } from '../../shared/contracts/run.ts';
import type { Session } from '../session.ts';
import type { Progress } from '../terminal/progress.ts';

const outputSchema = z.object({ stream: z.enum(['stdout', 'stderr']), text: z.string() });
type StreamName = z.infer<typeof outputSchema>['stream'];

export interface StreamPrinter {
  event(event: RunEvent): void;
  /** What events did not bring: they are capped, the run keeps more. */
  finish(run: Run): void;
}

/** stdout of the script to stdout, stderr to stderr, as they are. With --json nothing: the document has both. */
export function createStreamPrinter(session: Session, progress: Progress): StreamPrinter {
  const { io, output } = session;
  const shown: Record<StreamName, string> = { stdout: '', stderr: '' };
  const write = (stream: StreamName, text: string): void => {
    if (output.json || text === '') return;
    progress.makeRoom();
    io[stream].write(text);
    progress.wrote(text.endsWith('\n'));
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

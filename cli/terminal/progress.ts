/**
 * Progress on stderr: a spinner on a terminal, plain lines elsewhere, nothing with --json. It shares the terminal
 * with what a script writes, so it steps aside before every write and never erases a line that is not its own.
 */
import type { CliIo } from '../io.ts';
import { coloursOn, renderLine } from './output.ts';
import { sanitizeLine } from './sanitize.ts';

export interface Progress {
  /** What is under way now. */
  next(text: string): void;
  /** What is done. */
  done(text: string): void;
  /** Called before something else is written to the terminal. */
  makeRoom(): void;
  /** Called after it, with whether it ended its line. */
  wrote(endedLine: boolean): void;
  /** Begins a new line where a script left one open. */
  endLine(): void;
  stop(): void;
}

const SILENT: Progress = {
  next: () => {},
  done: () => {},
  makeRoom: () => {},
  wrote: () => {},
  endLine: () => {},
  stop: () => {},
};

export async function createProgress(io: CliIo, json: boolean): Promise<Progress> {
  if (json) return SILENT;
  if (!canSpin(io)) return plainProgress(io);
  const { default: ora } = await import('ora');
  // Left alone, it would take over stdin, and Ctrl-C with it.
  const spinner = ora({ stream: io.stderr, discardStdin: false, isEnabled: true });
  const colours = coloursOn(io.env, io.stderr);
  if (!colours) spinner.color = false;
  let lineOpen = false;
  // Stopping twice would move the cursor back over what a script has written since.
  const stop = (): void => {
    if (spinner.isSpinning) spinner.stop();
  };
  const endLine = (): void => {
    if (lineOpen) io.stderr.write('\n');
    lineOpen = false;
  };
  return {
    next: (text) => {
      endLine();
      spinner.start(sanitizeLine(text));
    },
    done: (text) => {
      stop();
      endLine();
      io.stderr.write(`${renderLine([{ text: '✔ ', style: 'green' }, text], colours)}\n`);
    },
    makeRoom: stop,
    wrote: (endedLine) => {
      lineOpen = !endedLine;
    },
    endLine,
    stop,
  };
}

/** Terminals of no width are real (`docker exec -t`, expect), and a spinner never gets done erasing its lines there. */
export const canSpin = ({ stderr, env }: CliIo): boolean =>
  stderr.isTTY === true && (stderr.columns ?? 0) >= MIN_COLUMNS && env.TERM !== 'dumb';
const MIN_COLUMNS = 20;

function plainProgress(io: CliIo): Progress {
  return {
    ...SILENT,
    done: (text) => {
      io.stderr.write(`cognition: ${sanitizeLine(text)}\n`);
    },
  };
}

import { command } from '../../command.ts';
import type { Line } from '../../terminal/output.ts';
import { runLines } from './run-lines.ts';

export const showRun = command({
  name: 'show',
  description: 'Show one run with what it wrote',
  examples: ['cognition runs show RUN_ID', 'cognition runs show RUN_ID --json'],
  args: { run: { type: 'positional', required: true, description: 'Id of the run' } },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const run = await client.getRun(args.run);
    session.output.result(run, () => [
      ...runLines(run),
      ...streamLines('stdout', run.stdout, run.stdout_truncated),
      ...streamLines('stderr', run.stderr, run.stderr_truncated),
    ]);
    return 0;
  },
});

function streamLines(name: string, text: string, truncated: boolean): Line[] {
  if (text === '') return [];
  const lines = text.replace(/\n$/, '').split('\n');
  return [
    { text: `--- ${name}${truncated ? ' (cut: more was written than is kept)' : ''}`, style: 'dim' },
    ...lines,
  ];
}

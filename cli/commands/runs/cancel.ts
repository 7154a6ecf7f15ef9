import { command } from '../../command.ts';
import { runLines } from './run-lines.ts';

export const cancelRun = command({
  name: 'cancel',
  description: 'Cancel a run; may be said twice, and does nothing to a run that has ended',
  examples: ['cognition runs cancel RUN_ID'],
  args: { run: { type: 'positional', required: true, description: 'Id of the run' } },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const run = await client.cancelRun(args.run);
    session.output.result(run, () => runLines(run));
    return 0;
  },
});

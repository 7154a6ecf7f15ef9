import { command } from '../../command.ts';
import { usage } from '../../failure.ts';
import { formatStatus, formatTime } from '../../terminal/format.ts';
import { table } from '../../terminal/table.ts';

export const listRuns = command({
  name: 'list',
  description: 'List runs, newest first',
  examples: ['cognition runs list', 'cognition runs list --limit 5 --json'],
  args: {
    limit: { type: 'string', valueHint: 'n', description: 'How many, at most 200', default: '20' },
    cursor: { type: 'string', valueHint: 'text', description: 'Go on where a list ended (`next_cursor`)' },
  },
  run: async ({ args, session }) => {
    const limit = Number(args.limit);
    if (!Number.isInteger(limit) || limit < 1 || limit > 200)
      throw usage('--limit is a number from 1 to 200');
    const { client } = await session.connect();
    const page = await client.listRuns({ limit, cursor: args.cursor });
    session.output.result(page, () =>
      page.items.length === 0
        ? ['no runs in this scope; start one with `cognition run AGENT`']
        : table(
            ['RUN', 'AGENT', 'STATUS', 'EXIT', 'ARTIFACTS', 'QUEUED'],
            page.items.map((run) => [
              run.run_id,
              run.agent,
              formatStatus(run.status),
              run.exit_code === null ? '-' : String(run.exit_code),
              String(run.artifact_count),
              formatTime(run.timings.queued_at),
            ]),
          ),
    );
    if (page.next_cursor !== undefined)
      session.output.note(`there are more: cognition runs list --cursor ${page.next_cursor}`);
    return 0;
  },
});

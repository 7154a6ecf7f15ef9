import type { RunEvent } from '../../../shared/contracts/event.ts';
import { command } from '../../command.ts';
import { usage } from '../../failure.ts';
import { runEventsFrom } from '../../follow/run-events-from.ts';
import { formatTime } from '../../terminal/format.ts';
import type { Line } from '../../terminal/output.ts';

export const runEvents = command({
  name: 'events',
  description: 'Show the events of a run, or follow them',
  examples: ['cognition runs events RUN_ID', 'cognition runs events RUN_ID --follow'],
  args: {
    run: { type: 'positional', required: true, description: 'Id of the run' },
    after: { type: 'string', valueHint: 'n', description: 'Only those after this sequence', default: '0' },
    follow: { type: 'boolean', description: 'Wait for more until the run has ended' },
  },
  run: async ({ args, session }) => {
    const after = Number(args.after);
    if (!Number.isInteger(after) || after < 0) throw usage('--after is a sequence: 0, 1, 2, …');
    const { client } = await session.connect();
    const events: RunEvent[] = [];
    for await (const event of runEventsFrom(client, args.run, { after, follow: args.follow === true })) {
      if (session.output.json) events.push(event);
      else session.output.result(event, () => [eventLine(event)]);
    }
    if (session.output.json) session.output.result({ items: events }, () => []);
    return 0;
  },
});

const eventLine = (event: RunEvent): Line => [
  { text: `${String(event.sequence).padStart(4)}  ${formatTime(event.at)}  `, style: 'dim' },
  { text: event.type.padEnd(22), style: 'bold' },
  JSON.stringify(event.data),
];

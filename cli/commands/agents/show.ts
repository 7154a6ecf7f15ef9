import { command } from '../../command.ts';
import { agentLines } from './agent-lines.ts';

export const showAgent = command({
  name: 'show',
  description: 'Show one agent',
  examples: ['cognition agents show support-analyst', 'cognition agents show support-analyst --json'],
  args: { name: { type: 'positional', required: true, description: 'Name of the agent' } },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const { value, etag } = await client.getAgent(args.name);
    session.output.result({ ...value, etag }, () => agentLines(value));
    return 0;
  },
});

import { command } from '../../command.ts';

export const removeAgent = command({
  name: 'rm',
  description: 'Delete an agent; runs that pinned it go on',
  examples: ['cognition agents rm support-analyst'],
  args: { name: { type: 'positional', required: true, description: 'Name of the agent' } },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    await client.deleteAgent(args.name);
    session.output.result({ deleted: args.name }, () => [`deleted agent ${args.name}`]);
    return 0;
  },
});

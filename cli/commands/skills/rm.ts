import { command } from '../../command.ts';

export const removeSkill = command({
  name: 'rm',
  description: 'Delete a skill; runs that pinned it go on, agents that attach it cannot start new ones',
  examples: ['cognition skills rm ticket-analysis'],
  args: { name: { type: 'positional', required: true, description: 'Name of the skill' } },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    await client.deleteSkill(args.name);
    session.output.result({ deleted: args.name }, () => [`deleted skill ${args.name}`]);
    return 0;
  },
});

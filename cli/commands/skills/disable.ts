import { command } from '../../command.ts';
import { skillLines } from './skill-lines.ts';

export const disableSkill = command({
  name: 'disable',
  description: 'Keep new runs from using a skill; runs that pinned it go on',
  examples: ['cognition skills disable ticket-analysis'],
  args: { name: { type: 'positional', required: true, description: 'Name of the skill' } },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const { value } = await client.patchSkill(args.name, { enabled: false });
    session.output.result(value, () => skillLines(value));
    return 0;
  },
});

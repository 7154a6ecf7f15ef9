import { command } from '../../command.ts';
import { skillLines } from './skill-lines.ts';

export const enableSkill = command({
  name: 'enable',
  description: 'Let runs use a skill again',
  examples: ['cognition skills enable ticket-analysis'],
  args: { name: { type: 'positional', required: true, description: 'Name of the skill' } },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const { value } = await client.patchSkill(args.name, { enabled: true });
    session.output.result(value, () => skillLines(value));
    return 0;
  },
});

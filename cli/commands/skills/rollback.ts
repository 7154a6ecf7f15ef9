import { command } from '../../command.ts';
import { skillLines } from './skill-lines.ts';

export const rollbackSkill = command({
  name: 'rollback',
  description: 'Make an earlier revision the current one; nothing is uploaded, nothing is lost',
  examples: ['cognition skills rollback ticket-analysis REVISION'],
  args: {
    name: { type: 'positional', required: true, description: 'Name of the skill' },
    revision: {
      type: 'positional',
      required: true,
      description: 'Revision; `cognition skills revisions NAME` lists them',
    },
  },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const { value } = await client.patchSkill(args.name, { current_revision: args.revision });
    session.output.result(value, () => skillLines(value));
    return 0;
  },
});

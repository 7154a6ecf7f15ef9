import { command } from '../../command.ts';
import { skillLines } from './skill-lines.ts';

export const showSkill = command({
  name: 'show',
  description: 'Show one skill, or one revision of it',
  examples: ['cognition skills show ticket-analysis', 'cognition skills show ticket-analysis --revision ID'],
  args: {
    name: { type: 'positional', required: true, description: 'Name of the skill' },
    revision: { type: 'string', valueHint: 'id', description: 'An earlier revision' },
  },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    if (args.revision === undefined) {
      const { value, etag } = await client.getSkill(args.name);
      session.output.result({ ...value, etag }, () => skillLines(value));
    } else {
      const revision = await client.getSkillRevision(args.name, args.revision);
      session.output.result(revision, () => skillLines(revision));
    }
    return 0;
  },
});

import { collectItems } from '../../client/caller.ts';
import { command } from '../../command.ts';
import { formatBytes, formatTime } from '../../terminal/format.ts';
import { table } from '../../terminal/table.ts';

export const listRevisions = command({
  name: 'revisions',
  description: 'List the revisions of a skill, newest first',
  examples: ['cognition skills revisions ticket-analysis'],
  args: { name: { type: 'positional', required: true, description: 'Name of the skill' } },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const [{ value: skill }, revisions] = await Promise.all([
      client.getSkill(args.name),
      collectItems((cursor) => client.listSkillRevisions(args.name, { cursor, limit: 200 })),
    ]);
    session.output.result({ current_revision: skill.revision, items: revisions }, () =>
      table(
        ['', 'REVISION', 'FILES', 'SIZE', 'CREATED', 'DIGEST'],
        revisions.map((revision) => [
          revision.revision === skill.revision ? { text: '*', style: 'green' } : '',
          revision.revision,
          String(revision.file_count),
          formatBytes(revision.size_bytes),
          formatTime(revision.created_at),
          revision.digest,
        ]),
      ),
    );
    return 0;
  },
});

import { collectItems } from '../../client/caller.ts';
import { command } from '../../command.ts';
import { formatBytes, formatStatus, formatTime, shortDigest } from '../../terminal/format.ts';
import { table } from '../../terminal/table.ts';

export const listSkills = command({
  name: 'list',
  description: 'List the skills of the scope',
  examples: ['cognition skills list', 'cognition skills list --json'],
  args: {},
  run: async ({ session }) => {
    const { client } = await session.connect();
    const skills = await collectItems((cursor) => client.listSkills({ cursor, limit: 200 }));
    session.output.result({ items: skills }, () =>
      skills.length === 0
        ? ['no skills in this scope; publish one with `cognition skills push DIR`']
        : table(
            ['NAME', 'ENABLED', 'FILES', 'SIZE', 'DIGEST', 'UPDATED'],
            skills.map((skill) => [
              { text: skill.name, style: 'bold' },
              formatStatus(skill.enabled ? 'yes' : 'no'),
              String(skill.file_count),
              formatBytes(skill.size_bytes),
              shortDigest(skill.digest),
              formatTime(skill.updated_at),
            ]),
          ),
    );
    return 0;
  },
});

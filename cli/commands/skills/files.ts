import { command } from '../../command.ts';
import { CliFailure } from '../../failure.ts';
import { formatBytes } from '../../terminal/format.ts';
import { printBytes } from '../../terminal/print-bytes.ts';
import { table } from '../../terminal/table.ts';

export const skillFiles = command({
  name: 'files',
  description: 'List the files of a skill, or print one',
  examples: [
    'cognition skills files ticket-analysis',
    'cognition skills files ticket-analysis --path scripts/analyze.py > analyze.py',
  ],
  args: {
    name: { type: 'positional', required: true, description: 'Name of the skill' },
    path: { type: 'string', valueHint: 'path', description: 'Print this file, byte for byte' },
    revision: { type: 'string', valueHint: 'id', description: 'Of an earlier revision' },
  },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const { revision, items } = await client.getSkillFiles(args.name, args.revision);
    if (args.path === undefined) {
      session.output.result({ revision, items }, () =>
        table(
          ['SIZE', 'SHA-256', 'PATH'],
          items.map((file) => [formatBytes(file.size_bytes), file.sha256, file.path]),
        ),
      );
      return 0;
    }
    const file = items.find(({ path }) => path === args.path);
    if (file === undefined) {
      throw new CliFailure('invalid_file', `the skill has no file ${JSON.stringify(args.path)}`, {
        fix: `see \`cognition skills files ${args.name}\``,
      });
    }
    const { bytes } = await client.getSkillFile(args.name, file.path, revision, file.sha256);
    if (session.output.json) {
      session.output.result({ revision, ...file, content: bytes.toString('utf8') }, () => []);
    } else printBytes(bytes, session.io.stdout);
    return 0;
  },
});

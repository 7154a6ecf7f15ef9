import { command } from '../../command.ts';
import { formatBytes } from '../../terminal/format.ts';
import { table } from '../../terminal/table.ts';

export const listArtifacts = command({
  name: 'list',
  description: 'List the artifacts of a run, and refused outputs with reasons',
  examples: ['cognition artifacts list RUN_ID'],
  args: { run: { type: 'positional', required: true, description: 'Id of the run' } },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const { items } = await client.getRunArtifacts(args.run);
    session.output.result({ items }, () =>
      items.length === 0
        ? ['the run left no artifacts']
        : table(
            ['SIZE', 'SHA-256', 'PATH'],
            items.map((artifact) => [
              formatBytes(artifact.size_bytes),
              artifact.refused === undefined
                ? (artifact.sha256 ?? '')
                : { text: `refused: ${artifact.refused}`, style: 'yellow' },
              artifact.path,
            ]),
          ),
    );
    return 0;
  },
});

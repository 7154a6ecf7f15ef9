import { command } from '../../command.ts';
import { details } from '../../terminal/table.ts';

export const runManifest = command({
  name: 'manifest',
  description: 'Show the pinned manifest of a run: what it depends on, by exact digest',
  examples: ['cognition runs manifest RUN_ID', 'cognition runs manifest RUN_ID --json'],
  args: { run: { type: 'positional', required: true, description: 'Id of the run' } },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const pinned = await client.getRunManifest(args.run);
    const { manifest, manifest_digest } = pinned;
    session.output.result(pinned, () =>
      details([
        ['manifest digest', { text: manifest_digest, style: 'bold' }],
        ['agent', `${manifest.agent.name}, revision ${manifest.agent.revision}`],
        ['definition digest', manifest.agent.definition_digest],
        ...manifest.packages.map(
          (pinnedPackage, index) =>
            [
              index === 0 ? 'packages' : '',
              `${pinnedPackage.name}, revision ${pinnedPackage.revision}, ${pinnedPackage.digest}`,
            ] as const,
        ),
        ['sandbox profile', `${manifest.sandbox.profile}, isolation: ${manifest.sandbox.isolation}`],
        ['image identity', manifest.sandbox.image_identity],
        ['package backend', manifest.package_backend],
        [
          'command',
          [manifest.command.skill, manifest.command.script].filter((part) => part !== null).join(' '),
        ],
        ['timeout', `${manifest.timeout_seconds} s`],
      ]),
    );
    return 0;
  },
});

import { collectItems } from '../../client/caller.ts';
import { command } from '../../command.ts';
import { formatTime } from '../../terminal/format.ts';
import { table } from '../../terminal/table.ts';

export const listAgents = command({
  name: 'list',
  description: 'List the agents of the scope',
  examples: ['cognition agents list'],
  args: {},
  run: async ({ session }) => {
    const { client } = await session.connect();
    const agents = await collectItems((cursor) => client.listAgents({ cursor, limit: 200 }));
    session.output.result({ items: agents }, () =>
      agents.length === 0
        ? ['no agents in this scope; define one with `cognition agents put FILE`']
        : table(
            ['NAME', 'SKILLS', 'PROFILE', 'UPDATED'],
            agents.map((agent) => [
              { text: agent.name, style: 'bold' },
              agent.skills.join(', '),
              agent.sandbox_profile,
              formatTime(agent.updated_at),
            ]),
          ),
    );
    return 0;
  },
});

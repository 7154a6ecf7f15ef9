import { resolve } from 'node:path';
import { command } from '../../command.ts';
import { readAgentFile } from '../../read-agent-file.ts';
import { agentLines } from './agent-lines.ts';

export const putAgent = command({
  name: 'put',
  description: 'Create or replace an agent from a JSON or YAML file',
  examples: ['cognition agents put examples/agents/support-analyst.json', 'cognition agents put agent.yaml'],
  args: { file: { type: 'positional', required: true, description: 'JSON or YAML: name, skills, …' } },
  run: async ({ args, session }) => {
    const definition = await readAgentFile(resolve(session.io.cwd, args.file));
    const { client } = await session.connect();
    const { value: agent, created } = await client.putAgent(definition.name, definition);
    session.output.result({ ...agent, outcome: created ? 'created' : 'replaced' }, () => [
      `agent ${agent.name} ${created ? 'created' : 'replaced'}`,
      ...agentLines(agent),
    ]);
    return 0;
  },
});

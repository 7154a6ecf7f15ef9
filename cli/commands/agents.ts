import { group } from '../command.ts';

export const agentsGroup = group({
  name: 'agents',
  description: 'Define agents and the skills they attach',
  commands: {
    put: {
      description: 'Create or replace an agent from a JSON or YAML file',
      load: async () => (await import('./agents/put.ts')).putAgent,
    },
    list: {
      description: 'List the agents of the scope',
      load: async () => (await import('./agents/list.ts')).listAgents,
    },
    show: { description: 'Show one agent', load: async () => (await import('./agents/show.ts')).showAgent },
    rm: { description: 'Delete an agent', load: async () => (await import('./agents/rm.ts')).removeAgent },
  },
});

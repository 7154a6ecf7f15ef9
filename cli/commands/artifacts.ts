import { group } from '../command.ts';

export const artifactsGroup = group({
  name: 'artifacts',
  description: 'List and fetch what runs left behind',
  commands: {
    list: {
      description: 'List the artifacts of a run, and refused outputs with reasons',
      load: async () => (await import('./artifacts/list.ts')).listArtifacts,
    },
    get: {
      description: 'Fetch artifacts of a run into a folder',
      load: async () => (await import('./artifacts/get.ts')).getArtifacts,
    },
  },
});

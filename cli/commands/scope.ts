import { group } from '../command.ts';

export const scopeGroup = group({
  name: 'scope',
  description: 'Show, choose and encode the effective scope',
  commands: {
    show: {
      description: 'Show the effective scope and where it comes from',
      load: async () => (await import('./scope/show.ts')).showScope,
    },
    use: {
      description: 'Choose the scope for commands that name none',
      load: async () => (await import('./scope/use.ts')).useScope,
    },
    encode: {
      description: 'Print the scope ref, as it stands in URLs and IAM policies',
      load: async () => (await import('./scope/encode.ts')).encodeScope,
    },
  },
});

import { command } from '../../command.ts';
import { parseScope, storeScope } from '../../settings/scope.ts';

export const useScope = command({
  name: 'use',
  description: 'Choose the scope for commands that name none',
  examples: ['cognition scope use tenant=acme,project=support'],
  args: { entries: { type: 'positional', required: true, description: 'key=value[,key=value…]' } },
  run: async ({ args, session }) => {
    const scope = parseScope([args.entries], 'the argument');
    const path = await storeScope(scope, session.io.env);
    session.output.result({ scope, stored: path }, () => [
      `scope ${args.entries} is used from now on (${path})`,
    ]);
    if (session.io.env.COGNITION_SCOPE) session.output.note('COGNITION_SCOPE is set, and goes before it');
    return 0;
  },
});

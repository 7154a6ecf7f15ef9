import { encodeScopeRef, scopeFingerprint } from '../../../shared/domain/scope.ts';
import { command } from '../../command.ts';
import { parseScope, resolveScope } from '../../settings/scope.ts';

export const encodeScope = command({
  name: 'encode',
  description: 'Print the scope ref, as it stands in URLs and IAM policies',
  examples: ['cognition scope encode tenant=acme,project=support', 'cognition scope encode'],
  args: {
    entries: { type: 'positional', required: false, description: 'key=value[,…]; default: the scope in use' },
  },
  run: async ({ args, session }) => {
    const scope =
      args.entries === undefined
        ? (await resolveScope(session.flags.scope, session.io.env)).scope
        : parseScope([args.entries], 'the argument');
    const scopeRef = encodeScopeRef(scope);
    session.output.result({ scope, scope_ref: scopeRef, scope_fingerprint: scopeFingerprint(scope) }, () => [
      scopeRef,
    ]);
    return 0;
  },
});

import { encodeScopeRef, scopeFingerprint } from '../../../shared/domain/scope.ts';
import { command } from '../../command.ts';
import { resolveScope } from '../../settings/scope.ts';
import { details } from '../../terminal/table.ts';

export const showScope = command({
  name: 'show',
  description: 'Show the effective scope and where it comes from',
  examples: ['cognition scope show', 'cognition scope show --scope tenant=acme --json'],
  args: {},
  run: async ({ session }) => {
    const { scope, source } = await resolveScope(session.flags.scope, session.io.env);
    const scopeRef = encodeScopeRef(scope);
    const fingerprint = scopeFingerprint(scope);
    session.output.result({ scope, source, scope_ref: scopeRef, scope_fingerprint: fingerprint }, () =>
      details([
        ...Object.entries(scope).map(([key, value]) => [key, { text: value, style: 'bold' }] as const),
        ['source', source],
        ['scope ref', scopeRef],
        ['fingerprint', fingerprint],
      ]),
    );
    return 0;
  },
});

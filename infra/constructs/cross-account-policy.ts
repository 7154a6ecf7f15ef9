import { Token } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { ScopeBinding } from '../../shared/contracts/scope.ts';
import { SCOPES_PATH } from './api-stage.ts';

export interface CrossAccountPolicyProps {
  readonly bindings: readonly ScopeBinding[];
  /** Of the deployment; a token when the account is known at deployment only. */
  readonly account: string;
  readonly stage: string;
}

/**
 * The resource policy of the API: who of other accounts may call it at all. Their own account must allow them too.
 *
 * It says nothing about principals of the deployment's account. In one account a resource policy that allows is
 * enough by itself, so a statement for them would take the decision away from their identity policies.
 *
 * @returns undefined when no other account is bound: without a policy an API with IAM authorization is closed to
 * other accounts.
 */
export function crossAccountPolicy(props: CrossAccountPolicyProps): iam.PolicyDocument | undefined {
  const { bindings, account, stage } = props;
  const accounts = [...new Set(bindings.map((binding) => binding.account_id))].filter((id) => id !== account);
  if (accounts.length === 0) return undefined;
  return new iam.PolicyDocument({
    statements: accounts.toSorted().map((id) => {
      const ids = bindings.filter((binding) => binding.account_id === id).map((binding) => binding.role_id);
      return new iam.PolicyStatement({
        sid: `Account${id}`,
        principals: [new iam.AccountPrincipal(id)],
        actions: ['execute-api:Invoke'],
        resources: [`execute-api:/${stage}/*${SCOPES_PATH}`],
        conditions: {
          StringLike: { 'aws:userid': [...new Set(ids)].toSorted().map(userIdOf) },
          // Which account is the own one is known at deployment only: there the statement must match nobody.
          ...(Token.isUnresolved(account) ? { StringNotEquals: { 'aws:PrincipalAccount': account } } : {}),
        },
      });
    }),
  });
}

/** A role appears with the name of its session, which its holder chooses; a user is its unique id alone. */
const userIdOf = (uniqueId: string): string => (uniqueId.startsWith('AROA') ? `${uniqueId}:*` : uniqueId);

import { Token } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import { InvalidSettings } from '../../../shared/contracts/given-settings.ts';
import type { ScopeBinding } from '../../../shared/contracts/scope.ts';
import { SCOPES_PATH } from './api-stage.ts';

export interface CrossAccountPolicyProps {
  readonly bindings: readonly ScopeBinding[];
  /** Of the deployment; a token when the account is known at deployment only. */
  readonly account: string;
  readonly stage: string;
}

/** What API Gateway takes. */
const MAX_BYTES = 8_192;

/**
 * The resource policy of the API: who of other accounts may call it at all. Their own account must allow them too.
 *
 * It says nothing about principals of the deployment's account. In one account a resource policy that allows is
 * enough by itself, so a statement for them would take the decision away from their identity policies.
 *
 * @returns undefined when no other account is bound: without a policy an API with IAM authorization is closed to
 * other accounts.
 * @throws InvalidSettings when there are more principals than a resource policy holds.
 */
export function crossAccountPolicy(props: CrossAccountPolicyProps): iam.PolicyDocument | undefined {
  const { bindings, account, stage } = props;
  const accounts = [...new Set(bindings.map((binding) => binding.account_id))].filter((id) => id !== account);
  if (accounts.length === 0) return undefined;
  const admitted = accounts.toSorted().map((id): Admitted => {
    const ids = bindings.filter((binding) => binding.account_id === id).map((binding) => binding.role_id);
    return { account: id, users: [...new Set(ids)].toSorted().map(userIdOf) };
  });
  refuseTooMany(admitted);
  return new iam.PolicyDocument({
    statements: admitted.map(
      ({ account: id, users }) =>
        new iam.PolicyStatement({
          sid: `Account${id}`,
          principals: [new iam.AccountPrincipal(id)],
          actions: ['execute-api:Invoke'],
          resources: [`execute-api:/${stage}/*${SCOPES_PATH}`],
          conditions: {
            StringLike: { 'aws:userid': users },
            // Which account is the own one is known at deployment only: there the statement must match nobody.
            ...(Token.isUnresolved(account) ? { StringNotEquals: { 'aws:PrincipalAccount': account } } : {}),
          },
        }),
    ),
  });
}

interface Admitted {
  readonly account: string;
  /** As `aws:userid` has them. */
  readonly users: readonly string[];
}

/** A role appears with the name of its session, which its holder chooses; a user is its unique id alone. */
const userIdOf = (uniqueId: string): string => (uniqueId.startsWith('AROA') ? `${uniqueId}:*` : uniqueId);

/** A statement as it becomes, with the ARN of an API in place of the short form, and without the users. */
const STATEMENT_BYTES = 400;

function refuseTooMany(admitted: readonly Admitted[]): void {
  const bytes = admitted.reduce((sum, { users }) => sum + STATEMENT_BYTES + JSON.stringify(users).length, 0);
  if (bytes <= MAX_BYTES) return;
  const users = admitted.flatMap((one) => one.users);
  throw new InvalidSettings([
    `COGNITION_SCOPE_BINDINGS has ${users.length} principals of ${admitted.length} other accounts, more than a resource ` +
      'policy of API Gateway holds: let them assume a role of this account, and bind that',
  ]);
}

/** Where the emulator's API Gateway knows who calls: a role's session asserts what the role is bound to, and no more. */
import { describe, expect, inject, it } from 'vitest';
import { Api } from '../../support/api.ts';
import { expectProblem } from '../../support/expect-problem.ts';
import { freshScope } from '../../support/fresh-scope.ts';
import { assumeTestRole, ROLE_SCOPE } from '../support/capabilities.ts';
import { deployed } from '../support/deployed.ts';

const cognition = deployed();
const { role, api: endpoint, emulator } = inject('deployment');

describe.skipIf(!inject('deployment').capabilities.caller_identity)('a session of a bound role', () => {
  const session = async (name: string) => {
    if (role === undefined) throw new Error('there is no role');
    return { endpoint, region: emulator.region, ...(await assumeTestRole(cognition.aws, role, name)) };
  };

  it.each(['builder', 'AROAEMULATORBUILDER'])('called %s asserts the scope of its role', async (name) => {
    const answer = await new Api(await session(name), ROLE_SCOPE).get('/skills');

    expect(answer.status).toBe(200);
  });

  it('asserts no other scope, although the unsafe caller might', async () => {
    const answer = await new Api(await session('AROAEMULATORBUILDER'), freshScope()).get('/skills');

    expectProblem(answer, 403, 'scope_not_allowed');
  });
});

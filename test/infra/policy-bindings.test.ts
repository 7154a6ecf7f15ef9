/** The second lock: whatever a policy and a gateway let through, the handler asks the binding table about the path's scope. */
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../shared/contracts/routes.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import { fakeServices, SCOPE } from '../support/api-fakes.ts';
import { call } from '../support/api-requests.ts';

const UNBOUND = encodeScopeRef({ ...SCOPE, project: 'of-another-tenant' });
const PARAMS = { name: 'x', runId: 'x', artifactId: 'x', revision: 'x' };

describe('a request that got past every policy into another scope', () => {
  it.each(ROUTES.map(({ operation }) => operation))(
    '%s is refused before anything is read',
    async (operation) => {
      // Every service and the table fail the test when they are touched.
      const { logger } = fakeServices();

      const answer = await call(operation, { ref: UNBOUND, params: PARAMS, body: '{' });

      expect(answer.json).toMatchObject({ status: 403, code: 'scope_not_allowed' });
      expect(logger.lines.map(({ level }) => level)).toEqual(['info']);
    },
  );

  it.each(ROUTES.map(({ operation }) => operation))(
    '%s takes a path parameter that holds slashes or dots for no scope',
    async (operation) => {
      const own = encodeScopeRef(SCOPE);
      for (const ref of [
        `${own}/skills/x`,
        `../${own}`,
        `${own}/../${UNBOUND}`,
        `${own}%2F`,
        `${own} `,
        '..',
      ]) {
        fakeServices();

        const answer = await call(operation, { ref, params: PARAMS });

        expect(answer.json).toMatchObject({ status: 403, code: 'scope_not_allowed' });
      }
    },
  );
});

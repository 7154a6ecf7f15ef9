import { describe, expect, it } from 'vitest';
import { apiHandler } from '../../functions/runtime/api-handler.ts';
import { ROUTES } from '../../shared/contracts/routes.ts';
import { fakeServices } from '../support/api-fakes.ts';
import { apiEvent, call, HANDLERS } from '../support/api-requests.ts';

describe('routes and operations', () => {
  it.each(ROUTES.map((route) => [route.operation, `${route.method} ${route.resource}`]))(
    '%s answers %s',
    async (operation) => {
      fakeServices();

      const answer = await call(operation, { query: { nonsense: '1' } });

      expect(answer.status).toBe(400);
      expect(answer.json.errors).toContainEqual({
        pointer: '/nonsense',
        message: 'unknown field; remove it',
      });
    },
  );

  it('a function that lacks an operation of the route table does not start', () => {
    expect(() => apiHandler('skill-validations', {})).toThrow('lacks operations [validateSkill]');
  });

  it('a function with an operation that no route names does not start', () => {
    const operations = {
      validateSkill: async () => ({ statusCode: 200, body: '' }),
      more: async () => ({ statusCode: 200, body: '' }),
    };

    expect(() => apiHandler('skill-validations', operations)).toThrow('no routes [more]');
  });

  it('an event of a resource that is no route is not found', async () => {
    fakeServices();
    const event = { ...apiEvent('getSkill'), resource: '/v1/scopes/{scopeRef}/secrets' };

    const answer = await HANDLERS.skills(event, { awsRequestId: 'x' } as never);

    expect(answer.statusCode).toBe(404);
  });

  it('an event of a route of another function is a fault of the deployment', async () => {
    fakeServices();

    const answer = await HANDLERS.agents(apiEvent('getSkill'), { awsRequestId: 'x' } as never);

    expect(answer.statusCode).toBe(500);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CognitionError } from '../../shared/domain/cognition-error.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { ConditionFailed, fakeServices, SCOPE } from '../support/api-fakes.ts';
import { call, type RequestParts } from '../support/api-requests.ts';

const ref = encodeScopeRef(SCOPE);
const secrets = [ref, SCOPE.tenant, SCOPE.project];

/** What a store or library might say when it fails in the middle of a request. */
const hostileErrors = (text: string): unknown[] => [
  new Error(`cannot open /data/${SCOPE.tenant}/${text}`, { cause: new Error(`scope ${ref}`) }),
  new TypeError(JSON.stringify(SCOPE)),
  new TransientError(`${SCOPE.project} is busy`, new Error(ref)),
  new ConditionFailed([0], { cause: new Error(SCOPE.tenant) }),
  new CognitionError('internal_error', `row of ${SCOPE.tenant}`),
  Object.assign(new Error(`${ref}${text}`), { code: 'EIO' }),
  `${SCOPE.tenant} ${text}`,
];

const requests = fc.record({
  operation: fc.constantFrom(
    'getSkill',
    'listSkills',
    'createSkill',
    'createAgent',
    'createRun',
    'createArtifact',
  ),
  body: fc.oneof(fc.json(), fc.string(), fc.constant(''), fc.constant('{"name":"a","content":"x"}')),
  query: fc.dictionary(fc.constantFrom('limit', 'cursor', 'scope', 'x'), fc.string()),
  headers: fc.dictionary(
    fc.constantFrom('If-Match', 'Idempotency-Key', 'Content-Encoding', 'x-scope'),
    fc.string(),
  ),
  bound: fc.boolean(),
  error: fc.tuple(fc.nat(6), fc.string()).map(([index, text]) => hostileErrors(text)[index]),
});

describe('raw scope values', () => {
  it('are in no log line and in no answer, whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async ({ operation, body, query, headers, bound, error }) => {
        const fail = async (): Promise<never> => {
          throw error;
        };
        const { logger } = fakeServices({
          skills: { get: fail, list: fail, create: fail },
          agents: { create: fail },
          runs: { create: fail },
          inputs: { create: fail },
        });
        const parts: RequestParts = { body, query, headers, params: { name: 'ticket-analysis' } };
        const identity = { accountId: '999999999999', caller: 'AROAOTHERROLEID00001:x' };

        const answer = await call(operation, bound ? parts : { ...parts, identity });

        const written = JSON.stringify([logger.lines, answer.headers, answer.text]);
        for (const secret of secrets) expect(written).not.toContain(secret);
        expect(answer.status).toBeGreaterThanOrEqual(400);
      }),
      { numRuns: 400 },
    );
  });

  it('keep enough of an unknown error to find it: name, code, message and frames', async () => {
    const { logger } = fakeServices({
      skills: {
        get: async () => {
          throw Object.assign(new Error(`disk of ${SCOPE.tenant} is gone`), { code: 'EIO' });
        },
      },
    });

    await call('getSkill', { params: { name: 'ticket-analysis' } });

    expect(logger.lines[0]?.fields.errors).toEqual([
      {
        name: 'Error',
        code: 'EIO',
        message: 'disk of [scope] is gone',
        frames: expect.arrayContaining([expect.stringContaining('api-leaks.test.ts')]),
      },
    ]);
  });
});

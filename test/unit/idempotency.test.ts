import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { idempotencyRowSchema } from '../../shared/contracts/rows.ts';
import { CognitionError } from '../../shared/domain/cognition-error.ts';
import { encodeScopeRef, scopeFingerprint } from '../../shared/domain/scope.ts';
import { ACCOUNT, type FakeServices, fakeServices, ROLE, SCOPE, SECOND_ROLE } from '../support/api-fakes.ts';
import { call, type RequestParts } from '../support/api-requests.ts';
import { ID, sampleRun, sampleSkill } from '../support/api-samples.ts';

const json = { agent: 'triage', command: { argv: ['true'] } };
const headers = { 'Idempotency-Key': 'key-1' };

/** Runs that are written in the same transaction as the record, as the real service does it. */
function world(): FakeServices & { started: string[]; hooks: { beforeCommit?: () => Promise<void> } } {
  const started: string[] = [];
  const hooks: { beforeCommit?: () => Promise<void> } = {};
  const fake = fakeServices({
    runs: {
      create: async (_fingerprint, _request, commitWith) => {
        const run = sampleRun(`${ID.slice(0, -1)}${started.length}`);
        await hooks.beforeCommit?.();
        const writes = commitWith?.(run) ?? [];
        if (writes.length > 0) await fake.table.transact(writes);
        started.push(run.run_id);
        return run;
      },
    },
  });
  return { ...fake, started, hooks };
}
const post = (parts: RequestParts = {}) => call('createRun', { json, headers, ...parts });

describe('Idempotency-Key', () => {
  it('a repeated request gets the first answer, and nothing is done again', async () => {
    const { started } = world();

    const first = await post();
    const second = await post();

    expect(second.status).toBe(202);
    expect(second.text).toBe(first.text);
    expect(second.headers).toEqual({ ...first.headers, 'idempotent-replayed': 'true' });
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    expect(started).toHaveLength(1);
  });

  it('without a key each request is its own', async () => {
    const { started, table } = world();

    await post({ headers: {} });
    await post({ headers: {} });

    expect(started).toHaveLength(2);
    expect(table.rows.size).toBe(0);
  });

  it('the same key with another body is 409, and nothing is done', async () => {
    const { started } = world();
    await post();

    const other = await post({ json: { ...json, agent: 'other' } });
    const otherType = await post({ headers: { ...headers, 'Content-Type': 'text/plain' } });

    expect(other.status).toBe(409);
    expect(other.json.code).toBe('idempotency_mismatch');
    expect(otherType.json.code).toBe('idempotency_mismatch');
    expect(started).toHaveLength(1);
  });

  it('the same body gzipped is the same body', async () => {
    const { started } = world();
    const body = JSON.stringify(json);

    await call('createRun', { body, headers });
    const again = await call('createRun', {
      body: gzipSync(body),
      headers: { ...headers, 'Content-Encoding': 'gzip' },
    });

    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(started).toHaveLength(1);
  });

  it('two requests at once do the work once, and both get its answer', async () => {
    const { started, hooks } = world();
    let waiting = 0;
    let release = (): void => undefined;
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    hooks.beforeCommit = async () => {
      waiting += 1;
      if (waiting === 2) release();
      await both;
    };

    const answers = await Promise.all([post(), post()]);

    expect(answers.map((answer) => answer.status)).toEqual([202, 202]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect(started).toHaveLength(1);
  });

  it('a loser of the race that has another body is told so', async () => {
    const { hooks } = world();
    hooks.beforeCommit = async () => {
      delete hooks.beforeCommit;
      await post({ json: { ...json, agent: 'other' } });
    };

    expect((await post()).json.code).toBe('idempotency_mismatch');
  });

  it('a create that finds its own result gets that result and not "exists"', async () => {
    const state = { created: false };
    const fake = fakeServices({
      skills: {
        create: async (_fingerprint, _request, commitWith) => {
          if (state.created) throw new CognitionError('skill_exists', 'exists');
          await fake.table.transact(commitWith?.(sampleSkill()) ?? []);
          state.created = true;
          throw new Error('the connection was lost after the commit');
        },
      },
    });
    const parts = { json: { name: 'ticket-analysis', content: 'x' }, headers };

    const answer = await call('createSkill', parts);

    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({ etag: '"e1"', 'idempotent-replayed': 'true' });
    expect((await call('createSkill', parts)).status).toBe(201);
  });

  it('a refused request is not remembered', async () => {
    let refuse = true;
    const fake = fakeServices({
      runs: {
        create: async (_fingerprint, _request, commitWith) => {
          if (refuse) throw new CognitionError('agent_not_found', 'no such agent');
          await fake.table.transact(commitWith?.(sampleRun()) ?? []);
          return sampleRun();
        },
      },
    });

    const first = await post();
    refuse = false;
    const second = await post();

    expect([first.status, second.status]).toEqual([404, 202]);
  });

  it.each([
    ['scope', { ref: encodeScopeRef({ tenant: 'anything' }) }],
    ['principal', { identity: { accountId: ACCOUNT, caller: `${SECOND_ROLE}:s` } }],
  ])('the same key of another %s is another key', async (_what, parts) => {
    const { started, table } = world();
    await post();

    const other = await post(parts);

    expect(other.status).toBe(202);
    expect(other.headers).not.toHaveProperty('idempotent-replayed');
    expect(started).toHaveLength(2);
    expect(table.rows.size).toBe(2);
  });

  it('the same key on another route is another key', async () => {
    const fake = fakeServices({
      runs: {
        create: async (_fingerprint, _request, commitWith) => {
          await fake.table.transact(commitWith?.(sampleRun()) ?? []);
          return sampleRun();
        },
      },
      skills: { create: async () => sampleSkill() },
    });
    await post();

    const other = await call('createSkill', { headers, json: { name: 'ticket-analysis', content: 'x' } });

    expect(other.status).toBe(201);
    expect([...fake.table.rows.values()].map((row) => row.pk)).toEqual([
      `${scopeFingerprint(SCOPE)}#idempotency`,
    ]);
  });

  it('after 24 hours the key is free again, though the row may still be there', async () => {
    const { started, clock, table } = world();
    await post();
    clock.at += 24 * 3_600_000 + 1_000;

    const later = await post({ json: { ...json, agent: 'other' } });
    const again = await post({ json: { ...json, agent: 'other' } });

    expect(later.status).toBe(202);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(started).toHaveLength(2);
    expect(table.rows.size).toBe(1);
  });

  it('the record has neither key nor scope nor body of the request in it', async () => {
    const { table, clock } = world();

    await post({ headers: { 'Idempotency-Key': 'very-secret-key' } });

    const [row] = table.rows.values();
    const stored = JSON.stringify(row);
    expect(idempotencyRowSchema.parse(row?.data).status).toBe(202);
    expect(row?.expires_at).toBe(clock.at / 1000 + 86_400);
    for (const raw of ['very-secret-key', SCOPE.tenant, encodeScopeRef(SCOPE), ROLE, ACCOUNT]) {
      expect(stored).not.toContain(raw);
    }
  });

  it.each(['', 'x'.repeat(256), 'a\tb', 'ü', ['a', 'b']])('the key %j is refused', async (key) => {
    const { started } = world();

    const answer = await post({ headers: { 'Idempotency-Key': key } });

    expect(answer.status).toBe(400);
    expect(started).toHaveLength(0);
  });
});

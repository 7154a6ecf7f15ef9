import { beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { createRunSchema } from '../../shared/contracts/run.ts';
import {
  type Backstage,
  createBackstage,
  FINGERPRINT,
  OTHER_FINGERPRINT,
  publishSkill,
  putAgent,
  SCRIPT_RUN,
  startProcess,
  type TestProcess,
} from '../support/run-world.ts';

const REQUEST = createRunSchema.parse(SCRIPT_RUN);

let backstage: Backstage;
let process: TestProcess;
beforeEach(async () => {
  backstage = createBackstage();
  await publishSkill(backstage);
  await putAgent(backstage);
  process = startProcess(backstage, { orchestrator: 'none' });
});

describe('events of a run', () => {
  it('come after a sequence, a page at a time, until the run has ended', async () => {
    const { run_id } = await process.run(SCRIPT_RUN).then(async (run) => {
      await process.resume();
      return run;
    });
    const read = (after: number, limit: number) =>
      process.runs.events(FINGERPRINT, run_id, { after, limit, wait_seconds: 0 });

    const first = await read(0, 3);
    const rest = await read(3, 200);
    const none = await read(rest.items.at(-1)?.sequence ?? 0, 200);

    expect(first).toMatchObject({
      items: [{ sequence: 1 }, { sequence: 2 }, { sequence: 3 }],
      run_ended: false,
    });
    expect(rest.run_ended).toBe(true);
    expect(none).toEqual({ items: [], run_ended: true });
  });

  it('are waited for up to the time asked for', async () => {
    const { run_id } = await process.runs.create(FINGERPRINT, REQUEST);
    const began = backstage.clock.now();

    const answer = await process.runs.events(FINGERPRINT, run_id, { after: 1, limit: 10, wait_seconds: 20 });

    expect(answer).toEqual({ items: [], run_ended: false });
    expect(backstage.clock.now() - began).toBe(20_000);
  });

  it('end the wait as soon as there is one', async () => {
    const { run_id } = await process.runs.create(FINGERPRINT, REQUEST);
    const sleep = backstage.clock.sleep.bind(backstage.clock);
    let sleeps = 0;
    backstage.clock.sleep = async (ms, signal) => {
      sleeps += 1;
      if (sleeps === 5) await process.runs.cancel(FINGERPRINT, run_id);
      await sleep(ms, signal);
    };

    const answer = await process.runs.events(FINGERPRINT, run_id, { after: 1, limit: 10, wait_seconds: 20 });

    expect(answer.items.map(({ type }) => type)).toEqual(['run.cancel_requested']);
    expect(sleeps).toBe(5);
  });

  it('are not waited for when the caller has gone', async () => {
    const { run_id } = await process.runs.create(FINGERPRINT, REQUEST);
    const gone = new AbortController();
    backstage.clock.sleep = async (_ms, signal) => {
      gone.abort();
      signal?.throwIfAborted();
    };

    const query = { after: 1, limit: 10, wait_seconds: 20, signal: gone.signal };
    const answer = await process.runs.events(FINGERPRINT, run_id, query);

    expect(answer.items).toEqual([]);
  });
});

describe('a run that is not there', () => {
  it('is the same not-found for a wrong scope, an unknown id and one past its retention, in every call', async () => {
    const { run_id } = await process.runs.create(FINGERPRINT, REQUEST);
    const unknown = '0'.repeat(26);
    const calls = (fingerprint: string, id: string) => [
      process.runs.get(fingerprint, id),
      process.runs.getManifest(fingerprint, id),
      process.runs.events(fingerprint, id, { after: 0, limit: 1, wait_seconds: 20 }),
      process.runs.listArtifacts(fingerprint, id),
      process.runs.getArtifact(fingerprint, id, 'a'),
      process.runs.cancel(fingerprint, id),
    ];
    const codes = async (asked: Promise<unknown>[]) =>
      (await Promise.allSettled(asked)).map((result) =>
        result.status === 'rejected'
          ? [result.reason.code, result.reason.message.replace(/[0-9A-Z]{26}/, 'ID')]
          : 'found',
      );

    const foreign = await codes(calls(OTHER_FINGERPRINT, run_id));
    const missing = await codes(calls(FINGERPRINT, unknown));
    backstage.clock.advance((LIMITS.runRetentionSeconds + 1) * 1_000);
    const expired = await codes(calls(FINGERPRINT, run_id));

    expect(new Set(foreign.map(String))).toEqual(new Set(['not_found,there is no run ID in this scope']));
    expect(missing).toEqual(foreign);
    expect(expired).toEqual(foreign);
  });
});

describe('the list of runs', () => {
  it('is newest first, by pages, without streams, and of one scope', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      made.push((await process.runs.create(FINGERPRINT, REQUEST)).run_id);
    }

    const first = await process.runs.list(FINGERPRINT, { limit: 3 });
    const second = await process.runs.list(FINGERPRINT, {
      limit: 3,
      ...(first.next_cursor === undefined ? {} : { cursor: first.next_cursor }),
    });

    expect([...first.items, ...second.items].map(({ run_id }) => run_id)).toEqual(made.toReversed());
    expect(Object.keys(first.items[0] ?? {})).not.toContain('stdout');
    expect((await process.runs.list(OTHER_FINGERPRINT, { limit: 3 })).items).toEqual([]);
    await expect(process.runs.list(FINGERPRINT, { limit: 3, cursor: 'x' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});

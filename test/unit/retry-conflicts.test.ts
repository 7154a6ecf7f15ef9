import { beforeEach, describe, expect, it } from 'vitest';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { ConditionFailed } from '../../shared/ports/table-store.ts';
import { LostRace, retryConflicts } from '../../shared/services/retry-conflicts.ts';
import { createTestClock, type TestClock } from '../support/local-stores.ts';

let clock: TestClock;
let attempts: number;
beforeEach(() => {
  clock = createTestClock();
  attempts = 0;
});

/** @param took milliseconds an attempt. */
const retrying = (failures: (attempt: number) => Error | undefined, took = 0): Promise<string> =>
  retryConflicts({ clock, random: () => 0.5 }, 'the row', async () => {
    attempts += 1;
    clock.advance(took);
    const failure = failures(attempts);
    if (failure !== undefined) throw failure;
    return 'done';
  });

describe('an optimistic write', () => {
  it.each([new ConditionFailed([0]), new LostRace('seen'), new TransientError('busy')])(
    'is tried again after %s',
    async (failure) => {
      expect(await retrying((attempt) => (attempt < 5 ? failure : undefined))).toBe('done');
      expect(attempts).toBe(5);
    },
  );

  it('is not tried again after anything else', async () => {
    await expect(retrying(() => new Error('broken'))).rejects.toThrow('broken');
    expect(attempts).toBe(1);
  });

  it('ends in a conflict, and soon, when others are faster every time', async () => {
    const began = clock.now();
    await expect(retrying(() => new ConditionFailed([0]))).rejects.toMatchObject({ code: 'conflict' });
    expect(attempts).toBe(60);
    expect(clock.now() - began).toBeLessThan(15_000);
  });

  it('gives up after ten tries of a store that is busy', async () => {
    await expect(retrying(() => new TransientError('busy'))).rejects.toThrow(TransientError);
    expect(attempts).toBe(10);
  });

  it('gives up before its caller does when a busy store takes seconds to say so', async () => {
    await expect(retrying(() => new TransientError('busy'), 3_000)).rejects.toThrow(TransientError);
    expect(attempts).toBe(3);
  });
});

/** The whole deployment after all that the suite has done to it, whoever did it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { KEYS, OBJECT_KEYS } from '../../../shared/domain/row-keys.ts';
import { deployed, type StoredRow } from '../support/deployed.ts';

const cognition = deployed();
const CLOSING_MS = 60_000;

async function empty(list: () => Promise<readonly unknown[]>): Promise<readonly unknown[]> {
  for (const deadline = Date.now() + CLOSING_MS; ; await sleep(500)) {
    const found = await list();
    if (found.length === 0 || Date.now() > deadline) return found;
  }
}

/** What the rows of artifacts, inputs and packages say is stored. */
function objectsOf(rows: readonly StoredRow[]): Set<string> {
  const keys = new Set<string>();
  for (const { pk, sk, data } of rows) {
    const [fingerprint = '', kind, id = ''] = pk.split('#');
    if (kind === 'run' && sk.startsWith(KEYS.ARTIFACT_PREFIX) && data.artifact_id !== null) {
      keys.add(OBJECT_KEYS.runArtifact(fingerprint, id, data.artifact_id));
    }
    if (kind === 'input') keys.add(OBJECT_KEYS.input(fingerprint, sk));
    if (kind === 'object' && sk === 'state') keys.add(OBJECT_KEYS.package(fingerprint, id));
  }
  return keys;
}

describe('when all is done', () => {
  it('no sandbox is left', async () => {
    expect(await empty(() => cognition.liveTasks())).toEqual([]);
  });

  it('no run is left that has not ended, and no key of a sandbox', async () => {
    const open = async (): Promise<string[]> =>
      (await cognition.rows())
        .filter(({ pk }) => KEYS.activeRuns().includes(pk) || pk.startsWith('sandbox-key#'))
        .map(({ pk, sk }) => `${pk} ${sk}`);

    expect(await empty(open)).toEqual([]);
  });

  // Of two uploads of an input with the same Idempotency-Key one loses, and the bucket's rule for inputs takes its bytes.
  it('no object is left that no row knows, but for inputs', async () => {
    const known = objectsOf(await cognition.rows());
    const { artifacts_bucket, packages_bucket } = cognition.facts;
    const buckets = [artifacts_bucket, packages_bucket].filter((name) => name !== undefined);

    const stored = (await Promise.all(buckets.map((name) => cognition.objects(name)))).flat();

    expect(stored.length).toBeGreaterThan(0);
    const lost = stored.filter((key) => !known.has(key));
    expect(lost.filter((key) => !key.startsWith('inputs/'))).toEqual([]);
    expect(lost.length).toBeLessThan(5);
  });
});

/** Fills the disk with rows, then sees what still works. */
import { createSqliteTableStore } from '../../../shared/adapters/local/sqlite-table-store.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { createUlidIds } from '../../../shared/adapters/ulid-ids.ts';
import { isCognitionError } from '../../../shared/domain/cognition-error.ts';

const [folder = ''] = process.argv.slice(2);
const table = createSqliteTableStore({
  path: `${folder}/t.sqlite`,
  clock: systemClock,
  ids: createUlidIds(),
});
let acknowledged = 0;
let refusal: unknown;
while (refusal === undefined && acknowledged < 10_000) {
  const write = {
    kind: 'put',
    key: { pk: 'p', sk: String(acknowledged).padStart(5, '0') },
    data: {},
    bytes: new Uint8Array(50_000).fill(7),
  } as const;
  try {
    await table.transact([write]);
    acknowledged += 1;
  } catch (error) {
    refusal = error;
  }
}
const readable = (await table.query('p', { limit: 1_000 })).rows.filter(({ bytes }) =>
  bytes?.every((b) => b === 7),
);
process.stdout.write(
  JSON.stringify({
    refused: isCognitionError(refusal, 'storage_full'),
    acknowledged,
    readable: readable.length,
  }),
);

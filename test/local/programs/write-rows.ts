/** Commits pairs of rows for ever and says which are acknowledged; `hold` only opens the file. */
import { createSqliteTableStore } from '../../../shared/adapters/local/sqlite-table-store.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { createUlidIds } from '../../../shared/adapters/ulid-ids.ts';

const [path = '', mode] = process.argv.slice(2);
const table = createSqliteTableStore({ path, clock: systemClock, ids: createUlidIds() });
process.stdout.write('open\n');
setInterval(() => undefined, 1_000);

const write = async (writer: number): Promise<void> => {
  for (let round = 0; ; round += 1) {
    const sk = `${writer}-${String(round).padStart(6, '0')}`;
    const data = 'x'.repeat(500);
    await table.transact([
      { kind: 'put', key: { pk: 'left', sk }, data },
      { kind: 'put', key: { pk: 'right', sk }, data },
    ]);
    process.stdout.write(`acknowledged ${sk}\n`);
  }
};
if (mode !== 'hold') await Promise.all([0, 1, 2, 3].map(write));

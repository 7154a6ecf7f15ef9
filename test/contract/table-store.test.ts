import { openLocalTable } from '../support/local-stores.ts';
import { MemoryTable } from '../support/memory-table.ts';
import { tableStoreContract } from './table-store.contract.ts';

tableStoreContract('SQLite', openLocalTable);
tableStoreContract('The table in memory', async () => ({
  table: new MemoryTable(),
  close: async () => undefined,
}));

import { openLocalTable } from '../support/local-stores.ts';
import { tableStoreContract } from './table-store.contract.ts';

tableStoreContract('SQLite', openLocalTable);

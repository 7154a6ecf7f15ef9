import { tableStoreContract } from '../../contract/table-store.contract.ts';
import { openEmulatorTable } from './emulator-stores.ts';

tableStoreContract('DynamoDB', openEmulatorTable);

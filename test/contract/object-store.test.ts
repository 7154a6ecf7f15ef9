import { openLocalObjects } from '../support/local-stores.ts';
import { objectStoreContract } from './object-store.contract.ts';

objectStoreContract('The folder', openLocalObjects);

import { createConfigRegistryPackageStore } from '../../../shared/adapters/config-registry/config-registry-package-store.ts';
import { createObjectPackageStore } from '../../../shared/adapters/object-package-store.ts';
import { skillPackageStoreContract } from '../../contract/skill-package-store.contract.ts';
import { damageBlob, damageObject } from '../../support/damaged-packages.ts';
import { openEmulatorObjects, openEmulatorTable } from './emulator-stores.ts';

skillPackageStoreContract('The s3 backend', async () => {
  const { objects, close } = await openEmulatorObjects({ prefix: 'skills/' });
  return {
    packages: createObjectPackageStore({ objects, backend: 's3' }),
    damage: damageObject(objects),
    close,
  };
});

skillPackageStoreContract('The config_registry backend on DynamoDB', async () => {
  const { table, close } = await openEmulatorTable();
  return { packages: createConfigRegistryPackageStore({ table }), damage: damageBlob(table), close };
});

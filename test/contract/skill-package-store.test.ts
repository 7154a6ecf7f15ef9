import { createConfigRegistryPackageStore } from '../../shared/adapters/config-registry/config-registry-package-store.ts';
import { createObjectPackageStore } from '../../shared/adapters/object-package-store.ts';
import { damageBlob, damageObject } from '../support/damaged-packages.ts';
import { openLocalObjects, openLocalTable } from '../support/local-stores.ts';
import { skillPackageStoreContract } from './skill-package-store.contract.ts';

skillPackageStoreContract('The filesystem backend', async () => {
  const { objects, close } = await openLocalObjects();
  return {
    packages: createObjectPackageStore({ objects, backend: 'filesystem' }),
    damage: damageObject(objects),
    close,
  };
});

skillPackageStoreContract('The config_registry backend', async () => {
  const { table, close } = await openLocalTable();
  return { packages: createConfigRegistryPackageStore({ table }), damage: damageBlob(table), close };
});

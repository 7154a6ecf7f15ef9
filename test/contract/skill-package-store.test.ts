import { createConfigRegistryPackageStore } from '../../shared/adapters/config-registry/config-registry-package-store.ts';
import { createObjectPackageStore } from '../../shared/adapters/object-package-store.ts';
import { OBJECT_KEYS } from '../../shared/domain/row-keys.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import { openLocalObjects, openLocalTable } from '../support/local-stores.ts';
import { skillPackageStoreContract } from './skill-package-store.contract.ts';

skillPackageStoreContract('The filesystem backend', async () => {
  const { objects, close } = await openLocalObjects();
  return {
    packages: createObjectPackageStore({ objects, backend: 'filesystem' }),
    damage: async (fingerprint, digest) => {
      const bytes = Buffer.from('damaged');
      await objects.replace({
        key: OBJECT_KEYS.package(fingerprint, digest),
        bytes,
        sha256: sha256Hex(bytes),
      });
    },
    close,
  };
});

skillPackageStoreContract('The config_registry backend', async () => {
  const { table, close } = await openLocalTable();
  return {
    packages: createConfigRegistryPackageStore({ table }),
    damage: async (fingerprint, digest) => {
      const { rows } = await table.query(`blob#package#${fingerprint}#${digest}`);
      const row = rows.find(({ bytes }) => bytes !== undefined);
      if (row?.bytes === undefined) throw new Error('nothing to damage');
      const bytes = Buffer.from(row.bytes).fill('!', 0, 9);
      await table.transact([{ kind: 'put', key: { pk: row.pk, sk: row.sk }, data: row.data, bytes }]);
    },
    close,
  };
});

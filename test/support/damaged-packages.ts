/** Packages whose stored bytes were changed behind the store's back, as suites of package stores want them. */
import { OBJECT_KEYS } from '../../shared/domain/row-keys.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import type { TableStore } from '../../shared/ports/table-store.ts';

type Damage = (fingerprint: string, digest: string) => Promise<void>;

export const damageObject =
  (objects: ObjectStore): Damage =>
  async (fingerprint, digest) => {
    const bytes = Buffer.from('damaged');
    await objects.replace({
      key: OBJECT_KEYS.package(fingerprint, digest),
      bytes,
      sha256: sha256Hex(bytes),
    });
  };

export const damageBlob =
  (table: TableStore): Damage =>
  async (fingerprint, digest) => {
    const { rows } = await table.query(`blob#package#${fingerprint}#${digest}`);
    const row = rows.find(({ bytes }) => bytes !== undefined);
    if (row?.bytes === undefined) throw new Error('nothing to damage');
    const bytes = Buffer.from(row.bytes).fill('!', 0, 9);
    await table.transact([{ kind: 'put', key: { pk: row.pk, sk: row.sk }, data: row.data, bytes }]);
  };

import { type ObjectRow, objectRowSchema } from '../../contracts/rows.ts';
import { KEYS } from '../../domain/row-keys.ts';
import type { Condition, TableStore, Write } from '../../ports/table-store.ts';
import { rowData } from './row-data.ts';

export interface StoredObject {
  readonly row: ObjectRow;
  readonly version: string;
}

/** Rows of package objects: one a (fingerprint, digest), an entry in the collector's list, and references. */
export interface ObjectRecords {
  get(fingerprint: string, digest: string): Promise<StoredObject | undefined>;
  /**
   * A new row comes with its entry in the collector's list, so that a crash cannot leave an object nobody lists; the
   * entry goes together with the row.
   */
  write(fingerprint: string, row: ObjectRow, condition: Condition): readonly Write[];
  /** Proves in a transaction that the row is still as it was read. */
  check(fingerprint: string, digest: string, version: string): Write;
  referenceRevision(fingerprint: string, digest: string, skillId: string, revision: string): Write;
}

export function createObjectRecords(table: TableStore): ObjectRecords {
  return {
    async get(fingerprint, digest) {
      const row = await table.get(KEYS.object(fingerprint, digest));
      return row && { row: objectRowSchema.parse(row.data), version: row.version };
    },
    write: (fingerprint, row, condition) => [
      { kind: 'put', key: KEYS.object(fingerprint, row.digest), data: rowData(row), if: condition },
      ...('absent' in condition ? [indexEntry(fingerprint, row.digest)] : []),
    ],
    check: (fingerprint, digest, version) => ({
      kind: 'check',
      key: KEYS.object(fingerprint, digest),
      if: { version },
    }),
    referenceRevision: (fingerprint, digest, skillId, revision) => ({
      kind: 'put',
      key: KEYS.revisionReference(fingerprint, digest, skillId, revision),
      data: { skill_id: skillId, revision },
    }),
  };
}

const indexEntry = (fingerprint: string, digest: string): Write => ({
  kind: 'put',
  key: KEYS.objectIndexEntry(fingerprint, digest),
  data: { fingerprint, digest },
});

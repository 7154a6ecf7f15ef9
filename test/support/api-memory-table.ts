import { randomUUID } from 'node:crypto';
import {
  type Condition,
  ConditionFailed,
  type QueryResult,
  type Row,
  type RowKey,
  type TableStore,
  type Write,
} from '../../shared/ports/table-store.ts';

/** A TableStore in memory. */
export class MemoryTable implements TableStore {
  readonly rows = new Map<string, Row>();

  async get(key: RowKey): Promise<Row | undefined> {
    return this.rows.get(JSON.stringify([key.pk, key.sk]));
  }

  async query(): Promise<QueryResult> {
    throw new Error('not needed here');
  }

  async transact(writes: readonly Write[]): Promise<readonly (string | undefined)[]> {
    const failed = writes.flatMap((write, index) => (this.#holds(write.key, write.if) ? [] : [index]));
    if (failed.length > 0) throw new ConditionFailed(failed);
    return writes.map((write) => {
      if (write.kind !== 'put') return undefined;
      const version = randomUUID();
      const { kind: _kind, key, if: _if, ...rest } = write;
      this.rows.set(JSON.stringify([key.pk, key.sk]), { ...key, ...rest, version });
      return version;
    });
  }

  #holds(key: RowKey, condition: Condition | undefined): boolean {
    const row = this.rows.get(JSON.stringify([key.pk, key.sk]));
    if (condition === undefined) return true;
    if ('absent' in condition) return row === undefined;
    if ('present' in condition) return row !== undefined;
    return row?.version === condition.version;
  }
}

import { checkWrites, isStorableKey } from '../../shared/adapters/checked-writes.ts';
import {
  type Condition,
  ConditionFailed,
  type QueryOptions,
  type QueryResult,
  type Row,
  type RowKey,
  type TableStore,
  type Write,
} from '../../shared/ports/table-store.ts';

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** A TableStore in memory that keeps the whole contract, for tests that need thousands of fresh ones. */
export class MemoryTable implements TableStore {
  readonly #partitions = new Map<string, Map<string, Row>>();
  #versions = 0;

  async get({ pk, sk }: RowKey): Promise<Row | undefined> {
    return isStorableKey({ pk, sk }) ? this.#partitions.get(pk)?.get(sk) : undefined;
  }

  async query(pk: string, options: QueryOptions = {}): Promise<QueryResult> {
    const { prefix = '', after, limit = 100, descending = false } = options;
    if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) throw new RangeError(`not a limit: ${limit}`);
    const direction = descending ? -1 : 1;
    const rows = [...(this.#partitions.get(pk)?.values() ?? [])]
      .filter(({ sk }) => sk.startsWith(prefix))
      .filter(({ sk }) => after === undefined || byBytes(sk, after) * direction > 0)
      .sort((a, b) => byBytes(a.sk, b.sk) * direction)
      .slice(0, limit);
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return last === undefined ? { rows } : { rows, next: last.sk };
  }

  async transact(writes: readonly Write[]): Promise<readonly (string | undefined)[]> {
    const checked = checkWrites(writes);
    const failed = writes.flatMap((write, index) => (this.#holds(write.key, write.if) ? [] : [index]));
    if (failed.length > 0) throw new ConditionFailed(failed);
    return checked.map(({ write, json }) => this.#apply(write, json));
  }

  #apply(write: Write, json: string): string | undefined {
    const { pk, sk } = write.key;
    const partition = this.#partitions.get(pk) ?? new Map<string, Row>();
    this.#partitions.set(pk, partition);
    if (write.kind === 'delete') partition.delete(sk);
    if (write.kind !== 'put') return undefined;
    this.#versions += 1;
    const version = `v${this.#versions}`;
    const { bytes, expires_at } = write;
    partition.set(sk, {
      pk,
      sk,
      version,
      data: JSON.parse(json),
      ...(bytes !== undefined && { bytes: Uint8Array.from(bytes) }),
      ...(expires_at !== undefined && { expires_at }),
    });
    return version;
  }

  #holds({ pk, sk }: RowKey, condition: Condition | undefined): boolean {
    if (condition === undefined) return true;
    const row = this.#partitions.get(pk)?.get(sk);
    if ('absent' in condition) return row === undefined;
    if ('present' in condition) return row !== undefined;
    return row?.version === condition.version;
  }
}

/** Counts what is asked of table, objects and ECS, in DynamoDB's own units, by the section of work that is under way. */
import { addCalls, type Calls, NO_CALLS } from '../../infra/price/calls.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import type { SandboxProvisioner } from '../../shared/ports/sandbox-provisioner.ts';
import type { Row, TableStore, Write } from '../../shared/ports/table-store.ts';

const KB = 1_024;
/** `pk`, `sk`, `v` and `d`, and a version, which is a ULID. */
const OVERHEAD_BYTES = 2 + 2 + 1 + 1 + 26;
const TTL_BYTES = 3 + 7;

type Sized = Pick<Row, 'data'> & { readonly bytes?: Uint8Array; readonly expires_at?: number };

/** As DynamoDB counts it: names and values of all attributes, see adapters/aws/dynamodb-item. */
function itemBytes(key: { pk: string; sk: string }, { data, bytes, expires_at }: Sized): number {
  return (
    OVERHEAD_BYTES +
    Buffer.byteLength(key.pk) +
    Buffer.byteLength(key.sk) +
    Buffer.byteLength(JSON.stringify(data)) +
    (bytes === undefined ? 0 : 1 + bytes.byteLength) +
    (expires_at === undefined ? 0 : TTL_BYTES)
  );
}

const WRITE_ACTIONS = {
  put: 'dynamodb:PutItem',
  delete: 'dynamodb:DeleteItem',
  check: 'dynamodb:ConditionCheckItem',
} as const;

const units = (bytes: number, unit: number): number => Math.max(1, Math.ceil(bytes / unit));

export class CallMeter {
  readonly sections = new Map<string, Calls>();
  /** How often each was begun. */
  readonly begun = new Map<string, number>();
  /** What each asked for, as IAM sees it: action, and partition of the table or key of an object. */
  readonly touched = new Map<string, Set<string>>();
  #section = 'before';

  begin(section: string): void {
    this.#section = section;
    this.begun.set(section, (this.begun.get(section) ?? 0) + 1);
    this.#add({});
  }

  #add(calls: Partial<Calls>): void {
    const before = this.sections.get(this.#section) ?? NO_CALLS;
    this.sections.set(this.#section, addCalls(before, { ...NO_CALLS, ...calls }));
  }

  #touch(action: string, what: string): void {
    const before = this.touched.get(this.#section) ?? new Set();
    this.touched.set(this.#section, before.add(`${action} ${what}`));
  }

  table(inner: TableStore): TableStore {
    const sizeOf = async (key: { pk: string; sk: string }): Promise<number> => {
      const row = await inner.get(key);
      return row === undefined ? 0 : itemBytes(key, row);
    };
    /** The larger one of the row before and after is paid for. */
    const writeUnits = async (write: Write): Promise<number> => {
      const after = write.kind === 'put' ? itemBytes(write.key, write) : 0;
      return units(Math.max(after, await sizeOf(write.key)), KB);
    };
    return {
      get: async (key) => {
        this.#touch('dynamodb:GetItem', key.pk);
        this.#add({ table_reads: 1, read_units: units(await sizeOf(key), 4 * KB) });
        return inner.get(key);
      },
      query: async (pk, options) => {
        this.#touch('dynamodb:Query', pk);
        const result = await inner.query(pk, options);
        const bytes = result.rows.reduce((sum, row) => sum + itemBytes(row, row), 0);
        this.#add({ table_reads: 1, read_units: units(bytes, 4 * KB) });
        return result;
      },
      transact: async (writes) => {
        for (const { kind, key } of writes) this.#touch(WRITE_ACTIONS[kind], key.pk);
        const sizes = await Promise.all(writes.map(writeUnits));
        const total = sizes.reduce((sum, size) => sum + size, 0);
        this.#add(costOf(writes, total));
        return inner.transact(writes);
      },
    };
  }

  objects(inner: ObjectStore): ObjectStore {
    const put = <T>(key: string, work: Promise<T>): Promise<T> => {
      this.#touch('s3:PutObject', key);
      this.#add({ object_puts: 1 });
      return work;
    };
    const get = <T>(key: string, work: Promise<T>): Promise<T> => {
      this.#touch('s3:GetObject', key);
      this.#add({ object_gets: 1 });
      return work;
    };
    return {
      put: (object) => put(object.key, inner.put(object)),
      replace: (object) => put(object.key, inner.replace(object)),
      get: (key) => get(key, inner.get(key)),
      head: (key) => get(key, inner.head(key)),
      // Not paid for.
      delete: (key) => inner.delete(key),
      // Paid like a put.
      list: (prefix, after) => put(prefix, inner.list(prefix, after)),
      // Signed here; whoever fetches it makes a call.
      downloadUrl: (key, options) => get(key, inner.downloadUrl(key, options)),
    };
  }

  provisioner(inner: SandboxProvisioner): SandboxProvisioner {
    const ask = <T>(work: Promise<T>): Promise<T> => {
      this.#add({ ecs_calls: 1 });
      return work;
    };
    return {
      get isolation() {
        return inner.isolation;
      },
      imageIdentity: (profile) => inner.imageIdentity(profile),
      launch: (request) => ask(inner.launch(request)),
      describe: (ids) => ask(inner.describe(ids)),
      stop: (id, reason) => ask(inner.stop(id, reason)),
      list: () => ask(inner.list()),
    };
  }
}

/** See adapters/aws/dynamodb-commit for which writes are plain ones. */
function costOf(writes: readonly Write[], total: number): Partial<Calls> {
  const [first, ...others] = writes;
  if (first === undefined || others.length > 0) return { table_transactions: 1, write_units: 2 * total };
  if (first.kind === 'check') return { table_reads: 1, read_units: 1 };
  if (first.kind === 'delete' && first.if !== undefined) {
    return { table_transactions: 1, write_units: 2 * total };
  }
  return { table_writes: 1, write_units: total };
}

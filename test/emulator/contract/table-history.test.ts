import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Condition,
  ConditionFailed,
  type JsonValue,
  type QueryOptions,
  type Row,
  type TableStore,
  type Write,
} from '../../../shared/ports/table-store.ts';
import { MemoryTable } from '../../support/memory-table.ts';
import { type EmulatorTable, openEmulatorTable } from './emulator-stores.ts';

const PARTITIONS = ['p', 'q'];
const SORT_KEYS = ['a', 'a#1', 'a#2', 'a#é', 'a#\u{10ffff}', 'b', 'B', 'a#'];

/** Of a version that a row has had, counted from the newest one back, or of none. */
type Wish = { readonly absent: true } | { readonly present: true } | { readonly back: number };
type Step =
  | {
      readonly kind: 'transact';
      readonly writes: readonly {
        readonly kind: Write['kind'];
        readonly pk: string;
        readonly sk: string;
        readonly wish: Wish | undefined;
        readonly data: JsonValue;
        readonly bytes: Uint8Array | undefined;
        readonly expires_at: number | undefined;
      }[];
    }
  | { readonly kind: 'get'; readonly pk: string; readonly sk: string }
  | { readonly kind: 'query'; readonly pk: string; readonly options: QueryOptions };

const pk = fc.constantFrom(...PARTITIONS);
const sk = fc.constantFrom(...SORT_KEYS);
const wish: fc.Arbitrary<Wish> = fc.oneof(
  fc.constant({ absent: true } as const),
  fc.constant({ present: true } as const),
  fc.record({ back: fc.nat(6) }),
);
const write = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'delete', 'check' as const),
  pk,
  sk,
  wish: fc.option(wish, { nil: undefined }),
  data: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>,
  bytes: fc.option(fc.uint8Array({ maxLength: 20 }), { nil: undefined }),
  expires_at: fc.option(fc.integer({ min: 4_000_000_000, max: 5_000_000_000 }), { nil: undefined }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('transact' as const),
      writes: fc.uniqueArray(write, {
        minLength: 1,
        maxLength: 4,
        selector: (each) => `${each.pk}/${each.sk}`,
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('get' as const), pk, sk }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('query' as const),
      pk,
      options: fc.record(
        {
          prefix: fc.constantFrom('', 'a', 'a#', 'b', 'z'),
          after: fc.constantFrom(...SORT_KEYS, '0', 'zz'),
          limit: fc.integer({ min: 1, max: 5 }),
          descending: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    }),
  },
);

/** One of the two stores, with its own versions of what happened. */
class Subject {
  readonly #table: TableStore;
  readonly #history: string;
  readonly #versions: string[] = [];

  constructor(table: TableStore, history: string) {
    this.#table = table;
    this.#history = history;
  }

  async answer(asked: Step): Promise<unknown> {
    if (asked.kind === 'get') return this.#seen(await this.#table.get(this.#key(asked)));
    if (asked.kind === 'query') return this.#queried(asked.pk, asked.options);
    try {
      const written = await this.#table.transact(asked.writes.map((each) => this.#write(each)));
      this.#versions.push(...written.filter((version) => version !== undefined));
      return written.map((version) => version !== undefined);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return { failed: error.failed };
    }
  }

  /** All pages, as a store may end one when it likes, but none above its limit. */
  async #queried(partition: string, options: QueryOptions): Promise<unknown> {
    const rows: Row[] = [];
    let after = options.after;
    do {
      const page = await this.#table.query(this.#key({ pk: partition, sk: '' }).pk, {
        ...options,
        ...(after !== undefined && { after }),
      });
      expect(page.rows.length).toBeLessThanOrEqual(options.limit ?? 100);
      rows.push(...page.rows);
      after = page.next;
    } while (after !== undefined);
    return rows.map((row) => this.#seen(row));
  }

  #seen(row: Row | undefined): unknown {
    return (
      row && { ...row, bytes: row.bytes && [...row.bytes], version: this.#versions.indexOf(row.version) }
    );
  }

  #key(key: { pk: string; sk: string }): { pk: string; sk: string } {
    return { pk: `${this.#history}#${key.pk}`, sk: key.sk };
  }

  #write(each: Extract<Step, { kind: 'transact' }>['writes'][number]): Write {
    const key = this.#key(each);
    const condition = this.#condition(each.wish);
    if (each.kind === 'check') return { kind: 'check', key, if: condition ?? { present: true } };
    const asked = condition === undefined ? {} : { if: condition };
    if (each.kind === 'delete') return { kind: 'delete', key, ...asked };
    const { data, bytes, expires_at } = each;
    return {
      kind: 'put',
      key,
      data,
      ...asked,
      ...(bytes !== undefined && { bytes }),
      ...(expires_at !== undefined && { expires_at }),
    };
  }

  #condition(asked: Wish | undefined): Condition | undefined {
    if (asked === undefined || !('back' in asked)) return asked;
    return { version: this.#versions.at(-1 - asked.back) ?? 'never' };
  }
}

describe('the table of DynamoDB', () => {
  let opened: EmulatorTable;
  beforeAll(async () => {
    opened = await openEmulatorTable();
  });
  afterAll(() => opened.close());

  it('gives the answers of the table in memory to any history of calls', async () => {
    let histories = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        histories += 1;
        const subject = new Subject(opened.table, `h${histories}`);
        const model = new Subject(new MemoryTable(), `h${histories}`);
        for (const asked of steps)
          expect(await subject.answer(asked)).toStrictEqual(await model.answer(asked));
      }),
      { numRuns: 60 },
    );
  });
});

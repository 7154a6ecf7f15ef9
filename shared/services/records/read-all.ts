import type { Row, TableStore } from '../../ports/table-store.ts';

const PAGE = 500;

/** Every row of a partition that holds few; a store may end a page before its limit. */
export async function readAll(table: TableStore, pk: string, prefix = ''): Promise<Row[]> {
  const rows: Row[] = [];
  let after: string | undefined;
  do {
    const page = await table.query(pk, { prefix, limit: PAGE, ...(after === undefined ? {} : { after }) });
    rows.push(...page.rows);
    after = page.next;
  } while (after !== undefined);
  return rows;
}

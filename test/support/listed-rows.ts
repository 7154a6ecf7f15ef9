import type { Row, TableStore } from '../../shared/ports/table-store.ts';

/** The rows of a list that is spread over several partitions; few, as tests have them. */
export async function listedRows(table: TableStore, partitions: readonly string[]): Promise<Row[]> {
  const pages = await Promise.all(partitions.map((pk) => table.query(pk, { limit: 1_000 })));
  return pages.flatMap(({ rows }) => rows);
}

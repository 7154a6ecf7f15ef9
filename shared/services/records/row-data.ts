import type { JsonValue } from '../../ports/table-store.ts';

/** The JSON form of a row: fields that are undefined are left out, as every store would. */
export function rowData(row: object): JsonValue {
  const data: JsonValue = JSON.parse(JSON.stringify(row));
  return data;
}

import { eventSchema, type NewEvent, type RunEvent } from '../../contracts/event.ts';
import type { RunRow } from '../../contracts/rows.ts';
import type { RunRef } from '../../contracts/workflow.ts';
import { KEYS } from '../../domain/row-keys.ts';
import type { TableStore, Write } from '../../ports/table-store.ts';
import { rowData } from './row-data.ts';
import { runExpiry } from './run-records.ts';

/** Events of runs. Only the run recorder appends them, together with the row that counts them. */
export interface EventRecords {
  append(row: RunRow, sequence: number, at: string, event: NewEvent): Write;
  list(run: RunRef, after: number, limit: number): Promise<RunEvent[]>;
}

export function createEventRecords(table: TableStore): EventRecords {
  return {
    append: (row, sequence, at, { type, stage, data }) => ({
      kind: 'put',
      key: KEYS.event(row.fingerprint, row.run_id, sequence),
      data: rowData({ sequence, type, at, stage, data } satisfies RunEvent),
      expires_at: runExpiry(row),
      if: { absent: true },
    }),
    async list({ fingerprint, run_id }, after, limit) {
      const page = await table.query(KEYS.runParts(fingerprint, run_id), {
        prefix: KEYS.EVENT_PREFIX,
        after: KEYS.event(fingerprint, run_id, after).sk,
        limit,
      });
      return page.rows.map((row) => eventSchema.parse(row.data));
    },
  };
}

import { type MaintenanceBookmarkRow, maintenanceBookmarkRowSchema } from '../contracts/rows.ts';
import { KEYS } from '../domain/row-keys.ts';
import type { TableStore } from '../ports/table-store.ts';
import type { CollectorReport, PackageCollector } from './package-collector.ts';

/** The package collector for a process whose time is short: a pass goes on where the last one had to stop. */
export interface ResumedCollector {
  /** @param until milliseconds since the epoch, after which no further page is begun. */
  collect(until: number): Promise<CollectorReport>;
}

export interface ResumedCollectorDeps {
  readonly table: TableStore;
  readonly collector: PackageCollector;
}

const BOOKMARK = KEYS.maintenanceBookmark('packages');

export function createResumedCollector({ table, collector }: ResumedCollectorDeps): ResumedCollector {
  return {
    async collect(until) {
      const row = await table.get(BOOKMARK);
      const after = row && maintenanceBookmarkRowSchema.parse(row.data).after;
      const report = await collector.collect({ until, ...(after === undefined ? {} : { after }) });
      if (report.next !== undefined && report.next !== '') {
        const data: MaintenanceBookmarkRow = { after: report.next };
        await table.transact([{ kind: 'put', key: BOOKMARK, data }]);
      } else if (row !== undefined) await table.transact([{ kind: 'delete', key: BOOKMARK }]);
      return report;
    },
  };
}

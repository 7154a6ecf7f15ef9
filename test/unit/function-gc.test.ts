import { beforeEach, describe, expect, it } from 'vitest';
import { KEYS } from '../../shared/domain/row-keys.ts';
import type { CollectOptions, CollectorReport } from '../../shared/services/package-collector.ts';
import { createResumedCollector } from '../../shared/services/resumed-collector.ts';
import { MemoryTable } from '../support/memory-table.ts';

let table: MemoryTable;
let asked: CollectOptions[];
beforeEach(() => {
  table = new MemoryTable();
  asked = [];
});

const counts = { revisions_removed: 0, packages_removed: 0, failures: 0 };
const collecting = (...reports: Partial<CollectorReport>[]) =>
  createResumedCollector({
    table,
    collector: {
      collect: async (options = {}) => {
        asked.push(options);
        return { ...counts, ...reports.shift() };
      },
    },
  });

describe('a pass of the collector', () => {
  it('goes on where the last one ran out of time, and from the start after one that did not', async () => {
    const collector = collecting({ next: 'k' }, { next: 'm' }, {}, {});

    for (const until of [1, 2, 3, 4]) await collector.collect(until);

    expect(asked).toEqual([{ until: 1 }, { until: 2, after: 'k' }, { until: 3, after: 'm' }, { until: 4 }]);
    expect(await table.get(KEYS.maintenanceBookmark('packages'))).toBeUndefined();
  });

  it('begins again when there was no time for a single page', async () => {
    const collector = collecting({ next: '' }, {});

    for (const until of [1, 2]) await collector.collect(until);

    expect(asked).toEqual([{ until: 1 }, { until: 2 }]);
  });
});

/** The standalone adapters in a temporary folder of their own, for suites and unit tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDownloadLinks } from '../../shared/adapters/local/download-links.ts';
import { createFilesystemObjectStore } from '../../shared/adapters/local/filesystem-object-store.ts';
import {
  createSqliteTableStore,
  type SqliteTableStore,
} from '../../shared/adapters/local/sqlite-table-store.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';

export interface TestClock extends Clock {
  advance(ms: number): void;
}

/** Time stands still until it is moved. */
export function createTestClock(start = Date.parse('2026-11-02T10:00:00Z')): TestClock {
  let now = start;
  return {
    now: () => now,
    sleep: async (ms) => {
      now += ms;
    },
    advance: (ms) => {
      now += ms;
    },
  };
}

export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

export function makeTemporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'cognition-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface LocalTable {
  readonly table: SqliteTableStore;
  readonly clock: TestClock;
  close(): Promise<void>;
}

export async function openLocalTable(): Promise<LocalTable> {
  const folder = makeTemporaryFolder();
  const clock = createTestClock();
  const table = createSqliteTableStore({
    path: join(folder.path, 'table.sqlite'),
    clock,
    ids: createUlidIds(),
  });
  return {
    table,
    clock,
    close: async () => {
      table.close();
      folder.remove();
    },
  };
}

export interface LocalObjects {
  readonly objects: ObjectStore;
  readonly root: string;
  readonly clock: TestClock;
  close(): Promise<void>;
}

export async function openLocalObjects(): Promise<LocalObjects> {
  const folder = makeTemporaryFolder();
  const clock = createTestClock();
  const links = createDownloadLinks({
    secret: Buffer.alloc(32, 7),
    base_url: 'http://127.0.0.1:8787',
    clock,
  });
  const objects = createFilesystemObjectStore({ root: folder.path, clock, signDownload: links.sign });
  return { objects, root: folder.path, clock, close: async () => folder.remove() };
}

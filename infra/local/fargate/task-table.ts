/**
 * All tasks the server knows. A stopped one stays describable for a while, within a bound, so that memory is
 * flat over any number of tasks; a client token is remembered longer than its task, so that it never starts a
 * second one.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { TaskRecord } from './task-record.ts';

const TOKENS = 20_000;

interface ListFilter {
  readonly cluster: string;
  readonly family: string | undefined;
  readonly started_by: string | undefined;
  readonly desired: string;
  readonly after: number;
}

interface TokenUse {
  readonly parameters_sha256: string;
  readonly task_ids: readonly string[];
}

export interface TaskTable {
  add(record: TaskRecord): void;
  find(cluster: string, id: string): TaskRecord | undefined;
  list(filter: ListFilter, limit: number): TaskRecord[];
  /** Starts the time after which a stopped task is forgotten. */
  retire(record: TaskRecord): void;
  readonly tokens: {
    get(cluster: string, token: string): TokenUse | undefined;
    set(cluster: string, token: string, use: TokenUse): void;
  };
}

export function createTaskTable(options: { clock: Clock; keep_ms: number; keep_tasks: number }): TaskTable {
  const tasks = new Map<string, TaskRecord>();
  const retired = new Set<TaskRecord>();
  const tokens = new LRUCache<string, TokenUse>({ max: TOKENS });
  const forgetOld = (): void => {
    for (const record of retired) {
      const expired = (record.stopped_at ?? 0) + options.keep_ms <= options.clock.now();
      if (!expired && retired.size <= options.keep_tasks) return;
      retired.delete(record);
      tasks.delete(record.id);
    }
  };
  return {
    add: (record) => void tasks.set(record.id, record),
    find: (cluster, id) => {
      forgetOld();
      const record = tasks.get(id);
      return record?.cluster === cluster ? record : undefined;
    },
    list: (filter, limit) => {
      forgetOld();
      const found: TaskRecord[] = [];
      for (const record of tasks.values()) {
        if (found.length === limit) break;
        if (matches(record, filter)) found.push(record);
      }
      return found;
    },
    retire: (record) => {
      retired.add(record);
      forgetOld();
    },
    tokens: {
      get: (cluster, token) => tokens.get(`${cluster}\n${token}`),
      set: (cluster, token, use) => void tokens.set(`${cluster}\n${token}`, use),
    },
  };
}

function matches(record: TaskRecord, filter: ListFilter): boolean {
  return (
    record.sequence > filter.after &&
    record.cluster === filter.cluster &&
    record.desired === filter.desired &&
    (filter.family === undefined || record.family === filter.family) &&
    (filter.started_by === undefined || record.started_by === filter.started_by)
  );
}

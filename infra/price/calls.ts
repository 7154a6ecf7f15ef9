/** What a piece of work asks of the services that are paid by the call. */
export interface Calls {
  /** GetItem and Query. */
  readonly table_reads: number;
  /** PutItem and DeleteItem outside of transactions. */
  readonly table_writes: number;
  readonly table_transactions: number;
  /** 4 KB read strongly; each read takes at least one. */
  readonly read_units: number;
  /** 1 KB written; each row takes at least one, and two in a transaction. */
  readonly write_units: number;
  readonly object_puts: number;
  readonly object_gets: number;
  /** RunTask, DescribeTasks, StopTask: not paid for, but limited in number. */
  readonly ecs_calls: number;
}

export const NO_CALLS: Calls = {
  table_reads: 0,
  table_writes: 0,
  table_transactions: 0,
  read_units: 0,
  write_units: 0,
  object_puts: 0,
  object_gets: 0,
  ecs_calls: 0,
};

export function addCalls(...all: readonly Calls[]): Calls {
  return all.reduce(
    (sum, one) => ({
      table_reads: sum.table_reads + one.table_reads,
      table_writes: sum.table_writes + one.table_writes,
      table_transactions: sum.table_transactions + one.table_transactions,
      read_units: sum.read_units + one.read_units,
      write_units: sum.write_units + one.write_units,
      object_puts: sum.object_puts + one.object_puts,
      object_gets: sum.object_gets + one.object_gets,
      ecs_calls: sum.ecs_calls + one.ecs_calls,
    }),
    NO_CALLS,
  );
}

export const timesCalls = (calls: Calls, times: number): Calls =>
  addCalls(...Array.from({ length: times }, () => calls));

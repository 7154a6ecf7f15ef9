/** What the bench prints: one row a figure, in a table or with `--json` as `{rows}`. */
export interface BenchRow {
  readonly id: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** As a person reads it. */
  readonly target: string;
  readonly met: boolean;
}

export const atMost = (id: string, what: string, value: number, limit: number, unit: string): BenchRow => ({
  id,
  what,
  value: round(value),
  unit,
  target: `≤ ${limit}`,
  met: value <= limit,
});

export const atLeast = (id: string, what: string, value: number, limit: number, unit: string): BenchRow => ({
  id,
  what,
  value: round(value),
  unit,
  target: `≥ ${limit}`,
  met: value >= limit,
});

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Milliseconds of each call, after some that do not count. */
export async function timesOf(count: number, warmUp: number, call: () => unknown): Promise<number[]> {
  const times: number[] = [];
  for (let index = -warmUp; index < count; index += 1) {
    const begin = performance.now();
    await call();
    if (index >= 0) times.push(performance.now() - begin);
  }
  return times;
}

const round = (value: number): number => Number(value.toPrecision(4));

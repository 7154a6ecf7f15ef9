import type { Line } from '../../terminal/output.ts';
import { table } from '../../terminal/table.ts';
import type { Attempt } from './attempt.ts';

/** Groups as a table, and each attempt that was not refused by itself. */
export function attemptLines(attempts: readonly Attempt[]): Line[] {
  const groups = Map.groupBy(attempts, ({ group }) => group);
  const rows = [...groups].map(([group, of]) => {
    const refused = of.filter((attempt) => attempt.refused).length;
    return [
      group,
      String(of.length),
      { text: String(refused), style: refused === of.length ? 'green' : 'red' },
    ] as const;
  });
  const through = attempts.filter(({ refused }) => !refused);
  return [
    '',
    ...table(['ATTEMPTS', 'MADE', 'REFUSED'], rows),
    ...through.map(
      ({ group, attempt, detail }): Line => [
        { text: '✘ not refused: ', style: 'red' },
        `${group}: ${attempt} (${detail})`,
      ],
    ),
  ];
}

import { type Line, renderLine, type Segment } from './output.ts';

/** Columns as wide as their widest cell; the last one is not padded. */
export function table(header: readonly string[], rows: readonly (readonly Segment[])[]): Line[] {
  const cells = [header.map((text): Segment => ({ text, style: 'dim' })), ...rows];
  const widths = header.map((_title, column) =>
    Math.max(...cells.map((row) => renderLine(row[column] ?? '', false).length)),
  );
  return cells.map((row) =>
    row.flatMap((cell, column): Segment[] => {
      if (column === row.length - 1) return [cell];
      const padding = (widths[column] ?? 0) - renderLine(cell, false).length + 2;
      return [cell, ' '.repeat(padding)];
    }),
  );
}

/** `name: value` lines, aligned; entries without a value are left out. */
export function details(entries: readonly (readonly [string, Segment | undefined])[]): Line[] {
  const shown = entries.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  const width = Math.max(...shown.map(({ name }) => name.length));
  return shown.map(({ name, value }) => [{ text: name.padEnd(width + 2), style: 'dim' }, value]);
}

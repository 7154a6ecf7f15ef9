const LEFT_OUT = 0.5;

/** The one of some names, at least one, that a mistyped name is closest to. */
export function nearestName(mistyped: string, names: readonly string[]): string {
  let best = { name: '', distance: Number.POSITIVE_INFINITY };
  for (const name of names) {
    const distance = editDistance(mistyped, name);
    if (distance < best.distance) best = { name, distance };
  }
  return best.name;
}

/** Levenshtein's, a row of the matrix at a time. What was left out counts half: names are shortened more than misspelt. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index * LEFT_OUT);
  for (const [row, character] of [...a].entries()) {
    const current = [row + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (character === b[column - 1] ? 0 : 1);
      current.push(
        Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + LEFT_OUT),
      );
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}

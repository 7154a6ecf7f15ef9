/** Runs concurrent processes in every order in which their steps could happen. */

/** A process passes each of its calls to the outside through `step`. */
export type Step = <T>(work: () => Promise<T>) => Promise<T>;
/** `pause` is a wait for others: it ends only when they have moved on, or when nothing else can. */
export type Process = (step: Step, pause: () => Promise<void>) => Promise<void>;

interface Waiting {
  readonly go: () => void;
  readonly isPause: boolean;
}

/**
 * Calls `start` anew for each order: it returns fresh processes, and `check` of what they led to.
 * @returns how many orders there were.
 */
export async function everyInterleaving(
  start: () => Promise<{ processes: readonly Process[]; check: () => Promise<void> }>,
): Promise<number> {
  let choices: number[] = [];
  for (let orders = 1; ; orders += 1) {
    const { processes, check } = await start();
    const taken = await runOnce(processes, choices);
    try {
      await check();
    } catch (error) {
      throw new Error(`order ${taken.map(({ choice }) => choice).join('')}`, { cause: error });
    }
    const last = taken.findLastIndex(({ choice, options }) => choice + 1 < options);
    if (last < 0) return orders;
    choices = taken.slice(0, last + 1).map(({ choice }, index) => (index === last ? choice + 1 : choice));
  }
}

/** One order: at each point the choice, modulo how many could go on. */
export async function someInterleaving(
  processes: readonly Process[],
  choices: readonly number[],
): Promise<void> {
  await runOnce(processes, choices);
}

async function runOnce(
  processes: readonly Process[],
  choices: readonly number[],
): Promise<{ choice: number; options: number }[]> {
  const waiting: Waiting[] = [];
  const gate = (isPause: boolean): Promise<void> =>
    new Promise((go) => {
      waiting.push({ go, isPause });
    });
  const step: Step = async (work) => {
    await gate(false);
    return await work();
  };
  const ends = Promise.all(processes.map((process) => process(step, () => gate(true))));
  const taken: { choice: number; options: number }[] = [];
  await settled();
  while (waiting.length > 0) {
    const steps = waiting.filter(({ isPause }) => !isPause);
    const options = steps.length > 0 ? steps : waiting.slice(0, 1);
    const choice = (choices[taken.length] ?? 0) % options.length;
    taken.push({ choice, options: options.length });
    const next = options[choice];
    if (next === undefined) throw new Error('no process can go on');
    waiting.splice(waiting.indexOf(next), 1);
    next.go();
    await settled();
  }
  await ends;
  return taken;
}

/** Every step so far has come to its next gate: the stores of these tests answer without timers. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

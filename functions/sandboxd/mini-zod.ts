/**
 * The part of zod that the daemon's contracts use, put in zod's place when the daemon is bundled: loading zod costs
 * every task some 20 ms of processor, half as much again as starting Node. Sources are checked against the real
 * types; a property test holds both to the same verdicts and values.
 */

interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

class Refused extends Error {
  override readonly name = 'ZodError';
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[]) {
    super(issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
    this.issues = issues;
  }
}

const refuse = (message: string, path: readonly (string | number)[] = []): never => {
  throw new Refused([{ path, message }]);
};

const ABSENT = Symbol('absent');

/** A parser that throws Refused; `ABSENT` comes in for a key that is not there, and goes out to leave it so. */
type Parse = (value: unknown) => unknown;

class Schema {
  readonly run: Parse;

  constructor(run: Parse) {
    this.run = run;
  }

  parse(value: unknown): unknown {
    return this.run(value);
  }

  safeParse(value: unknown): { success: true; data: unknown } | { success: false; error: Refused } {
    try {
      return { success: true, data: this.run(value) };
    } catch (error) {
      if (error instanceof Refused) return { success: false, error };
      throw error;
    }
  }

  optional(): Schema {
    return new Schema((value) => (value === ABSENT || value === undefined ? value : this.run(value)));
  }

  nullable(): Schema {
    return new Schema((value) => (value === null ? null : this.run(value)));
  }

  default(fallback: unknown): Schema {
    return new Schema((value) =>
      value === ABSENT || value === undefined ? structuredClone(fallback) : this.run(value),
    );
  }

  refine(holds: (value: unknown) => unknown, message: string | { message: string } = 'refused'): this {
    return this.check(holds, typeof message === 'string' ? message : message.message);
  }

  check(holds: (value: unknown) => unknown, message: string): this {
    return Reflect.construct(this.constructor, [
      (value: unknown) => {
        const parsed = this.run(value);
        return holds(parsed) ? parsed : refuse(message);
      },
    ]);
  }

  /** Arrays and strings have a length, numbers a value. */
  min(least: number): this {
    return this.check((value) => measure(value) >= least, `at least ${least}`);
  }

  max(most: number): this {
    return this.check((value) => measure(value) <= most, `at most ${most}`);
  }

  regex(pattern: RegExp, message = 'not of the right form'): this {
    return this.check((value) => pattern.test(String(value)), message);
  }

  int(): this {
    return this.check(Number.isSafeInteger, 'not an integer');
  }

  positive(): this {
    return this.check((value) => measure(value) > 0, 'not positive');
  }

  nonnegative(): this {
    return this.check((value) => measure(value) >= 0, 'negative');
  }
}

const measure = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) ? value.length : Number(value);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const ofType = (type: string): Schema =>
  new Schema((value) => (typeof value === type ? value : refuse(`not a ${type}`)));

export const string = (): Schema => ofType('string');
export const boolean = (): Schema => ofType('boolean');
export const number = (): Schema => ofType('number').check(Number.isFinite, 'not a number');
export const int = (): Schema => number().int();
export const unknown = (): Schema => new Schema((value) => (value === ABSENT ? undefined : value));

const literalOf = (values: readonly unknown[]): Schema =>
  new Schema((value) => (values.includes(value) ? value : refuse(`not one of ${values.join(', ')}`)));
export const literal = (value: unknown): Schema => literalOf([value]);
export { enumOf as enum };

const enumOf = (values: readonly string[]): Schema => literalOf(values);

function inside(key: string | number, run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new Refused(error.issues.map((issue) => ({ ...issue, path: [key, ...issue.path] })));
  }
}

export const array = (item: Schema): Schema =>
  new Schema((value) =>
    Array.isArray(value)
      ? Array.from(value, (entry, index) => inside(index, () => item.run(entry)))
      : refuse('not an array'),
  );

function shaped(shape: Readonly<Record<string, Schema>>, strict: boolean): Schema {
  return new Schema((value) => {
    if (!isObject(value)) return refuse('not an object');
    if (strict) {
      const unknownKey = Object.keys(value).find((key) => !Object.hasOwn(shape, key));
      if (unknownKey !== undefined) refuse(`unknown key ${unknownKey}`);
    }
    const result: Record<string, unknown> = {};
    for (const [key, schema] of Object.entries(shape)) {
      const given = key in value ? value[key] : ABSENT;
      const parsed = inside(key, () => schema.run(given));
      if (parsed !== ABSENT) result[key] = parsed;
    }
    return result;
  });
}
export const object = (shape: Readonly<Record<string, Schema>>): Schema => shaped(shape, false);
export const strictObject = (shape: Readonly<Record<string, Schema>>): Schema => shaped(shape, true);

export const record = (keys: Schema, values: Schema): Schema =>
  new Schema((value) => {
    if (!isObject(value)) return refuse('not an object');
    const result: Record<string, unknown> = {};
    for (const [key, entry] of Object.entries(value)) {
      if (key === '__proto__') continue;
      inside(key, () => keys.run(key));
      result[key] = inside(key, () => values.run(entry));
    }
    return result;
  });

export const union = (choices: readonly Schema[]): Schema =>
  new Schema((value) => {
    for (const choice of choices) {
      const result = choice.safeParse(value);
      if (result.success) return result.data;
    }
    return refuse('none of the forms');
  });

/** For contracts that the daemon loads and never parses with. */
export const coerce = { number: (): Schema => new Schema(Number) };
export const iso = { datetime: (): Schema => string() };

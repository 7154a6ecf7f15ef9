export interface Provided<T> {
  /** Called once a process, before the first event. */
  readonly provide: (value: T) => void;
  /** @throws Error when nothing has been provided. */
  readonly get: () => T;
}

/** A value that the wiring gives to handlers, which build nothing themselves. @param provider as errors name it. */
export function provided<T>(provider: string): Provided<T> {
  let given: T | undefined;
  return {
    provide: (value) => {
      given = value;
    },
    get: () => {
      if (given === undefined) throw new Error(`no wiring has called ${provider}`);
      return given;
    },
  };
}

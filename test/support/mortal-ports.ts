/** Ports whose nth call is the last thing that a process does, or that fails once. */
import { TransientError } from '../../shared/domain/transient-error.ts';
import type { Ports } from './run-world.ts';

/** `before`: the call is not made. `after`: it is made, and its answer is lost. */
export type Moment = 'before' | 'after';

export class Fate {
  calls = 0;
  readonly names: string[] = [];
  dead = false;
  readonly #at: number;
  readonly #moment: Moment;
  readonly #kind: 'death' | 'fault';

  constructor(kind: 'death' | 'fault', at: number, moment: Moment) {
    this.#kind = kind;
    this.#at = at;
    this.#moment = moment;
  }

  async meet<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.dead) throw new Error('killed');
    this.calls += 1;
    this.names.push(name);
    if (this.calls !== this.#at) return work();
    if (this.#moment === 'after') await work();
    if (this.#kind === 'fault') throw new TransientError(`fault at call ${this.#at}, ${name}`);
    this.dead = true;
    throw new Error('killed');
  }
}

/** Every call that changes something outside, and every call to a sandbox, meets its fate; reads only after death. */
export function mortal(ports: Ports, fate: Fate): Ports {
  const reads = async <T>(work: () => Promise<T>): Promise<T> => {
    if (fate.dead) throw new Error('killed');
    return work();
  };
  const met = <T extends object>(target: T, port: string, readOnly: readonly string[]): T =>
    new Proxy(target, {
      get(held, property) {
        const value: unknown = Reflect.get(held, property);
        if (typeof value !== 'function') return value;
        const call = (...args: unknown[]): Promise<unknown> => Reflect.apply(value, held, args);
        const name = String(property);
        return (...args: unknown[]) =>
          readOnly.includes(name)
            ? reads(() => call(...args))
            : fate.meet(`${port}.${name}`, () => call(...args));
      },
    });
  return {
    table: met(ports.table, 'table', ['get', 'query']),
    objects: met(ports.objects, 'objects', ['get', 'head', 'list', 'downloadUrl']),
    packages: met(ports.packages, 'packages', ['exists']),
    provisioner: met(ports.provisioner, 'provisioner', ['imageIdentity']),
    client: met(ports.client, 'client', []),
  };
}

import type { Server } from 'node:net';

/**
 * The descriptor of a listening server, for a child to inherit. Node can pass sockets to children only over a channel
 * of its own making; the descriptor itself is no public property, so its form is checked.
 */
export function inheritListener(listener: Server): number {
  const handle: unknown = Reflect.get(listener, '_handle');
  const descriptor: unknown =
    typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  if (typeof descriptor === 'number' && descriptor >= 0) return descriptor;
  throw new Error('the listener of a task is not listening');
}

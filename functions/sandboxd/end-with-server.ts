import { Socket } from 'node:net';
import type { SandboxForm } from './daemon-config.ts';

/** Ends this process, and so everything of its task, when the server that started the task is gone, however it ended. */
export function endWithServer(lifelineFd: number, form: SandboxForm): void {
  const lifeline = new Socket({ fd: lifelineFd, readable: true, writable: false });
  lifeline.on('error', () => undefined);
  lifeline.once('close', () => {
    // The init of a namespace takes all of it along; without one there is only the process group.
    if (form === 'unsafe') process.kill(-process.pid, 'SIGKILL');
    process.exit(1);
  });
  lifeline.resume();
}

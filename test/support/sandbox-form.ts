/** The form of the sandbox that the suite under test/sandbox runs against, as its project says. */
import { inject } from 'vitest';
import { type ContainerHost, createContainerHost } from './container/container-host.ts';
import { openRuntime, type SandboxSource } from './sandboxd-task.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    sandboxForm: 'bubblewrap' | 'container';
  }
}

export const sandboxForm = inject('sandboxForm');

export const openSandboxes = async (): Promise<SandboxSource> =>
  sandboxForm === 'container' ? openContainers() : await openRuntime();

export const openContainers = (): ContainerHost => createContainerHost(inject('container'));

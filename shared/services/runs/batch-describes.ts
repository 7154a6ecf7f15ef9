import type { SandboxProvisioner, SandboxTask } from '../../ports/sandbox-provisioner.ts';

/**
 * Describes tasks one at a time for the caller and together for the provider: what is asked for while the event
 * loop is busy with others goes out in one call.
 */
export function batchDescribes(
  provisioner: Pick<SandboxProvisioner, 'describe'>,
): (taskId: string) => Promise<SandboxTask | undefined> {
  let next: { readonly ids: Set<string>; readonly tasks: Promise<Map<string, SandboxTask>> } | undefined;
  const ask = async (ids: ReadonlySet<string>): Promise<Map<string, SandboxTask>> => {
    await new Promise(setImmediate);
    next = undefined;
    const tasks = await provisioner.describe([...ids]);
    return new Map(tasks.map((task) => [task.task_id, task]));
  };
  return async (taskId) => {
    if (next === undefined) {
      const ids = new Set<string>();
      next = { ids, tasks: ask(ids) };
    }
    next.ids.add(taskId);
    return (await next.tasks).get(taskId);
  };
}

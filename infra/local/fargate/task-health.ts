/** A task is RUNNING when its daemon answers. */
import { Agent } from 'node:http';
import { callSandbox } from '../../../shared/adapters/sandbox/sandbox-call.ts';
import { healthSchema } from '../../../shared/contracts/daemon.ts';

const HEALTH_BYTES = 4_096;
/** The only call of this process to the task: no connection is kept for it. */
const agent = new Agent({ keepAlive: false });

/**
 * There is nothing to poll: the connection waits in the listener's backlog until the daemon takes it.
 * @throws Error saying what was wrong with the answer.
 */
export async function awaitHealth(
  address: { readonly host: string; readonly port: number },
  sandboxId: string,
  timeoutMs: number,
): Promise<void> {
  const { status, bytes } = await callSandbox({
    ...address,
    agent,
    method: 'GET',
    target: '/v1/health',
    headers: () => ({}),
    max_bytes: HEALTH_BYTES,
    deadline_ms: timeoutMs,
  });
  if (status !== 200) throw new Error(`the daemon answered its health call with status ${status}`);
  const health = healthSchema.parse(JSON.parse(bytes.toString('utf8')));
  if (health.sandbox_id !== sandboxId) throw new Error('the daemon has the id of another sandbox');
}

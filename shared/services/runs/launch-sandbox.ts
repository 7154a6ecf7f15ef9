/** LaunchSandbox: one out of the pool, or a new task under ids that are stored first. */
import type { Manifest } from '../../contracts/manifest.ts';
import type { SandboxRow } from '../../contracts/rows.ts';
import type { RunStatus } from '../../contracts/run.ts';
import type { SandboxProfile } from '../../contracts/sandbox-profile.ts';
import type { RunRef } from '../../contracts/workflow.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import { newSandboxKeyPair, publicKeyOf } from '../../domain/daemon-signature.ts';
import { isFinalStatus } from '../../domain/run-transitions.ts';
import { runExpiry } from '../records/run-records.ts';
import type { RunChange } from '../run-recorder.ts';
import type { SandboxManagerDeps } from '../sandbox-manager.ts';

export const HEALTH_TIMEOUT_MS = 500;
/** No key outlives this, whatever crashed: the longest life of a pooled sandbox and a run. */
export const SANDBOX_KEY_SECONDS = 2 * 86_400;

export async function launchSandbox(
  deps: SandboxManagerDeps,
  run: RunRef,
  manifest: Manifest,
): Promise<void> {
  const existing = await deps.sandboxes.get(run);
  if (existing === undefined && (await claimPooled(deps, run, manifest))) return;
  await startTask(deps, run, manifest);
}

/** One transaction takes the sandbox out of the pool and gives it to the run, so two runs never share one. */
async function claimPooled(deps: SandboxManagerDeps, run: RunRef, { sandbox }: Manifest): Promise<boolean> {
  const { sandboxes, client, random } = deps;
  const pooled = await sandboxes.listPooled(sandbox.profile, sandbox.image_identity);
  // Runs that start at once begin at different places, or they would all want the same sandbox.
  const start = Math.floor(random() * pooled.length);
  for (const { row } of [...pooled.slice(start), ...pooled.slice(0, start)]) {
    const { sandbox_id, host, port } = row;
    // The pool forgets the dead ones; here they are only passed over.
    if (host === null || port === null) continue;
    if (!(await client.healthy({ sandbox_id, host, port }, HEALTH_TIMEOUT_MS))) continue;
    if (await claim(deps, run, row)) {
      deps.onClaim?.(sandbox.profile);
      return true;
    }
  }
  return false;
}

async function claim(deps: SandboxManagerDeps, run: RunRef, pooled: SandboxRow): Promise<boolean> {
  const { sandboxes, clock, recorder } = deps;
  const { sandbox_id, profile, image_identity } = pooled;
  let claimed = false;
  await recorder.record(run, async (row): Promise<RunChange | undefined> => {
    const still = await sandboxes.getPooled(profile, image_identity, sandbox_id);
    claimed = still !== undefined && row.status === 'pinned';
    if (still === undefined || !claimed) return undefined;
    return {
      moves: ['launching', 'materializing'],
      set: { stage: 'materialize' },
      timings: { sandbox_ready_at: new Date(clock.now()).toISOString() },
      events: [
        { type: 'sandbox.requested', stage: 'launch', data: { sandbox_id, profile, pooled: true } },
        { type: 'sandbox.ready', stage: 'launch', data: { sandbox_id } },
      ],
      writes: [
        sandboxes.deletePooled(still.row, { version: still.version }),
        sandboxes.write(run, still.row, { absent: true }, runExpiry(row)),
      ],
    };
  });
  return claimed;
}

/** Ids and key are stored before the provider is asked, so that asking again starts no second task. */
async function startTask(deps: SandboxManagerDeps, run: RunRef, manifest: Manifest): Promise<void> {
  const { sandboxes, recorder, provisioner } = deps;
  await recorder.record(run, (row) => requestSandbox(deps, run, row.status, runExpiry(row), manifest));
  const sandbox = (await sandboxes.get(run))?.row;
  if (sandbox === undefined || sandbox.task_id !== null || sandbox.stopped) return;
  const key = await sandboxes.getKey(sandbox.sandbox_id);
  if (key === undefined) throw unlaunchable(`the key of the sandbox ${sandbox.sandbox_id} is gone`);
  const profile = await pinnedProfile(deps, sandbox);
  const { task_id } = await provisioner.launch({
    sandbox_id: sandbox.sandbox_id,
    profile,
    public_key: publicKeyOf(key),
    run,
  });
  const now = await recorder.record(run, async (row) => {
    const stored = await sandboxes.get(run);
    if (stored === undefined || stored.row.task_id !== null || isFinalStatus(row.status)) return undefined;
    const writes = [
      sandboxes.write(run, { ...stored.row, task_id }, { version: stored.version }, runExpiry(row)),
    ];
    return { writes };
  });
  if (isFinalStatus(now.status)) await provisioner.stop(task_id, 'its run has ended');
}

/** The manifest says what runs: a deployment in between may have brought another image, or taken the profile away. */
async function pinnedProfile(
  { profiles, provisioner }: SandboxManagerDeps,
  { profile: name, image_identity }: SandboxRow,
): Promise<SandboxProfile> {
  const profile = profiles.find((known) => known.name === name);
  if (profile === undefined) throw unlaunchable(`the sandbox profile "${name}" is gone`);
  if ((await provisioner.imageIdentity(profile)) !== image_identity) {
    throw unlaunchable(`the image of the sandbox profile "${name}" is another than the pinned one`);
  }
  return profile;
}

const unlaunchable = (why: string): CognitionError =>
  new CognitionError('sandbox_unavailable', `${why}; start the run again`);

function requestSandbox(
  { sandboxes, clock, ids }: SandboxManagerDeps,
  run: RunRef,
  status: RunStatus,
  expiresAt: number,
  { sandbox: { profile, image_identity } }: Manifest,
): RunChange | undefined {
  if (status !== 'pinned') return undefined;
  const sandbox_id = ids.next();
  const sandbox: SandboxRow = {
    sandbox_id,
    profile,
    image_identity,
    task_id: null,
    host: null,
    port: null,
    requested_at: new Date(clock.now()).toISOString(),
    stopped: false,
  };
  const keyExpiry = Math.floor(clock.now() / 1_000) + SANDBOX_KEY_SECONDS;
  return {
    moves: ['launching'],
    set: { stage: 'launch' },
    events: [{ type: 'sandbox.requested', stage: 'launch', data: { sandbox_id, profile, pooled: false } }],
    writes: [
      sandboxes.writeKey(sandbox_id, newSandboxKeyPair().private_key, keyExpiry),
      sandboxes.write(run, sandbox, { absent: true }, expiresAt),
    ],
  };
}

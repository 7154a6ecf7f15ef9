/** What holds for every run once its machine is done, whatever happened on the way: seen in all stores at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { expect } from 'vitest';
import { SANDBOX_TAGS } from '../../../shared/contracts/ecs-task.ts';
import { sandboxRowSchema } from '../../../shared/contracts/rows.ts';
import { KEYS } from '../../../shared/domain/row-keys.ts';
import { isFinalStatus } from '../../../shared/domain/run-transitions.ts';
import { scopeFingerprint } from '../../../shared/domain/scope.ts';
import type { RowKey } from '../../../shared/ports/table-store.ts';
import type { Answer, Api } from '../../support/api.ts';
import type { Deployed } from './deployed.ts';

const CLOSING_MS = 30_000;

/** Waits for the teardown too. @returns the run. */
export async function expectRunsClosed(
  deployed: Deployed,
  api: Api,
  runIds: readonly string[],
): Promise<Answer[]> {
  const ended = await Promise.all(runIds.map((id) => api.finished(id, 90)));
  for (const { json } of ended) expect(isFinalStatus(json.status), json.status).toBe(true);
  await nothing(() => openThings(deployed, api, runIds));
  for (const id of runIds) await expectTold(api, id);
  await expectArtifacts(deployed, api, runIds);
  return ended;
}

/** Polls by itself: what vitest has for it belongs to one test, and many run at a time. */
async function nothing(list: () => Promise<string[]>): Promise<void> {
  for (const deadline = Date.now() + CLOSING_MS; ; await sleep(300)) {
    const found = await list();
    if (found.length === 0) return;
    if (Date.now() > deadline) expect(found).toEqual([]);
  }
}

/** What a run holds while it is under way, and must not hold any more. */
async function openThings(
  { table, liveTasks }: Deployed,
  api: Api,
  runIds: readonly string[],
): Promise<string[]> {
  const fingerprint = scopeFingerprint(api.scope);
  const open: string[] = [];
  const look = async (what: string, key: RowKey): Promise<void> => {
    if ((await table.get(key)) !== undefined) open.push(`${what} ${key.pk} ${key.sk}`);
  };
  const lookAll = async (what: string, pk: string): Promise<void> => {
    if ((await table.query(pk)).rows.length > 0) open.push(`${what} ${pk}`);
  };
  for (const id of runIds) {
    await look('active run', KEYS.activeRun(id));
    await lookAll('request', KEYS.blob(`run-request#${fingerprint}#${id}`));
    await lookAll('stdin', KEYS.blob(`run-stdin#${fingerprint}#${id}`));
    const sandbox = sandboxRowSchema.safeParse((await table.get(KEYS.sandbox(fingerprint, id)))?.data);
    if (sandbox.success) await look('key', KEYS.sandboxKey(sandbox.data.sandbox_id));
  }
  await lookAll('slot', KEYS.slots(fingerprint));
  for (const { taskArn, lastStatus, tags = [] } of await liveTasks()) {
    const runId = tags.find(({ key }) => key === SANDBOX_TAGS.runId)?.value ?? '';
    if (runIds.includes(runId)) open.push(`task ${taskArn} ${lastStatus}`);
  }
  return open;
}

const TOLD_OFTEN = /^(command\.output|artifact\..*|package\.materialized|egress\.denied)$/;

/** Events are numbered without a gap, each turn of the run is told once, and output is what the run says. */
async function expectTold(api: Api, runId: string): Promise<void> {
  const run = (await api.get(`/runs/${runId}`)).json;
  const events = (await api.get(`/runs/${runId}/events?limit=200`)).json.items;
  const types: string[] = events.map(({ type }: { type: string }) => type);
  expect(events.map(({ sequence }: { sequence: number }) => sequence)).toEqual(types.map((_, at) => at + 1));
  const once = types.filter((type) => !TOLD_OFTEN.test(type));
  expect(new Set(once).size, once.join()).toBe(once.length);
  expect(once).toContain(`run.${run.status}`);
  const told = events
    .filter(({ type, data }: { type: string; data: { stream?: string } }) => {
      return type === 'command.output' && data.stream === 'stdout';
    })
    .map(({ data }: { data: { text: string } }) => data.text)
    .join('');
  expect(told).toBe(run.stdout);
}

/** Every artifact of the runs is an object, and no object of theirs is without an artifact. */
async function expectArtifacts(deployed: Deployed, api: Api, runIds: readonly string[]): Promise<void> {
  const { s3, facts } = deployed;
  const fingerprint = scopeFingerprint(api.scope);
  const wanted: string[] = [];
  for (const id of runIds) {
    const { items } = (await api.get(`/runs/${id}/artifacts`)).json;
    for (const { artifact_id } of items) {
      if (artifact_id !== null && artifact_id !== undefined) {
        wanted.push(`artifacts/${fingerprint}/${id}/${artifact_id}`);
      }
    }
  }
  for (const Key of wanted) await s3.send(new HeadObjectCommand({ Bucket: facts.artifacts_bucket, Key }));
  const stored = (await deployed.objects(facts.artifacts_bucket)).filter((key) =>
    runIds.some((id) => key.startsWith(`artifacts/${fingerprint}/${id}/`)),
  );
  expect(stored.toSorted()).toEqual(wanted.toSorted());
}

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Api } from '../support/api.ts';
import { skillFiles } from '../support/skill-files.ts';
import { newFolder, removeFolder, type StandaloneProcess, startStandalone } from '../support/standalone.ts';

const FINAL = ['succeeded', 'failed', 'timed_out', 'cancelled'];
const SCOPE = { tenant: 'crash' };

let folder: string;
let server: StandaloneProcess | undefined;
afterEach(async () => {
  await server?.kill();
  removeFolder(folder);
});

async function prepared(): Promise<Api> {
  server = await startStandalone({ COGNITION_SANDBOX_POOL_SIZE: '1' }, folder);
  const api = new Api(server.target, SCOPE);
  const script = '#!/bin/sh\necho begun\nsleep 1\necho kept > "$OUTPUT_DIR/out.txt"\necho ended\n';
  await api.put('/skills/slow', { files: skillFiles('slow', { 'run.sh': script }) });
  await api.put('/agents/crasher', { skills: ['slow'] });
  return api;
}

interface Ended {
  readonly status: string;
  readonly failure: { readonly code: string } | null;
}

async function endOf(api: Api, runId: string): Promise<Ended> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const { json } = await api.get(`/runs/${runId}`);
    if (FINAL.includes(json.status)) return json;
    await sleep(100);
  }
  throw new Error(`the run ${runId} did not end:\n${server?.log()}`);
}

async function sandboxOf(api: Api, runId: string): Promise<string | undefined> {
  const { json } = await api.get(`/runs/${runId}/events?after=0`);
  const events: { type: string; data: { sandbox_id: string } }[] = json.items;
  return events.find(({ type }) => type === 'sandbox.requested')?.data.sandbox_id;
}

/** Every process of this machine that carries the sandbox's id in its arguments or environment. */
function processesOf(sandboxId: string): string[] {
  const carries = (file: string): boolean => {
    try {
      return readFileSync(file).includes(sandboxId);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').filter(
    (pid) => /^[0-9]+$/.test(pid) && ['cmdline', 'environ'].some((file) => carries(`/proc/${pid}/${file}`)),
  );
}

describe('a server killed with -9 while a run is under way, and started again', () => {
  it.each([0, 10, 30, 60, 100, 200, 500, 1_100, 1_200])(
    '%i ms after POST, ends the run with a clear code',
    async (delay) => {
      folder = newFolder();
      const before = await prepared();
      const { status, json } = await before.post('/runs', {
        agent: 'crasher',
        command: { skill: 'slow', script: 'run.sh' },
      });
      expect(status).toBe(202);
      await sleep(delay);
      if (delay === 500)
        expect(processesOf((await sandboxOf(before, json.run_id)) ?? 'none')).not.toEqual([]);

      await server?.kill();
      server = await startStandalone({ COGNITION_SANDBOX_POOL_SIZE: '1' }, folder);
      const after = new Api(server.target, SCOPE);
      const run = await endOf(after, json.run_id);

      expect(['succeeded', 'run_interrupted']).toContain(run.failure?.code ?? run.status);
      const sandbox = await sandboxOf(after, json.run_id);
      expect(sandbox === undefined ? [] : processesOf(sandbox)).toEqual([]);
      const { json: events } = await after.get(`/runs/${json.run_id}/events?after=0`);
      const sequences = events.items.map((event: { sequence: number }) => event.sequence);
      expect(sequences).toEqual(sequences.map((_: number, index: number) => index + 1));
      const again = await after.post('/runs', {
        agent: 'crasher',
        command: { skill: 'slow', script: 'run.sh' },
      });
      expect(await endOf(after, again.json.run_id)).toMatchObject({ status: 'succeeded' });
    },
  );
});

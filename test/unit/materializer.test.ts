import { beforeEach, describe, expect, it } from 'vitest';
import type { SealReceipt } from '../../shared/contracts/daemon.ts';
import { createRunSchema } from '../../shared/contracts/run.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { type SandboxClient, SandboxRefused } from '../../shared/ports/sandbox-client.ts';
import { expectRunClosed } from '../support/run-invariants.ts';
import {
  type Backstage,
  createBackstage,
  FINGERPRINT,
  type Ports,
  publishSkill,
  putAgent,
  SCRIPT_RUN,
  startProcess,
} from '../support/run-world.ts';

let backstage: Backstage;
beforeEach(async () => {
  backstage = createBackstage();
  await publishSkill(backstage);
  await publishSkill(backstage, 'extra');
  await putAgent(backstage, { skills: ['report', 'extra'] });
});

async function failedRun(ports: Partial<Ports>, request: Record<string, unknown> = SCRIPT_RUN) {
  const process = startProcess(backstage, { ports });
  const { run_id } = await process.run(request);
  const run = await expectRunClosed(backstage, process, run_id);
  expect(run.status).toBe('failed');
  expect(run.timings.started_at).toBeNull();
  expect(backstage.sandboxes.execs).toBe(0);
  expect(backstage.sandboxes.alive()).toEqual([]);
  return run.failure;
}
const withClient = (client: Partial<SandboxClient>): Partial<Ports> => ({
  client: { ...backstage.client, ...client },
});

describe('packages that cannot be what was pinned: nothing runs and the sandbox is gone', () => {
  it('a package that is missing from the store', async () => {
    const fetch = backstage.packages.fetch.bind(backstage.packages);
    let fetches = 0;
    const packages = {
      ...backstage.packages,
      // The first read is the check of the script.
      fetch: async (...args: Parameters<typeof fetch>) => {
        fetches += 1;
        return fetches > 1 ? undefined : fetch(...args);
      },
    };

    expect(await failedRun({ packages })).toMatchObject({
      code: 'package_unavailable',
      stage: 'materialize',
    });
  });

  it('a package whose bytes were changed in the store', async () => {
    const fetch = backstage.packages.fetch.bind(backstage.packages);
    let fetches = 0;
    const packages = {
      ...backstage.packages,
      fetch: async (...args: Parameters<typeof fetch>) => {
        fetches += 1;
        const bytes = await fetch(...args);
        if (fetches === 1 || bytes === undefined) return bytes;
        const changed = Uint8Array.from(bytes);
        changed[changed.length - 1] = 88;
        return changed;
      },
    };

    expect(await failedRun({ packages })).toMatchObject({ code: 'digest_mismatch', stage: 'materialize' });
  });

  it('a package store that stays away, after it was tried again', async () => {
    const fetch = backstage.packages.fetch.bind(backstage.packages);
    let fetches = 0;
    const packages = {
      ...backstage.packages,
      fetch: async (...args: Parameters<typeof fetch>) => {
        fetches += 1;
        if (fetches > 1) throw new TransientError('the store is away');
        return fetch(...args);
      },
    };

    expect(await failedRun({ packages })).toMatchObject({
      code: 'package_unavailable',
      stage: 'materialize',
    });
    expect(fetches).toBeGreaterThan(5);
  });

  it('an upload that the sandbox refuses half way', async () => {
    const ports = withClient({
      putPackage: async (handle, name, digest, bytes) => {
        if (name === 'extra') throw new SandboxRefused('storage_full', 'no room');
        await backstage.client.putPackage(handle, name, digest, bytes);
      },
    });

    expect(await failedRun(ports)).toMatchObject({ code: 'materialization_failed', stage: 'materialize' });
  });

  it('a digest that the sandbox says is another', async () => {
    const ports = withClient({
      seal: async () => {
        throw new SandboxRefused('digest_mismatch', 'not the same');
      },
    });

    expect(await failedRun(ports)).toMatchObject({ code: 'digest_mismatch', stage: 'materialize' });
  });

  const lies: [string, (receipt: SealReceipt) => SealReceipt][] = [
    ['one too few', ({ packages, inputs }) => ({ packages: packages.slice(1), inputs })],
    [
      'one too many',
      ({ packages, inputs }) => ({
        packages: [...packages, { name: 'more', digest: packages[0]?.digest ?? '' }],
        inputs,
      }),
    ],
    ['one twice', ({ packages, inputs }) => ({ packages: [...packages, ...packages.slice(1)], inputs })],
    [
      'one with another digest',
      ({ packages, inputs }) => ({
        packages: packages.map((p) => ({ ...p, digest: `sha256:${'0'.repeat(64)}` })),
        inputs,
      }),
    ],
  ];
  it.each(lies)('a receipt with %s', async (_name, lie) => {
    const ports = withClient({
      seal: async (handle, request) => lie(await backstage.client.seal(handle, request)),
    });

    expect(await failedRun(ports)).toMatchObject({ code: 'digest_mismatch', stage: 'materialize' });
  });
});

describe('inputs', () => {
  it('are put at their paths and sealed with the packages', async () => {
    const process = startProcess(backstage);
    const { artifact_id, sha256 } = await process.inputs.create(
      FINGERPRINT,
      Buffer.from([0, 255]),
      'image/png',
    );

    const run = await process.run({ ...SCRIPT_RUN, inputs: [{ artifact_id, path: 'in/a.bin' }] });

    expect(run.status).toBe('succeeded');
    const [task] = backstage.sandboxes.tasks.values();
    expect([...(task?.inputs ?? [])]).toEqual([['in/a.bin', sha256]]);
  });

  it('that are gone from the store fail the run', async () => {
    const { artifact_id } = await startProcess(backstage).inputs.create(FINGERPRINT, Buffer.from('x'), 'a/b');
    const objects = { ...backstage.objects, get: async () => undefined };

    const failure = await failedRun({ objects }, { ...SCRIPT_RUN, inputs: [{ artifact_id, path: 'a' }] });

    expect(failure).toMatchObject({ code: 'materialization_failed', stage: 'materialize' });
  });
});

describe('after the manifest is pinned', () => {
  it('an update, a deletion or a disabling changes nothing for the run', async () => {
    const process = startProcess(backstage, { orchestrator: 'none' });
    const { run_id } = await process.runs.create(FINGERPRINT, createRunSchema.parse(SCRIPT_RUN));
    await process.steps.pinManifest({ fingerprint: FINGERPRINT, run_id });
    const before = await process.runs.getManifest(FINGERPRINT, run_id);
    await publishSkill(backstage, 'report', { 'scripts/run.sh': '#!/bin/sh\necho changed\n' });
    await putAgent(backstage, { skills: [] });

    await process.resume();

    const run = await expectRunClosed(backstage, process, run_id);
    expect(run.status).toBe('succeeded');
    expect(await process.runs.getManifest(FINGERPRINT, run_id)).toEqual(before);
    const [task] = backstage.sandboxes.tasks.values();
    expect([...(task?.packages ?? [])].map(([name, digest]) => ({ name, digest }))).toEqual(
      before.manifest.packages.map(({ name, digest }) => ({ name, digest })),
    );
  });
});

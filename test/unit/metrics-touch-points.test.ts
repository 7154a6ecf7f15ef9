/** Where each metric is counted, and that none says who or what it was about. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handler as finish } from '../../functions/run-steps/finish.ts';
import { createRunSchema } from '../../shared/contracts/run.ts';
import { CognitionError } from '../../shared/domain/cognition-error.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import type { Measurement } from '../../shared/ports/metrics.ts';
import { fakeServices, SCOPE } from '../support/api-fakes.ts';
import { call } from '../support/api-requests.ts';
import { createRequest, openRegistries } from '../support/package-builders.ts';
import {
  type Backstage,
  createBackstage,
  FINGERPRINT,
  publishSkill,
  putAgent,
  refOf,
  SCRIPT_RUN,
  startProcess,
} from '../support/run-world.ts';

const names = (added: readonly Measurement[]) => added.map(({ name }) => name);
const REQUEST = createRunSchema.parse(SCRIPT_RUN);

describe('a run', () => {
  let backstage: Backstage;
  beforeEach(async () => {
    backstage = createBackstage();
    await publishSkill(backstage);
    await putAgent(backstage);
  });

  it('counts its launch, what it was given, its outcome and its sandbox, and nothing twice', async () => {
    const process = startProcess(backstage);

    const { timings, status } = await process.run(SCRIPT_RUN);

    const { added, named } = process.metrics;
    expect(names(added)).toEqual([
      'PackageCacheMisses',
      'PackageCacheHits',
      'SandboxLaunchLatency',
      'MaterializationLatency',
      'MaterializationBytes',
      'RunsFinished',
      'RunDuration',
      'SandboxesStopped',
    ]);
    expect(named('PackageCacheHits')).toEqual([
      { name: 'PackageCacheHits', backend: backstage.packages.backend },
    ]);
    expect(named('RunsFinished')).toEqual([{ name: 'RunsFinished', outcome: status }]);
    const took = Date.parse(timings.finished_at ?? '') - Date.parse(timings.queued_at);
    expect(named('RunDuration')).toEqual([{ name: 'RunDuration', value: took }]);
    const [task] = backstage.sandboxes.tasks.values();
    const digest = [...(task?.packages.values() ?? [])][0] ?? '';
    const bytes = await backstage.packages.fetch(FINGERPRINT, digest);
    expect(named('MaterializationBytes')).toEqual([
      { name: 'MaterializationBytes', value: bytes?.byteLength },
    ]);
    expect(JSON.stringify(added)).not.toContain(FINGERPRINT);
  });

  it('is counted with the status and the code that it ends with, by the step that ended it alone', async () => {
    backstage.sandboxes.script = { exit_code: 3 };
    const process = startProcess(backstage);

    const run = await process.run(SCRIPT_RUN);
    await finish(refOf(run));
    await process.steps.recordFailure(refOf(run), { code: 'internal_error', message: '' });
    await process.steps.teardown(refOf(run));

    expect(process.metrics.named('RunsFinished')).toEqual([{ name: 'RunsFinished', outcome: 'failed' }]);
    expect(process.metrics.named('RunFailures')).toEqual([{ name: 'RunFailures', code: 'script_failed' }]);
    expect(process.metrics.named('SandboxesStopped')).toHaveLength(1);
  });

  it('in a pooled sandbox waited for no launch', async () => {
    const process = startProcess(backstage, { poolSize: 1 });
    await process.pool.fill();

    await process.run(SCRIPT_RUN);

    expect(process.metrics.named('SandboxLaunchLatency')).toEqual([]);
    expect(process.metrics.named('SandboxesStopped')).toHaveLength(1);
    await process.pool.drain();
  });

  it('whose sandbox will not stop is a teardown failure, and one for the reaper', async () => {
    const provisioner = {
      ...backstage.provisioner,
      stop: async () => {
        throw new TransientError('busy');
      },
    };
    const process = startProcess(backstage, { ports: { provisioner } });

    await process.run(SCRIPT_RUN);
    backstage.clock.advance(600_000);
    const after = startProcess(backstage);
    await after.reaper.reap();

    expect(process.metrics.named('SandboxTeardownFailures')).toHaveLength(1);
    expect(process.metrics.named('SandboxesStopped')).toEqual([]);
    expect(after.metrics.added).toEqual([{ name: 'SandboxesReaped' }]);
  });

  it('with a package that is not what was pinned is a digest failure', async () => {
    let fetches = 0;
    const packages = {
      ...backstage.packages,
      fetch: async (fingerprint: string, digest: string) => {
        fetches += 1;
        const bytes = await backstage.packages.fetch(fingerprint, digest);
        return fetches === 1 || bytes === undefined ? bytes : Buffer.concat([bytes, Buffer.from('!')]);
      },
    };
    const process = startProcess(backstage, { ports: { packages } });

    const run = await process.run(SCRIPT_RUN);

    expect(run.failure?.code).toBe('digest_mismatch');
    expect(process.metrics.named('DigestFailures')).toHaveLength(1);
    expect(process.metrics.named('MaterializationLatency')).toEqual([]);
  });

  it('that was cancelled before it began is counted as cancelled', async () => {
    const process = startProcess(backstage, { orchestrator: 'none' });
    const run = refOf(await process.runs.create(FINGERPRINT, REQUEST));
    await process.runs.cancel(FINGERPRINT, run.run_id);

    await process.steps.recordFailure(run, { code: 'run_cancelled', message: '' });

    expect(process.metrics.named('RunsFinished')).toEqual([{ name: 'RunsFinished', outcome: 'cancelled' }]);
  });
});

describe('a publication', () => {
  let world: Awaited<ReturnType<typeof openRegistries>>;
  beforeEach(async () => {
    world = await openRegistries();
  });
  afterEach(() => world.close());

  it('fails where the store does, not where the package or the request is at fault', async () => {
    const broken = world.registry({
      packages: (packages) => ({
        ...packages,
        put: async () => {
          throw new CognitionError('storage_full', 'full');
        },
      }),
    });
    const put = (files: Record<string, string>) =>
      broken.put(FINGERPRINT, 'one', createRequest('one', files), {});

    await expect(broken.create(FINGERPRINT, createRequest('one'))).rejects.toThrow('full');
    await expect(put({})).rejects.toThrow('full');
    expect(world.metrics.named('PublicationFailures')).toHaveLength(2);

    await world.skills.create(FINGERPRINT, createRequest('one'));
    await expect(world.skills.create(FINGERPRINT, createRequest('one'))).rejects.toThrow('exists');
    await expect(put({ '../a': '' })).rejects.toMatchObject({ code: 'invalid_package' });
    await expect(
      world.skills.put(FINGERPRINT, 'one', createRequest('one'), { if_match: 'x' }),
    ).rejects.toThrow();
    expect(world.metrics.named('PublicationFailures')).toHaveLength(2);
  });
});

describe('a request', () => {
  it('for a scope that its principal may not assert is counted, and says nothing of either', async () => {
    const { metrics } = fakeServices();

    const ref = encodeScopeRef({ ...SCOPE, project: 'other' });
    expect((await call('getSkill', { ref, params: { name: 'a' } })).status).toBe(403);

    expect(metrics.added).toEqual([{ name: 'ScopeDenied' }]);
  });

  it('for bytes that are not what they should be is a digest failure', async () => {
    const { metrics } = fakeServices({
      skills: {
        get: async () => {
          throw new CognitionError('digest_mismatch', 'other bytes');
        },
      },
    });

    expect((await call('getSkill', { params: { name: 'a' } })).status).toBe(500);

    expect(metrics.added).toEqual([{ name: 'DigestFailures' }]);
  });
});

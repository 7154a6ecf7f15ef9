import { beforeEach, describe, expect, it } from 'vitest';
import type { OutputList } from '../../shared/contracts/daemon.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { type SandboxClient, SandboxRefused } from '../../shared/ports/sandbox-client.ts';
import { selectOutputs } from '../../shared/services/runs/select-outputs.ts';
import { expectRunClosed } from '../support/run-invariants.ts';
import {
  type Backstage,
  createBackstage,
  FINGERPRINT,
  publishSkill,
  putAgent,
  SCRIPT_RUN,
  startProcess,
} from '../support/run-world.ts';

let backstage: Backstage;
beforeEach(async () => {
  backstage = createBackstage();
  await publishSkill(backstage);
  await putAgent(backstage);
});

/** A run whose sandbox lists what the test says, and gives `content` for each file. */
async function runWith(list: Partial<OutputList>, client: Partial<SandboxClient> = {}, request = {}) {
  const process = startProcess(backstage, {
    ports: {
      client: {
        ...backstage.client,
        listOutputs: async () => ({ files: [], refused: [], truncated: false, ...list }),
        getOutput: async (_handle, path) => Buffer.from(`content of ${path}`),
        ...client,
      },
    },
  });
  const { run_id } = await process.run({ ...SCRIPT_RUN, ...request });
  const run = await expectRunClosed(backstage, process, run_id);
  return { process, run, artifacts: await process.runs.listArtifacts(FINGERPRINT, run_id) };
}
const fileOf = (path: string) => ({ path, size_bytes: Buffer.byteLength(`content of ${path}`) });

describe('outputs that are kept', () => {
  it('can be fetched with the hash that was computed here', async () => {
    const { process, run, artifacts } = await runWith({ files: [fileOf('a.txt'), fileOf('d/.b')] });

    expect(artifacts.map(({ path }) => path)).toEqual(['a.txt', 'd/.b']);
    const got = await process.runs.getArtifact(FINGERPRINT, run.run_id, 'd/.b');
    expect(got).toMatchObject({ kind: 'bytes', sha256: artifacts[1]?.sha256 });
    if (got.kind === 'bytes') expect(Buffer.from(got.bytes).toString()).toBe('content of d/.b');
  });

  it('above the response limit are answered with a download URL', async () => {
    const big = Buffer.alloc(LIMITS.responseBodyBytes + 1);
    const { process, run } = await runWith(
      { files: [{ path: 'big', size_bytes: big.length }] },
      { getOutput: async () => big },
    );

    const got = await process.runs.getArtifact(FINGERPRINT, run.run_id, 'big');

    expect(got).toMatchObject({ kind: 'download', size_bytes: big.length });
  });

  it('are no one else’s: another scope and another path get the same not-found', async () => {
    const { process, run } = await runWith({ files: [fileOf('a.txt')] });

    const foreign = process.runs.getArtifact('b'.repeat(52), run.run_id, 'a.txt');
    const missing = process.runs.getArtifact(FINGERPRINT, run.run_id, 'b.txt');

    await expect(foreign).rejects.toMatchObject({ code: 'not_found' });
    await expect(missing).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are those that a glob matches, dot files too; a glob that matches nothing is a warning', async () => {
    const files = ['out/a.json', 'out/.b.json', 'out/c.txt', 'd.json'].map(fileOf);

    const { artifacts, run } = await runWith({ files }, {}, { outputs: ['out/*.json', '*.svg'] });

    expect(artifacts.map(({ path }) => path)).toEqual(['out/.b.json', 'out/a.json']);
    expect(run.warnings).toEqual(['the output glob "*.svg" matched nothing']);
    expect(run.status).toBe('succeeded');
  });

  it('are recorded over several transactions when there are many', async () => {
    const files = Array.from({ length: 200 }, (_, n) => fileOf(`f${String(n).padStart(3, '0')}`));

    const { artifacts, run } = await runWith({ files });

    expect(artifacts).toHaveLength(200);
    expect(run.artifact_count).toBe(200);
  });
});

describe('outputs that are refused are listed with a reason, and the others are kept', () => {
  it('over the cap of files, and over the cap of bytes', async () => {
    const many = Array.from({ length: 260 }, (_, n) => fileOf(`f${String(n).padStart(3, '0')}`));

    const { artifacts, run } = await runWith({ files: many });

    expect(run).toMatchObject({ status: 'succeeded', artifact_count: 256 });
    expect(artifacts.filter(({ refused }) => refused !== undefined).map(({ path }) => path)).toEqual([
      'f256',
      'f257',
      'f258',
      'f259',
    ]);
    const caps = { stream_bytes: 1, output_files: 9, output_bytes: 10 };
    const sized = ['a', 'b', 'c'].map((path) => ({ path, size_bytes: 6 }));
    const { outputs } = selectOutputs(
      { files: sized, refused: [], truncated: false },
      { outputs: null, caps },
    );
    expect(outputs.map(({ refused }) => refused === undefined)).toEqual([true, false, false]);
  });

  it('by the daemon, such as links and pipes', async () => {
    const { artifacts, run } = await runWith({
      files: [fileOf('ok.txt')],
      refused: [{ path: 'leak.txt', reason: 'a symbolic\u001blink' }],
    });

    expect(artifacts).toMatchObject([{ path: 'leak.txt', refused: 'a symbolic link' }, { path: 'ok.txt' }]);
    expect(run.artifact_count).toBe(1);
    expect(artifacts[0]?.artifact_id).toBeUndefined();
  });

  it.each([
    ['that climbs', '../up'],
    ['that is absolute', '/etc/passwd'],
    ['that climbs on the way', 'a/../b'],
    ['with an empty segment', 'a//b'],
    ['with a NUL', 'a\u0000b'],
    ['with a line break', 'a\nb'],
    ['with a lone surrogate', '\ud800'],
    ['that is empty', ''],
    ['that is too long', 'x'.repeat(600)],
  ])('under a name that is safe to show, when they have a path %s', async (_name, path) => {
    const { artifacts, run } = await runWith({ files: [{ path, size_bytes: 1 }] });

    expect(run).toMatchObject({ status: 'succeeded', artifact_count: 0 });
    expect(artifacts).toHaveLength(1);
    expect(artifacts[0]?.refused).toBeDefined();
    expect(artifacts[0]?.path).not.toMatch(/[\u0000-\u001f\ud800]/);
  });

  it('when a file is not as long as it was said to be, or is gone', async () => {
    const { artifacts } = await runWith(
      { files: [fileOf('a'), fileOf('b'), fileOf('c')] },
      {
        getOutput: async (_handle, path) => {
          if (path === 'b') throw new SandboxRefused('too_large', 'it grew');
          return Buffer.from(path === 'a' ? 'short' : `content of ${path}`);
        },
      },
    );

    expect(artifacts.map(({ refused }) => refused === undefined)).toEqual([false, false, true]);
  });

  it('when there are thousands, by their number', async () => {
    const refused = Array.from({ length: 1_000 }, (_, n) => ({ path: `p${n}`, reason: 'a pipe' }));

    const { artifacts, run } = await runWith({ refused, truncated: true });

    expect(artifacts).toHaveLength(256);
    expect(run.warnings).toEqual([
      expect.stringContaining('744 more'),
      expect.stringContaining('more than 4096'),
    ]);
  });

  it('once, when a daemon lists a path twice', async () => {
    const { artifacts } = await runWith({
      files: [fileOf('a'), fileOf('a')],
      refused: [{ path: 'a', reason: 'x' }],
    });

    expect(artifacts).toHaveLength(1);
  });
});

describe('a daemon that is hostile', () => {
  it('and does not keep to the protocol fails the collection', async () => {
    const { run } = await runWith(
      { files: [fileOf('a')] },
      {
        getOutput: async () => {
          throw new SandboxRefused('protocol', 'a redirect');
        },
      },
    );

    expect(run).toMatchObject({ status: 'failed', failure: { code: 'collection_failed', stage: 'collect' } });
    expect(backstage.sandboxes.alive()).toEqual([]);
  });

  it('and names files to stall the matching of globs is cut off', async () => {
    const files = [fileOf('a'.repeat(250))];
    const glob = `${'*a'.repeat(30)}b`;

    const { run } = await runWith({ files }, {}, { outputs: [glob] });

    expect(run).toMatchObject({ status: 'failed', failure: { code: 'collection_failed' } });
  });

  it('and lists other files whenever it is asked again gets no more of them kept', async () => {
    let asked = 0;
    const { run, artifacts } = await runWith(
      {},
      {
        listOutputs: async () => {
          asked += 1;
          const files = Array.from({ length: 200 }, (_, n) =>
            fileOf(`${asked}-${String(n).padStart(3, '0')}`),
          );
          return { files, refused: [], truncated: false };
        },
        getOutput: async (_handle, path) => {
          if (asked === 1 && path.endsWith('-199')) throw new TransientError('no answer');
          return Buffer.from(`content of ${path}`);
        },
      },
    );

    expect(asked).toBe(2);
    expect(run.artifact_count).toBe(LIMITS.outputFiles);
    expect(artifacts.filter(({ refused }) => refused === undefined)).toHaveLength(LIMITS.outputFiles);
  });

  it('and ends the command late is asked again', async () => {
    let asked = 0;
    const { run } = await runWith(
      {},
      {
        listOutputs: async () => {
          asked += 1;
          if (asked === 1) throw new SandboxRefused('still_running', 'one process left');
          return { files: [], refused: [], truncated: false };
        },
      },
    );

    expect(run.status).toBe('succeeded');
  });
});

/** What goes into a run and comes out of it over HTTP: inputs, standard input, streams, outputs, downloads. */
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Api } from '../support/api.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { scopeWithAgent, scopeWithSkill, scriptRun, shellRun } from '../support/run-scope.ts';
import { freshApi } from '../support/scopes.ts';

const MiB = 1024 * 1024;
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const upload = (api: Api, body: Uint8Array<ArrayBuffer>, type = 'application/octet-stream') =>
  api.call('POST', '/artifacts', { body, headers: { 'content-type': type } });

interface Item {
  readonly path: string;
  readonly sha256?: string;
  readonly size_bytes: number;
  readonly refused?: string;
}
const artifacts = async (api: Api, runId: string): Promise<Item[]> =>
  (await api.get(`/runs/${runId}/artifacts`)).json.items;
const kept = (items: Item[]): string[] =>
  items.filter(({ refused }) => refused === undefined).map(({ path }) => path);

describe('POST /artifacts and GET /artifacts/{artifact_id}', () => {
  it('keep bytes and Content-Type, and say what they are', async () => {
    const api = freshApi();
    const bytes = new Uint8Array(randomBytes(1000));

    const created = await upload(api, bytes, 'image/png');

    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe(`artifacts/${created.json.artifact_id}`);
    expect(created.json).toMatchObject({
      size_bytes: 1000,
      sha256: sha256(bytes),
      content_type: 'image/png',
    });
    const fetched = await api.get(`/artifacts/${created.json.artifact_id}`);
    expect(fetched.bytes).toEqual(Buffer.from(bytes));
    expect(fetched.headers.get('content-type')).toBe('image/png');
    expect(fetched.headers.get('content-disposition')).toBe('attachment');
    expect(fetched.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('take an empty file, and refuse one over the limit of a request', async () => {
    const api = freshApi();

    const empty = await upload(api, new Uint8Array(0));

    expect(empty.json).toMatchObject({ size_bytes: 0 });
    expect((await api.get(`/artifacts/${empty.json.artifact_id}`)).bytes).toHaveLength(0);
    expectProblem(await upload(api, new Uint8Array(4 * MiB + 1)), 413, 'body_too_large');
    expectProblem(await api.get(`/artifacts/${'0'.repeat(26)}`), 404, 'not_found');
    expectProblem(await api.get('/artifacts/nonsense'), 404, 'not_found');
  });
});

describe('inputs', () => {
  it('lie below /workspace/inputs, byte for byte and read-only, and are pinned by hash', async () => {
    const api = await scopeWithAgent();
    const bytes = new Uint8Array(randomBytes(50_000));
    const { artifact_id } = (await upload(api, bytes)).json;
    const look =
      'cd /workspace/inputs && sha256sum a/b.bin c && ! echo x >> c && ! rm -f c && ! touch new && echo held';

    const run = (
      await api.run(
        shellRun(look, {
          inputs: [
            { artifact_id, path: 'a/b.bin' },
            { artifact_id, path: 'c' },
          ],
        }),
      )
    ).json;

    const hash = sha256(bytes);
    expect(run.stdout).toBe(`${hash}  a/b.bin\n${hash}  c\nheld\n`);
    const { manifest } = (await api.get(`/runs/${run.run_id}/manifest`)).json;
    expect(manifest.inputs).toEqual([
      { artifact_id, path: 'a/b.bin', sha256: hash, size_bytes: 50_000 },
      { artifact_id, path: 'c', sha256: hash, size_bytes: 50_000 },
    ]);
  });

  it('of another scope are not found', async () => {
    const { artifact_id } = (await upload(freshApi(), new Uint8Array(3))).json;
    const api = await scopeWithAgent();

    const answer = await api.post('/runs', shellRun('true', { inputs: [{ artifact_id, path: 'x' }] }));

    expectProblem(answer, 404, 'not_found');
  });
});

describe('outputs', () => {
  it('left out mean everything below /outputs; empty files count, hashes are right', async () => {
    const api = await scopeWithAgent();

    const run = (
      await api.run(shellRun('cd $OUTPUT_DIR; mkdir -p d/e; echo x > d/e/f; : > .dot; echo é > "a b"'))
    ).json;

    const items = await artifacts(api, run.run_id);
    expect(kept(items)).toEqual(['.dot', 'a b', 'd/e/f']);
    expect(run.artifact_count).toBe(3);
    for (const { path, sha256: hash, size_bytes } of items) {
      const { bytes } = await api.get(`/runs/${run.run_id}/artifacts?path=${encodeURIComponent(path)}`);
      expect([sha256(bytes), bytes.length], path).toEqual([hash, size_bytes]);
    }
    expectProblem(await api.get(`/runs/${run.run_id}/artifacts?path=nope`), 404, 'not_found');
  });

  it('are chosen by globs, and one that matches nothing is a warning', async () => {
    const api = await scopeWithAgent();
    const line = 'cd /outputs; mkdir d; for f in a.json b.txt d/c.json d/.e.json; do echo x > $f; done';

    const run = (await api.run(shellRun(line, { outputs: ['*.json', 'd/**', 'report.*'] }))).json;

    expect(run.status).toBe('succeeded');
    expect(kept(await artifacts(api, run.run_id))).toEqual(['a.json', 'd/.e.json', 'd/c.json']);
    expect(run.warnings).toHaveLength(1);
    expect(run.warnings[0]).toContain('report.*');
  });

  it('of an empty list of globs are none', async () => {
    const api = await scopeWithAgent();

    const run = (await api.run(shellRun('echo x > /outputs/x', { outputs: [] }))).json;

    expect(await artifacts(api, run.run_id)).toEqual([]);
  });

  it('of a failed script are kept too', async () => {
    const api = await scopeWithAgent();

    const run = (await api.run(shellRun('echo x > /outputs/x; exit 3'))).json;

    expect(run).toMatchObject({ status: 'failed', exit_code: 3, artifact_count: 1 });
    expect(kept(await artifacts(api, run.run_id))).toEqual(['x']);
  });

  it('over 256 files are refused one by one with the limit, the first ones kept', async () => {
    const api = await scopeWithAgent();

    const run = (await api.run(shellRun('cd /outputs; for n in $(seq 1000 1257); do : > $n; done'))).json;

    const items = await artifacts(api, run.run_id);
    expect(run).toMatchObject({ status: 'succeeded', artifact_count: 256 });
    expect(kept(items)).toHaveLength(256);
    const refused = items.filter((item) => item.refused !== undefined);
    expect(refused.map(({ path }) => path)).toEqual(['1256', '1257']);
    expect(refused[0]?.refused).toContain('256');
  });

  it('over 64 MiB together are refused with the limit', async () => {
    const api = await scopeWithAgent();

    const run = (
      await api.run(shellRun('cd /outputs; truncate -s 40M a; truncate -s 25M b; truncate -s 1M c'))
    ).json;

    const items = await artifacts(api, run.run_id);
    expect(run.status).toBe('succeeded');
    expect(kept(items)).toEqual(['a', 'c']);
    expect(items.find(({ path }) => path === 'b')?.refused).toContain('67108864');
  });
});

describe('an artifact over 4 MiB', () => {
  it('is answered with a download_url whose bytes have the sha256; forged or unknown ones are refused', async () => {
    const api = await scopeWithAgent();
    const line = `head -c ${6 * MiB} /dev/urandom > /outputs/big.bin; sha256sum /outputs/big.bin | cut -c1-64`;
    const run = (await api.run(shellRun(line))).json;

    const answer = await api.get(`/runs/${run.run_id}/artifacts?path=big.bin`);

    const hash = run.stdout.trim();
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ sha256: hash, size_bytes: 6 * MiB });
    const seconds = (Date.parse(answer.json.expires_at) - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(61);
    const url: string = answer.json.download_url;
    const fetched = await fetch(url);
    expect(sha256(Buffer.from(await fetched.arrayBuffer()))).toBe(hash);
    expect(fetched.headers.get('content-disposition')).toMatch(/^attachment/);
    const middle = Math.floor(url.length / 2);
    const other = url[middle] === 'A' ? 'B' : 'A';
    const forged = url.slice(0, middle) + other + url.slice(middle + 1);
    expect((await fetch(forged)).status).toBeGreaterThanOrEqual(400);
    expect((await fetch(url.slice(0, -1))).status).toBeGreaterThanOrEqual(400);
  });

  it('of up to 4 MiB is answered with its bytes', async () => {
    const api = await scopeWithAgent();
    const run = (await api.run(shellRun(`truncate -s ${4 * MiB} /outputs/big.bin`))).json;

    const { bytes } = await api.get(`/runs/${run.run_id}/artifacts?path=big.bin`);

    expect(bytes).toHaveLength(4 * MiB);
  });
});

describe('streams', () => {
  it('over 256 KiB are cut on a whole character and say so; the other one is whole', async () => {
    const program = [
      'import sys',
      'sys.stdout.write("x" + "é☕" * 100_000)',
      'sys.stderr.write("fine\\n")',
    ].join('\n');
    const api = await scopeWithSkill({ 'scripts/x.py': program });

    const run = (await api.run(scriptRun('scripts/x.py'))).json;

    const size = Buffer.byteLength(run.stdout);
    expect(run).toMatchObject({ status: 'succeeded', stdout_truncated: true, stderr_truncated: false });
    expect(run.stderr).toBe('fine\n');
    expect(size).toBeLessThanOrEqual(262_144);
    expect(size).toBeGreaterThan(262_144 - 4);
    expect(`x${'é☕'.repeat(100_000)}`.startsWith(run.stdout)).toBe(true);
  });

  it('of exactly 256 KiB are whole', async () => {
    const api = await scopeWithAgent();

    const run = (await api.run(shellRun('head -c 262144 /dev/zero | tr "\\0" x'))).json;

    expect([run.stdout.length, run.stdout_truncated]).toEqual([262_144, false]);
  });

  it('of bytes that are no text arrive as text that says so', async () => {
    const api = await scopeWithAgent();

    const run = (await api.run(shellRun("printf 'a\\377b\\000c'"))).json;

    expect(run.stdout).toBe('a\ufffdb\0c');
  });
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { downloadSchema, skillDiffSchema } from '../../shared/contracts/skill.ts';
import { OBJECT_KEYS } from '../../shared/domain/row-keys.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import type { BytesOrDownload } from '../../shared/services/commit-with.ts';
import {
  createRequest,
  FINGERPRINT,
  failureOf,
  openRegistries,
  putRequest,
  type Registries,
} from '../support/package-builders.ts';
import { skillMd } from '../support/skill-files.ts';

let world: Registries;
beforeEach(async () => {
  world = await openRegistries();
});
afterEach(() => world.close());

const publish = async (files: Record<string, string>): Promise<string> =>
  (await world.skills.put(FINGERPRINT, 't1', putRequest('t1', files), {})).value.revision;

const bytesOf = (found: BytesOrDownload): Buffer => {
  if (found.kind !== 'bytes') throw new Error(found.kind);
  return Buffer.from(found.bytes);
};

describe('Reading a skill', () => {
  it('takes one read of the table', async () => {
    await publish({});
    let reads = 0;
    const counted = world.registry({
      table: (table) => ({
        get: (key) => {
          reads += 1;
          return table.get(key);
        },
        query: (pk, options) => table.query(pk, options),
        transact: (writes) => table.transact(writes),
      }),
    });

    await counted.get(FINGERPRINT, 't1');

    expect(reads).toBe(1);
  });

  it.each(['', 'T1', '../t1', 't1\0', '\ud800', 'x'.repeat(10_000), '__proto__'])(
    'called %j is not_found',
    async (name) => {
      expect(await failureOf(world.skills.get(FINGERPRINT, name))).toMatchObject({ code: 'not_found' });
    },
  );
});

describe('Files of a skill', () => {
  const texts = {
    'a/crlf.txt': 'a\r\nb',
    'nul.txt': 'a\0b',
    empty: '',
    __proto__x: '\ufeffbom',
    'é.md': 'e',
  };

  it('are listed with size and hash', async () => {
    await publish(texts);

    const { items } = await world.skills.listFiles(FINGERPRINT, 't1');

    const expected = Object.entries({ 'SKILL.md': skillMd('t1'), ...texts }).map(([path, text]) => ({
      path,
      size_bytes: Buffer.byteLength(text),
      sha256: sha256Hex(text),
    }));
    expect(items.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
      expected.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    );
  });

  it('are served as the exact bytes, also when their name is written in NFD', async () => {
    await publish(texts);

    for (const [path, text] of Object.entries({ ...texts, 'e\u0301.md': 'e' })) {
      const found = await world.skills.getFile(FINGERPRINT, 't1', path);
      expect(bytesOf(found).equals(Buffer.from(text))).toBe(true);
      expect(found.kind === 'bytes' && found.sha256).toBe(sha256Hex(text));
    }
  });

  it.each(['nope', '', './SKILL.md', '../SKILL.md', '/SKILL.md', 'skill.md', 'constructor'])(
    'do not include %j',
    async (path) => {
      await publish({});

      expect(await failureOf(world.skills.getFile(FINGERPRINT, 't1', path))).toMatchObject({
        code: 'not_found',
      });
    },
  );
});

describe('Large answers', () => {
  const large = { 'large.txt': 'x'.repeat(LIMITS.responseBodyBytes + 1) };

  it('of a package come as a download that expires', async () => {
    await publish(large);

    const found = await world.skills.getPackage(FINGERPRINT, 't1', 'canonical');

    const { kind, ...download } = found;
    expect(kind).toBe('download');
    const parsed = downloadSchema.parse(download);
    expect(Date.parse(parsed.expires_at) - world.clock.now()).toBe(LIMITS.downloadUrlSeconds * 1_000);
    const { value } = await world.skills.get(FINGERPRINT, 't1');
    expect(`sha256:${parsed.sha256}`).toBe(value.digest);
  });

  it('of one file, or of a store without downloads, are body_too_large with the fix', async () => {
    await publish(large);
    const plain = world.registry({
      packages: (packages) => ({ ...packages, downloadUrl: async () => undefined }),
    });

    const refused = { code: 'body_too_large', message: expect.stringContaining('canonical package') };
    expect(await failureOf(world.skills.getFile(FINGERPRINT, 't1', 'large.txt'))).toMatchObject(refused);
    expect(await failureOf(plain.getPackage(FINGERPRINT, 't1', 'canonical'))).toMatchObject(refused);
  });
});

describe('Bytes that are not what the digest says', () => {
  it('are never served, and come back with the same content', async () => {
    const { value } = await world.skills.create(FINGERPRINT, createRequest('t1', { a: '1' }));
    const bytes = Buffer.from('CSKPKG1\n');
    await world.objects.replace({
      key: OBJECT_KEYS.package(FINGERPRINT, value.digest),
      bytes,
      sha256: sha256Hex(bytes),
    });

    const calls = [
      world.skills.listFiles(FINGERPRINT, 't1'),
      world.skills.getFile(FINGERPRINT, 't1', 'a'),
      world.skills.getPackage(FINGERPRINT, 't1', 'canonical'),
      world.skills.getPackage(FINGERPRINT, 't1', 'zip'),
    ];
    const failures = await Promise.all(calls.map(failureOf));
    expect(failures).toMatchObject(Array(4).fill({ code: 'digest_mismatch' }));

    await publish({ a: '1' });
    expect(bytesOf(await world.skills.getFile(FINGERPRINT, 't1', 'a')).toString()).toBe('1');
  });
});

describe('The zip of a package', () => {
  const unzip = (zip: Buffer): string => {
    const folder = mkdtempSync(join(tmpdir(), 'cognition-zip-'));
    try {
      writeFileSync(join(folder, 'p.zip'), zip);
      return execFileSync(
        'python3',
        [
          '-c',
          'import sys,zipfile,json\nz=zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nprint(json.dumps([[i.filename,oct(i.external_attr>>16),z.read(i).decode(),i.date_time] for i in z.infolist()]))',
          join(folder, 'p.zip'),
        ],
        { encoding: 'utf8' },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it('opens elsewhere, with modes from the contents, below a directory of its name', async () => {
    await publish({ 'scripts/run': '#!/bin/sh\n', 'é 好.md': 'x', empty: '' });

    const zip = bytesOf(await world.skills.getPackage(FINGERPRINT, 't1', 'zip'));

    const time = [1980, 1, 1, 0, 0, 0];
    expect(JSON.parse(unzip(zip))).toEqual([
      ['t1/SKILL.md', '0o100644', skillMd('t1'), time],
      ['t1/empty', '0o100644', '', time],
      ['t1/scripts/run', '0o100755', '#!/bin/sh\n', time],
      ['t1/é 好.md', '0o100644', 'x', time],
    ]);
  });

  it('has the same bytes each time', async () => {
    await publish({ a: 'x'.repeat(1_000) });
    const first = bytesOf(await world.skills.getPackage(FINGERPRINT, 't1', 'zip'));
    world.clock.advance(3_600_000);

    expect(bytesOf(await world.registry().getPackage(FINGERPRINT, 't1', 'zip')).equals(first)).toBe(true);
  });
});

describe('The difference of two revisions', () => {
  it('tells files added, removed and changed, with unified diffs', async () => {
    const from = await publish({ gone: 'x\n', same: 's', text: 'one\ntwo\nthree\n' });
    const to = await publish({ new: 'y\n', same: 's', text: 'one\n2\nthree\n' });

    const diff = skillDiffSchema.parse(await world.skills.diff(FINGERPRINT, 't1', from));

    expect(diff).toMatchObject({ name: 't1', from, to });
    expect(diff.files.map(({ path, change }) => [path, change])).toEqual([
      ['gone', 'removed'],
      ['new', 'added'],
      ['text', 'changed'],
    ]);
    expect(diff.files[2]).toMatchObject({
      from_sha256: sha256Hex('one\ntwo\nthree\n'),
      to_sha256: sha256Hex('one\n2\nthree\n'),
    });
    expect(diff.files[2]?.diff).toContain('@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n');
    expect(diff.files[0]?.diff).toContain('-x');
    expect(diff.files[1]?.diff).toContain('+y');
  });

  it('goes both ways, and is empty for equal content', async () => {
    const from = await publish({ a: '1' });
    const to = await publish({ b: '1' });

    const back = await world.skills.diff(FINGERPRINT, 't1', to, from);
    expect(back.files.map(({ path, change }) => [path, change])).toEqual([
      ['a', 'added'],
      ['b', 'removed'],
    ]);
    expect((await world.skills.diff(FINGERPRINT, 't1', to)).files).toEqual([]);
  });

  it('shows no text of what is large, or of what differs everywhere', async () => {
    const lines = (seed: string): string =>
      Array.from({ length: 60_000 }, (_, index) => `${seed}${index % 9}`).join('\n');
    const from = await publish({ large: 'x', everywhere: lines('') });
    await publish({ large: 'x'.repeat(LIMITS.diffFileBytes + 1), everywhere: lines('y') });

    const { files } = await world.skills.diff(FINGERPRINT, 't1', from);

    expect(files.map(({ path, diff, diff_omitted }) => [path, diff, typeof diff_omitted])).toEqual([
      ['everywhere', undefined, 'string'],
      ['large', undefined, 'string'],
    ]);
  });

  it.each(['b', '\u0001'])('fits into an answer, however much changed: %j', async (text) => {
    const many = (character: string) =>
      Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, character.repeat(65_000)]));
    const from = await publish(many('\u0002'));
    await publish(many(text));

    const diff = await world.skills.diff(FINGERPRINT, 't1', from);

    expect(diff.files).toHaveLength(60);
    expect(JSON.stringify(diff).length).toBeLessThan(LIMITS.responseBodyBytes);
  });

  it('from a revision that is not there is not_found', async () => {
    await publish({});

    expect(await failureOf(world.skills.diff(FINGERPRINT, 't1', '01ARZ3NDEKTSV4RRFFQ69G5FAV'))).toMatchObject(
      { code: 'not_found' },
    );
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { putSkillSchema } from '../../shared/contracts/skill.ts';
import { packageDigest } from '../../shared/domain/canonical-package.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import { ConditionFailed } from '../../shared/ports/table-store.ts';
import { listedRows } from '../support/listed-rows.ts';
import {
  createRequest,
  FINGERPRINT,
  failureOf,
  OTHER_FINGERPRINT,
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

const page = { limit: 50 };
const create = (name = 't1', files: Record<string, string> = {}) =>
  world.skills.create(FINGERPRINT, createRequest(name, files));
const put = (files: Record<string, string>, enabled?: boolean, conditions = {}) =>
  world.skills.put(FINGERPRINT, 't1', putRequest('t1', files, enabled), conditions);
const textOf = async (path: string, revision?: string): Promise<string> => {
  const found = await world.skills.getFile(FINGERPRINT, 't1', path, revision);
  return found.kind === 'bytes' ? Buffer.from(found.bytes).toString() : found.kind;
};

describe('Creating a skill', () => {
  it('gives a skill that get, list and its revisions agree about', async () => {
    const created = await create('t1', { 'scripts/a.py': 'print(1)\n' });

    const read = await world.skills.get(FINGERPRINT, 't1');
    expect(read).toEqual(created);
    expect(created.value).toMatchObject({
      name: 't1',
      enabled: true,
      file_count: 2,
      validation_status: 'valid',
      warnings: [],
    });
    expect(created.value).not.toHaveProperty('skill_id');
    expect((await world.skills.list(FINGERPRINT, page)).items).toEqual([created.value]);
    const { enabled: _, updated_at: __, ...revision } = created.value;
    expect((await world.skills.listRevisions(FINGERPRINT, 't1', page)).items).toEqual([revision]);
    expect(await world.skills.getRevision(FINGERPRINT, 't1', created.value.revision)).toEqual(revision);
  });

  it('where the name is live is skill_exists, and nothing changes', async () => {
    const first = await create();

    expect(await failureOf(create('t1', { more: 'x' }))).toMatchObject({ code: 'skill_exists' });
    expect(await world.skills.get(FINGERPRINT, 't1')).toEqual(first);
  });

  it('with a bad package stores nothing and lists every problem', async () => {
    const failure = await failureOf(create('t1', { '/a': '', 'b\\c': '' }));

    expect(failure).toMatchObject({
      code: 'invalid_package',
      details: { problems: [{ code: 'path_absolute' }, { code: 'path_backslash' }] },
    });
    expect((await world.skills.list(FINGERPRINT, page)).items).toEqual([]);
    expect(await listedRows(world.table, KEYS.objectIndex())).toEqual([]);
  });

  it('with more bytes than the store takes is body_too_large and states the limit', async () => {
    const small = world.registry({ packages: (packages) => ({ ...packages, max_bytes: 1_000 }) });

    const failure = await failureOf(small.create(FINGERPRINT, createRequest('t1', { a: 'x'.repeat(1_000) })));

    expect(failure).toMatchObject({
      code: 'body_too_large',
      message: expect.stringContaining('at most 1000 '),
    });
  });

  it('commits the writes of its caller with it, built from the result', async () => {
    const created = await world.skills.create(FINGERPRINT, createRequest('t1'), (result) => [
      { kind: 'put', key: { pk: 'idem', sk: 'k' }, data: { etag: result.etag }, if: { absent: true } },
    ]);

    expect((await world.table.get({ pk: 'idem', sk: 'k' }))?.data).toEqual({ etag: created.etag });
  });

  it('surfaces a failed condition of its caller, by its index, and has not happened', async () => {
    await world.table.transact([{ kind: 'put', key: { pk: 'idem', sk: 'k' }, data: 1 }]);

    const failure = await failureOf(
      world.skills.create(FINGERPRINT, createRequest('t1'), () => [
        { kind: 'put', key: { pk: 'idem', sk: 'other' }, data: 2 },
        { kind: 'put', key: { pk: 'idem', sk: 'k' }, data: 2, if: { absent: true } },
      ]),
    );

    expect(failure).toBeInstanceOf(ConditionFailed);
    expect((failure as ConditionFailed).failed).toEqual([1]);
    expect(await failureOf(world.skills.get(FINGERPRINT, 't1'))).toMatchObject({ code: 'not_found' });
    expect(await world.table.get({ pk: 'idem', sk: 'other' })).toBeUndefined();
  });
});

describe('Putting a skill', () => {
  it('creates, then replaces with a new revision, and keeps the old one readable', async () => {
    const first = await put({ 'scripts/old.py': '1', 'scripts/new.py': '1' });
    const second = await put({ 'scripts/new.py': '2' });

    expect([first.created, second.created]).toEqual([true, false]);
    expect(second.value.created_at).toBe(first.value.created_at);
    const now = await world.skills.listFiles(FINGERPRINT, 't1');
    expect(now.items.map(({ path }) => path)).toEqual(['SKILL.md', 'scripts/new.py']);
    const before = await world.skills.listFiles(FINGERPRINT, 't1', first.value.revision);
    expect(before.items).toHaveLength(3);
    expect([await textOf('scripts/new.py'), await textOf('scripts/new.py', first.value.revision)]).toEqual([
      '2',
      '1',
    ]);
    const revisions = await world.skills.listRevisions(FINGERPRINT, 't1', page);
    expect(revisions.items.map(({ revision }) => revision)).toEqual([
      second.value.revision,
      first.value.revision,
    ]);
  });

  it('of equal content is the same revision with the same ETag', async () => {
    const first = await put({ a: '1' });

    expect(await put({ a: '1' })).toEqual({ ...first, created: false });
  });

  it('of equal content can change enabled, without a revision', async () => {
    const first = await put({ a: '1' });
    const second = await put({ a: '1' }, false);

    expect(second.value).toMatchObject({ enabled: false, revision: first.value.revision });
    expect(second.etag).not.toBe(first.etag);
    expect((await put({ a: '2' })).value.enabled).toBe(false);
  });

  it('takes content as a short form of SKILL.md', async () => {
    const request = putSkillSchema.parse({ content: skillMd('t1') });

    const { value } = await world.skills.put(FINGERPRINT, 't1', request, {});

    expect(value).toEqual({ ...(await put({})).value, updated_at: value.updated_at });
  });

  it('keeps warnings with the revision', async () => {
    const request = putSkillSchema.parse({ content: '---\nname: t1\ndescription: d\nversion: 1\n---\n' });

    const { value } = await world.skills.put(FINGERPRINT, 't1', request, {});

    expect(value).toMatchObject({
      validation_status: 'valid_with_warnings',
      warnings: [{ code: 'frontmatter_unknown_key', line: 4 }],
    });
  });

  it('honours If-Match and If-None-Match', async () => {
    const refused = { code: 'precondition_failed' };
    expect(await failureOf(put({}, undefined, { if_match: 'x' }))).toMatchObject(refused);
    const first = await put({}, undefined, { if_none_match: true });
    expect(await failureOf(put({ a: '1' }, undefined, { if_none_match: true }))).toMatchObject(refused);
    const second = await put({ a: '1' }, undefined, { if_match: first.etag });
    expect(await failureOf(put({ a: '2' }, undefined, { if_match: first.etag }))).toMatchObject(refused);
    expect(await failureOf(put({ a: '1' }, undefined, { if_match: first.etag }))).toMatchObject(refused);
    expect((await world.skills.get(FINGERPRINT, 't1')).etag).toBe(second.etag);
  });

  it('of equal content repairs bytes that were lost', async () => {
    const { value } = await put({ a: '1' });
    await world.packages.delete(FINGERPRINT, value.digest);
    const other = world.registry();
    expect(await failureOf(other.getPackage(FINGERPRINT, 't1', 'canonical'))).toMatchObject({
      code: 'package_unavailable',
    });

    await put({ a: '1' });

    expect(await other.getPackage(FINGERPRINT, 't1', 'canonical')).toMatchObject({ kind: 'bytes' });
  });
});

describe('ETags', () => {
  it('are new at every write, also when the clock stands still and when a skill is made again', async () => {
    const seen = [(await create()).etag];
    for (const enabled of [false, true, false]) {
      seen.push((await world.skills.patch(FINGERPRINT, 't1', { enabled }, {})).etag);
    }
    await world.skills.delete(FINGERPRINT, 't1', {});
    seen.push((await create()).etag);

    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe('Patching a skill', () => {
  it('rolls back by pointer, with everything that follows from the revision', async () => {
    const first = await put({ a: '1' });
    await put({ a: '2', b: '2' });

    const back = await world.skills.patch(FINGERPRINT, 't1', { current_revision: first.value.revision }, {});

    const { revision, digest, file_count, size_bytes } = first.value;
    expect(back.value).toMatchObject({
      revision,
      digest,
      file_count,
      size_bytes,
      created_at: first.value.created_at,
    });
    expect(await textOf('a')).toBe('1');
    expect((await world.skills.listRevisions(FINGERPRINT, 't1', page)).items).toHaveLength(2);
  });

  it('that changes nothing is no write', async () => {
    const first = await create();

    const request = { enabled: true, current_revision: first.value.revision };
    expect(await world.skills.patch(FINGERPRINT, 't1', request, {})).toEqual(first);
  });

  it.each([
    ['a revision that never was', '01ARZ3NDEKTSV4RRFFQ69G5FAV'],
    ['text that is no id', '../x'],
  ])('to %s is not_found', async (_, current_revision) => {
    await create();

    expect(await failureOf(world.skills.patch(FINGERPRINT, 't1', { current_revision }, {}))).toMatchObject({
      code: 'not_found',
    });
  });

  it('to a revision of another skill is not_found', async () => {
    await create();
    const { value } = await create('t2');

    const request = { current_revision: value.revision };
    expect(await failureOf(world.skills.patch(FINGERPRINT, 't1', request, {}))).toMatchObject({
      code: 'not_found',
    });
  });

  it('honours If-Match, on what is not there too', async () => {
    const refused = { code: 'precondition_failed' };
    const patch = (if_match: string) =>
      world.skills.patch(FINGERPRINT, 't1', { enabled: false }, { if_match });
    expect(await failureOf(patch('x'))).toMatchObject(refused);
    const { etag } = await create();
    await patch(etag);
    expect(await failureOf(patch(etag))).toMatchObject(refused);
  });
});

describe('Deleting a skill', () => {
  it('frees the name, with no old revisions, and leaves its id for the collector', async () => {
    const first = await create();
    await world.skills.delete(FINGERPRINT, 't1', { if_match: first.etag });
    expect(await failureOf(world.skills.get(FINGERPRINT, 't1'))).toMatchObject({ code: 'not_found' });
    expect((await world.skills.list(FINGERPRINT, page)).items).toEqual([]);

    const second = await create();

    expect((await world.skills.listRevisions(FINGERPRINT, 't1', page)).items).toHaveLength(1);
    expect(second.value.revision).not.toBe(first.value.revision);
    const gone = world.skills.getRevision(FINGERPRINT, 't1', first.value.revision);
    expect(await failureOf(gone)).toMatchObject({ code: 'not_found' });
    expect(await listedRows(world.table, KEYS.deletedSkills())).toHaveLength(1);
  });

  it('that is not there is not_found, with If-Match precondition_failed', async () => {
    expect(await failureOf(world.skills.delete(FINGERPRINT, 't1', {}))).toMatchObject({ code: 'not_found' });
    const conditional = world.skills.delete(FINGERPRINT, 't1', { if_match: 'x' });
    expect(await failureOf(conditional)).toMatchObject({ code: 'precondition_failed' });
  });

  it('with a stale If-Match leaves it', async () => {
    const { etag } = await create();
    await put({ a: '1' });

    const failure = await failureOf(world.skills.delete(FINGERPRINT, 't1', { if_match: etag }));

    expect(failure).toMatchObject({ code: 'precondition_failed' });
    expect((await world.skills.get(FINGERPRINT, 't1')).value.file_count).toBe(2);
  });
});

describe('Another scope', () => {
  it('sees nothing of a skill', async () => {
    const { value } = await create();
    const calls = [
      world.skills.get(OTHER_FINGERPRINT, 't1'),
      world.skills.listRevisions(OTHER_FINGERPRINT, 't1', page),
      world.skills.getRevision(OTHER_FINGERPRINT, 't1', value.revision),
      world.skills.listFiles(OTHER_FINGERPRINT, 't1'),
      world.skills.getFile(OTHER_FINGERPRINT, 't1', 'SKILL.md'),
      world.skills.getPackage(OTHER_FINGERPRINT, 't1', 'canonical'),
      world.skills.diff(OTHER_FINGERPRINT, 't1', value.revision),
      world.skills.patch(OTHER_FINGERPRINT, 't1', { enabled: false }, {}),
      world.skills.delete(OTHER_FINGERPRINT, 't1', {}),
    ];

    const failures = await Promise.all(calls.map(failureOf));

    expect(new Set(failures.map((failure) => (failure as { code: string }).code))).toEqual(
      new Set(['not_found']),
    );
    expect((await world.skills.list(OTHER_FINGERPRINT, page)).items).toEqual([]);
    expect(await world.packages.exists(OTHER_FINGERPRINT, value.digest)).toBe(false);
  });

  it('may have the same name and bytes, and loses neither when the first is deleted', async () => {
    await create();
    const other = await world.skills.create(OTHER_FINGERPRINT, createRequest('t1'));

    await world.skills.delete(FINGERPRINT, 't1', {});

    expect(await world.skills.get(OTHER_FINGERPRINT, 't1')).toEqual(other);
    expect(await world.packages.exists(OTHER_FINGERPRINT, other.value.digest)).toBe(true);
  });
});

describe('Validating', () => {
  it('tells all and stores nothing', async () => {
    const bad = createRequest('t1', { '/a': '' });
    const good = createRequest('t1');

    expect(world.skills.validate(bad)).toMatchObject({
      validation_status: 'invalid',
      file_count: 2,
      problems: [{ code: 'path_absolute' }],
    });
    const valid = world.skills.validate(good);
    expect(valid).toMatchObject({ validation_status: 'valid', problems: [] });
    expect(await listedRows(world.table, KEYS.objectIndex())).toEqual([]);
    expect((await create()).value.digest).toBe(valid.digest);
  });
});

describe('Lists', () => {
  it('page through everything once, in order', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `skill-${index}`);
    for (const name of names.toReversed()) await create(name);

    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const found = await world.skills.list(FINGERPRINT, {
        limit: 3,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...found.items.map(({ name }) => name));
      cursor = found.next_cursor;
    } while (cursor !== undefined);

    expect(seen).toEqual(names);
  });

  it.each([
    '',
    'x',
    'c2tpbGxz',
    Buffer.from('agents:t1').toString('base64url'),
    Buffer.from('skills:T_1').toString('base64url'),
    `${Buffer.from('skills:t1').toString('base64url')}=`,
  ])('refuse the cursor %j', async (cursor) => {
    expect(await failureOf(world.skills.list(FINGERPRINT, { limit: 3, cursor }))).toMatchObject({
      code: 'invalid_request',
    });
  });
});

describe('The digest of a skill', () => {
  it('is the hash of exactly the bytes that are served', async () => {
    const { value } = await create('t1', { 'a.bin': '\0\r\n\ufeff' });

    const served = await world.skills.getPackage(FINGERPRINT, 't1', 'canonical');

    if (served.kind !== 'bytes') throw new Error(served.kind);
    expect(packageDigest(served.bytes)).toBe(value.digest);
    expect(`sha256:${served.sha256}`).toBe(value.digest);
  });
});

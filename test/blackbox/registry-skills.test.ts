/** Skills over HTTP: every call of the API table with its statuses and headers. */
import { describe, expect, it } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { freshApi } from '../support/scopes.ts';
import { skillFiles, skillMd } from '../support/skill-files.ts';

const etagOf = (answer: { headers: Headers }): string => answer.headers.get('etag') ?? '';
const location = (url: string, answer: { headers: Headers }): string =>
  new URL(answer.headers.get('location') ?? '', url).pathname;

describe('POST /skills', () => {
  it('answers 201 with the skill, its ETag and where it is', async () => {
    const api = freshApi();

    const answer = await api.post('/skills', { name: 't1', files: skillFiles('t1', { 'a.txt': 'é' }) });

    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(etagOf(answer)).toMatch(/^"[\x21\x23-\x7e]+"$/);
    const skills = `${api.target.endpoint}/v1/scopes/x/skills`;
    expect(location(skills, answer)).toMatch(/\/v1\/scopes\/x\/skills\/t1$/);
    expect(answer.json).toEqual({
      name: 't1',
      description: 'Test skill one.',
      enabled: true,
      revision: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      file_count: 2,
      size_bytes: Buffer.byteLength(skillMd('t1')) + 2,
      validation_status: 'valid',
      warnings: [],
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
  });

  it('takes `content` for a package of SKILL.md alone: the same digest', async () => {
    const api = freshApi();

    const short = await api.post('/skills', { name: 't1', content: skillMd('t1') });
    const long = await freshApi().post('/skills', { name: 't1', files: { 'SKILL.md': skillMd('t1') } });

    expect(short.status).toBe(201);
    expect(short.json.digest).toBe(long.json.digest);
  });

  it('answers 409 where the name is live and changes nothing', async () => {
    const api = freshApi();
    const first = await api.post('/skills', { name: 't1', content: skillMd('t1') });

    const second = await api.post('/skills', { name: 't1', content: skillMd('t1', 'Another.') });

    expectProblem(second, 409, 'skill_exists');
    expect((await api.get('/skills/t1')).json).toEqual(first.json);
  });

  it('keeps warnings with the skill and does not refuse for them', async () => {
    const api = freshApi();
    const content = '---\nname: t1\ndescription: Test.\nallowed-tools: [a, b]\nfuture: 1\n---\n';

    const answer = await api.post('/skills', { name: 't1', content });

    expect(answer.status).toBe(201);
    expect(answer.json.validation_status).toBe('valid_with_warnings');
    const codes = answer.json.warnings.map((warning: { code: string }) => warning.code).toSorted();
    expect(codes).toEqual(['frontmatter_allowed_tools_list', 'frontmatter_unknown_key']);
    expect((await api.get('/skills/t1')).json.warnings).toEqual(answer.json.warnings);
  });

  it('can publish a skill that is disabled from the start', async () => {
    const api = freshApi();

    const answer = await api.post('/skills', { name: 't1', content: skillMd('t1'), enabled: false });

    expect(answer.json.enabled).toBe(false);
  });
});

describe('PUT /skills/{name}', () => {
  it('creates with 201, replaces with 200, and makes a new revision and ETag each time', async () => {
    const api = freshApi();

    const created = await api.put('/skills/t1', { files: skillFiles('t1') });
    const replaced = await api.put('/skills/t1', { files: skillFiles('t1', { a: '1' }) });

    expect([created.status, replaced.status]).toEqual([201, 200]);
    const url = `${api.target.endpoint}/v1/scopes/x/skills/t1`;
    expect(location(url, created)).toBe(new URL(url).pathname);
    expect(replaced.json.revision).not.toBe(created.json.revision);
    expect(etagOf(replaced)).not.toBe(etagOf(created));
    expect(replaced.json.created_at).toBe(created.json.created_at);
    expect(replaced.json.updated_at >= created.json.updated_at).toBe(true);
  });

  it('with content equal to the current revision is 200 with the same revision', async () => {
    const api = freshApi();
    const created = await api.put('/skills/t1', { files: skillFiles('t1', { a: '1', b: '2' }) });

    const again = await api.put('/skills/t1', { files: { b: '2', ...skillFiles('t1', { a: '1' }) } });

    expect(again.status).toBe(200);
    expect(again.json).toEqual(created.json);
    expect((await api.get('/skills/t1/revisions')).json.items).toHaveLength(1);
  });

  it('leaves `enabled` as it is when it is left out', async () => {
    const api = freshApi();
    await api.put('/skills/t1', { files: skillFiles('t1'), enabled: false });

    const silent = await api.put('/skills/t1', { files: skillFiles('t1', { a: '1' }) });
    const spoken = await api.put('/skills/t1', { files: skillFiles('t1', { a: '1' }), enabled: true });

    expect(silent.json.enabled).toBe(false);
    expect(spoken.json).toMatchObject({ enabled: true, revision: silent.json.revision });
  });

  it('takes the current ETag in If-Match, and refuses a stale one with 412', async () => {
    const api = freshApi();
    const first = etagOf(await api.put('/skills/t1', { files: skillFiles('t1') }));

    const good = await api.put('/skills/t1', { files: skillFiles('t1', { a: '1' }) }, { 'if-match': first });
    const stale = await api.put('/skills/t1', { files: skillFiles('t1', { a: '2' }) }, { 'if-match': first });

    expect(good.status).toBe(200);
    expectProblem(stale, 412, 'precondition_failed');
    expect((await api.get('/skills/t1/files?path=a')).bytes.toString()).toBe('1');
  });

  it('with If-Match on what is not there is 412, with If-None-Match: * on what is there too', async () => {
    const api = freshApi();
    const anyTag = { 'if-match': '"nothing"' };

    const missing = await api.put('/skills/t1', { files: skillFiles('t1') }, anyTag);
    const created = await api.put('/skills/t1', { files: skillFiles('t1') }, { 'if-none-match': '*' });
    const there = await api.put('/skills/t1', { files: skillFiles('t1') }, { 'if-none-match': '*' });

    expectProblem(missing, 412, 'precondition_failed');
    expect(created.status).toBe(201);
    expectProblem(there, 412, 'precondition_failed');
  });
});

describe('PATCH /skills/{name}', () => {
  it('switches `enabled` without a new revision and with a new ETag', async () => {
    const api = freshApi();
    const created = await api.put('/skills/t1', { files: skillFiles('t1') });

    const patched = await api.patch('/skills/t1', { enabled: false });

    expect(patched.status).toBe(200);
    expect(patched.json).toMatchObject({ enabled: false, revision: created.json.revision });
    expect(etagOf(patched)).not.toBe(etagOf(created));
    expect(etagOf(await api.get('/skills/t1'))).toBe(etagOf(patched));
  });

  it('rolls back by pointer: the old bytes again, no new revision', async () => {
    const api = freshApi();
    const one = await api.put('/skills/t1', { files: skillFiles('t1', { a: 'one' }) });
    const two = await api.put('/skills/t1', { files: skillFiles('t1', { a: 'two', b: 'more' }) });

    const back = await api.patch('/skills/t1', { current_revision: one.json.revision });

    expect(back.status).toBe(200);
    expect(back.json).toMatchObject({
      revision: one.json.revision,
      digest: one.json.digest,
      file_count: one.json.file_count,
    });
    expect((await api.get('/skills/t1/files?path=a')).bytes.toString()).toBe('one');
    expect((await api.get('/skills/t1/revisions')).json.items).toHaveLength(2);
    const forward = await api.patch('/skills/t1', { current_revision: two.json.revision });
    expect(forward.json.digest).toBe(two.json.digest);
  });

  it('to a revision that is not there, or is another skill’s, is 404', async () => {
    const api = freshApi();
    await api.publish('t1', skillFiles('t1'));
    const other = await api.publish('t2', skillFiles('t2'));

    const foreign = await api.patch('/skills/t1', { current_revision: other.json.revision });
    const missing = await api.patch('/skills/t1', { current_revision: '0'.repeat(26) });

    expectProblem(foreign, 404, 'not_found');
    expectProblem(missing, 404, 'not_found');
  });

  it('honours If-Match, also on what is not there', async () => {
    const api = freshApi();
    const tag = etagOf(await api.publish('t1', skillFiles('t1')));
    await api.patch('/skills/t1', { enabled: false });

    expectProblem(
      await api.patch('/skills/t1', { enabled: true }, { 'if-match': tag }),
      412,
      'precondition_failed',
    );
    expectProblem(
      await api.patch('/skills/t9', { enabled: true }, { 'if-match': tag }),
      412,
      'precondition_failed',
    );
    expectProblem(await api.patch('/skills/t9', { enabled: true }), 404, 'not_found');
  });
});

describe('DELETE /skills/{name}', () => {
  it('answers 204 without a body; after it every read is 404', async () => {
    const api = freshApi();
    const { revision } = (await api.publish('t1', skillFiles('t1'))).json;

    const deleted = await api.delete('/skills/t1');

    expect(deleted.status).toBe(204);
    expect(deleted.bytes).toHaveLength(0);
    for (const path of [
      '',
      '/revisions',
      `/revisions/${revision}`,
      '/files',
      '/package',
      `/diff?from=${revision}`,
    ]) {
      expect((await api.get(`/skills/t1${path}`)).status, path).toBe(404);
    }
    expect((await api.get('/skills')).json).toEqual({ items: [] });
  });

  it('of what is not there is 404; with a stale If-Match 412, and with one on what is not there too', async () => {
    const api = freshApi();
    const tag = etagOf(await api.publish('t1', skillFiles('t1')));
    await api.patch('/skills/t1', { enabled: false });

    expectProblem(await api.delete('/skills/t9'), 404, 'not_found');
    expectProblem(await api.delete('/skills/t1', { 'if-match': tag }), 412, 'precondition_failed');
    expectProblem(await api.delete('/skills/t9', { 'if-match': tag }), 412, 'precondition_failed');
    expect((await api.get('/skills/t1')).status).toBe(200);
  });

  it('frees the name, and the new skill has no old revision and no old ETag', async () => {
    const api = freshApi();
    const old = await api.publish('t1', skillFiles('t1'));
    await api.delete('/skills/t1');

    const fresh = await api.post('/skills', { name: 't1', files: skillFiles('t1') });

    expect(fresh.status).toBe(201);
    expect(fresh.json.digest).toBe(old.json.digest);
    expect(etagOf(fresh)).not.toBe(etagOf(old));
    const { items } = (await api.get('/skills/t1/revisions')).json;
    expect(items.map((item: { revision: string }) => item.revision)).toEqual([fresh.json.revision]);
    expect((await api.get(`/skills/t1/revisions/${old.json.revision}`)).status).toBe(404);
    expect((await api.get(`/skills/t1/package?revision=${old.json.revision}`)).status).toBe(404);
    expect((await api.patch('/skills/t1', { current_revision: old.json.revision })).status).toBe(404);
    expect((await api.delete('/skills/t1', { 'if-match': etagOf(old) })).status).toBe(412);
  });
});

describe('conditional GET', () => {
  it('answers 304 without a body for the ETag it gave, and 200 after a change', async () => {
    const api = freshApi();
    const tag = etagOf(await api.publish('t1', skillFiles('t1')));

    const same = await api.get('/skills/t1', { 'if-none-match': tag });
    await api.patch('/skills/t1', { enabled: false });
    const changed = await api.get('/skills/t1', { 'if-none-match': tag });

    expect(same.status).toBe(304);
    expect(same.bytes).toHaveLength(0);
    expect(changed.status).toBe(200);
  });
});

import { describe, expect, it, vi } from 'vitest';
import { scopeFingerprint } from '../../shared/domain/scope.ts';
import type { BytesOrDownload } from '../../shared/services/commit-with.ts';
import { fakeServices, SCOPE } from '../support/api-fakes.ts';
import { call } from '../support/api-requests.ts';
import { ID, sampleAgent, sampleRun, sampleSkill } from '../support/api-samples.ts';

const fingerprint = scopeFingerprint(SCOPE);
const name = 'ticket-analysis';
const AT = '2026-11-30T12:00:00.000Z';
const SHA = 'b'.repeat(64);

const bytes = (text: string, content_type = 'application/octet-stream'): BytesOrDownload => ({
  kind: 'bytes',
  bytes: Buffer.from(text),
  sha256: SHA,
  content_type,
});
const download: BytesOrDownload = {
  kind: 'download',
  download_url: 'https://x.test/d',
  expires_at: AT,
  sha256: SHA,
  size_bytes: 9_000_000,
};

describe('skills', () => {
  it('POST answers 201 with the skill, its ETag and a relative Location', async () => {
    const create = vi.fn(async () => sampleSkill());
    fakeServices({ skills: { create } });

    const answer = await call('createSkill', { json: { name, content: 'x' } });

    expect(answer.status).toBe(201);
    expect(answer.json).toEqual(sampleSkill().value);
    expect(answer.headers).toMatchObject({ etag: '"e1"', location: `skills/${name}` });
    expect(create).toHaveBeenCalledWith(fingerprint, { name, content: 'x', enabled: true }, undefined);
  });

  it('files keep names that objects of JavaScript have', async () => {
    const create = vi.fn(
      async (_fingerprint: string, _request: { files?: ReadonlyMap<string, string> | undefined }) =>
        sampleSkill(),
    );
    fakeServices({ skills: { create } });

    await call('createSkill', { body: `{"name":"${name}","files":{"__proto__":"a","constructor":"b"}}` });

    expect([...(create.mock.calls[0]?.[1].files ?? [])]).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it.each([
    [true, 201],
    [false, 200],
  ])('PUT with created=%s answers %i', async (created, status) => {
    const put = vi.fn(async () => ({ ...sampleSkill(), created }));
    fakeServices({ skills: { put } });

    const answer = await call('putSkill', {
      params: { name },
      json: { content: 'x' },
      headers: { 'If-Match': '"e0"' },
    });

    expect(answer.status).toBe(status);
    expect(answer.headers.etag).toBe('"e1"');
    expect(answer.headers.location).toBe(created ? name : undefined);
    expect(put).toHaveBeenCalledWith(fingerprint, name, { content: 'x' }, { if_match: 'e0' });
  });

  it('PUT hands a name that is none to the registry, which lists it with the other problems', async () => {
    const put = vi.fn(async () => ({ ...sampleSkill(), created: true }));
    fakeServices({ skills: { put } });

    await call('putSkill', { params: { name: 'No Name' }, json: { content: 'x' } });

    expect(put).toHaveBeenCalledWith(fingerprint, 'No Name', { content: 'x' }, {});
  });

  it('PATCH passes the fields and If-Match', async () => {
    const patch = vi.fn(async () => sampleSkill(name, 'e2'));
    fakeServices({ skills: { patch } });

    const answer = await call('patchSkill', {
      params: { name },
      json: { enabled: false },
      headers: { 'if-match': '"e1"' },
    });

    expect(answer.status).toBe(200);
    expect(answer.headers.etag).toBe('"e2"');
    expect(patch).toHaveBeenCalledWith(fingerprint, name, { enabled: false }, { if_match: 'e1' });
  });

  it('GET answers with the ETag, and 304 to one who holds it', async () => {
    fakeServices({ skills: { get: async () => sampleSkill() } });

    const first = await call('getSkill', { params: { name } });
    const second = await call('getSkill', { params: { name }, headers: { 'If-None-Match': '"x", W/"e1"' } });

    expect(first.json).toEqual(sampleSkill().value);
    expect(second.status).toBe(304);
    expect(second.text).toBe('');
    expect(second.headers.etag).toBe('"e1"');
  });

  it.each([
    ['listSkills', 'list', []],
    ['listSkillRevisions', 'listRevisions', [name]],
  ] as const)(
    '%s passes cursor and limit and answers with items and cursor',
    async (operation, method, args) => {
      const list = vi.fn(async () => ({ items: [], next_cursor: 'n' }));
      fakeServices({ skills: { [method]: list } });

      const answer = await call(operation, { params: { name }, query: { cursor: 'c', limit: '7' } });

      expect(answer.json).toEqual({ items: [], next_cursor: 'n' });
      expect(list).toHaveBeenCalledWith(fingerprint, ...args, { cursor: 'c', limit: 7 });
    },
  );

  it('limit is 50 when left out', async () => {
    const list = vi.fn(async () => ({ items: [] }));
    fakeServices({ skills: { list } });

    await call('listSkills');

    expect(list).toHaveBeenCalledWith(fingerprint, { limit: 50 });
  });

  it('GET of a revision', async () => {
    const getRevision = vi.fn(async () => sampleSkill().value);
    fakeServices({ skills: { getRevision } });

    const answer = await call('getSkillRevision', { params: { name, revision: ID } });

    expect(answer.status).toBe(200);
    expect(getRevision).toHaveBeenCalledWith(fingerprint, name, ID);
  });

  it('files without path are listed, with path are exact bytes that no browser interprets', async () => {
    const listFiles = vi.fn(async () => ({ revision: ID, items: [] }));
    const getFile = vi.fn(async () => bytes('a\0é\r\n', 'text/plain; charset=utf-8'));
    fakeServices({ skills: { listFiles, getFile } });

    const listed = await call('getSkillFiles', { params: { name }, query: { revision: ID } });
    const file = await call('getSkillFiles', { params: { name }, query: { path: 'a b/ü' } });

    expect(listed.json).toEqual({ revision: ID, items: [] });
    expect(listFiles).toHaveBeenCalledWith(fingerprint, name, ID);
    expect(getFile).toHaveBeenCalledWith(fingerprint, name, 'a b/ü', undefined);
    expect(file.bytes).toEqual(Buffer.from('a\0é\r\n'));
    expect(file.headers).toMatchObject({
      etag: `"${SHA}"`,
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
    });
  });

  it.each([
    [undefined, 'canonical'],
    ['*/*', 'canonical'],
    ['application/zip', 'zip'],
    ['text/html, application/zip;q=0.9', 'zip'],
    ['application/zip;q=0', 'canonical'],
  ])('package with Accept %s is %s', async (accept, format) => {
    const getPackage = vi.fn(async () => bytes('pkg'));
    fakeServices({ skills: { getPackage } });

    const answer = await call('getSkillPackage', {
      params: { name },
      headers: accept === undefined ? {} : { Accept: accept },
    });

    expect(answer.bytes.toString()).toBe('pkg');
    expect(getPackage).toHaveBeenCalledWith(fingerprint, name, format, undefined);
  });

  it('a package above the limit is a download', async () => {
    fakeServices({ skills: { getPackage: async () => download } });

    const answer = await call('getSkillPackage', { params: { name } });

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      download_url: 'https://x.test/d',
      expires_at: AT,
      sha256: SHA,
      size_bytes: 9_000_000,
    });
  });

  it('diff passes from and to', async () => {
    const diff = vi.fn(async () => ({
      name,
      from: ID,
      to: ID,
      from_digest: `sha256:${SHA}`,
      to_digest: `sha256:${SHA}`,
      files: [],
    }));
    fakeServices({ skills: { diff } });

    await call('diffSkill', { params: { name }, query: { from: ID, to: ID } });

    expect(diff).toHaveBeenCalledWith(fingerprint, name, ID, ID);
  });

  it('DELETE answers 204 without a body', async () => {
    const remove = vi.fn(async () => undefined);
    fakeServices({ skills: { delete: remove } });

    const answer = await call('deleteSkill', { params: { name }, headers: { 'If-Match': '"e1"' } });

    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
    expect(remove).toHaveBeenCalledWith(fingerprint, name, { if_match: 'e1' });
  });

  it('a validation answers 200, also for an invalid package', async () => {
    const judged = {
      name,
      validation_status: 'invalid' as const,
      file_count: 0,
      size_bytes: 0,
      problems: [],
      warnings: [],
    };
    fakeServices({ skills: { validate: () => judged } });

    const answer = await call('validateSkill', { json: { name, content: 'x' } });

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(judged);
  });
});

describe('agents', () => {
  it('POST answers 201 with ETag and Location', async () => {
    const create = vi.fn(async () => sampleAgent());
    fakeServices({ agents: { create } });

    const answer = await call('createAgent', { json: { name: 'triage', skills: [name] } });

    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({ etag: '"a1"', location: 'agents/triage' });
    expect(create).toHaveBeenCalledWith(fingerprint, {
      name: 'triage',
      description: '',
      skills: [name],
      subagents: [],
      sandbox_profile: 'default',
    });
  });

  it('PUT takes its name from the path and If-None-Match: *', async () => {
    const put = vi.fn(async () => ({ ...sampleAgent(), created: true }));
    fakeServices({ agents: { put } });

    const answer = await call('putAgent', {
      params: { name: 'triage' },
      json: { skills: [name] },
      headers: { 'If-None-Match': '*' },
    });

    expect(answer.status).toBe(201);
    expect(put).toHaveBeenCalledWith(fingerprint, expect.objectContaining({ name: 'triage' }), {
      if_none_match: true,
    });
  });

  it.each([
    ['triage', { name: 'other' }, '/name'],
    ['No Name', {}, '/name'],
    ['triage', { subagents: [{ name: 'sub', skills: ['missing'] }] }, '/subagents'],
  ])('PUT of %s with %j is refused at %s', async (path, json, pointer) => {
    fakeServices();

    const answer = await call('putAgent', { params: { name: path }, json });

    expect(answer.status).toBe(400);
    expect(answer.json.errors[0].pointer).toBe(pointer);
  });

  it('GET, list, PATCH and DELETE reach their services', async () => {
    const get = vi.fn(async () => sampleAgent());
    const list = vi.fn(async () => ({ items: [sampleAgent().value] }));
    const patch = vi.fn(async () => sampleAgent());
    const remove = vi.fn(async () => undefined);
    fakeServices({ agents: { get, list, patch, delete: remove } });
    const params = { name: 'triage' };

    expect((await call('getAgent', { params })).headers.etag).toBe('"a1"');
    expect((await call('listAgents')).json.items).toHaveLength(1);
    expect((await call('patchAgent', { params, json: { model: null } })).status).toBe(200);
    expect((await call('deleteAgent', { params })).status).toBe(204);
    expect(patch).toHaveBeenCalledWith(fingerprint, 'triage', { model: null }, {});
    expect(remove).toHaveBeenCalledWith(fingerprint, 'triage', {});
  });
});

describe('runs', () => {
  const runId = ID;

  it('POST answers 202 with the run and its Location', async () => {
    const create = vi.fn(async () => sampleRun());
    fakeServices({ runs: { create } });

    const answer = await call('createRun', { json: { agent: 'triage', command: { argv: ['true'] } } });

    expect(answer.status).toBe(202);
    expect(answer.headers.location).toBe(`runs/${ID}`);
    expect(create).toHaveBeenCalledWith(
      fingerprint,
      { agent: 'triage', command: { argv: ['true'] }, env: {}, inputs: [], timeout_seconds: 60 },
      undefined,
    );
  });

  it('events pass their query and the signal of a client that leaves', async () => {
    const events = vi.fn(async () => ({ items: [], run_ended: true }));
    fakeServices({ runs: { events } });
    const clientGone = new AbortController().signal;

    const answer = await call(
      'listRunEvents',
      { params: { runId }, query: { after: '3', wait_seconds: '20' } },
      { clientGone },
    );

    expect(answer.json).toEqual({ items: [], run_ended: true });
    expect(events).toHaveBeenCalledWith(fingerprint, runId, {
      after: 3,
      wait_seconds: 20,
      limit: 200,
      signal: clientGone,
    });
  });

  it.each(['', '{}'])('cancel with body %j answers 202', async (body) => {
    fakeServices({ runs: { cancel: async () => sampleRun() } });

    expect((await call('cancelRun', { params: { runId }, body })).status).toBe(202);
  });

  it('run, list, manifest and artifacts reach their services', async () => {
    const getArtifact = vi.fn(async () => bytes('chart', 'image/svg+xml'));
    fakeServices({
      runs: {
        get: async () => sampleRun(),
        list: async () => ({ items: [] }),
        getManifest: async () => ({ manifest: { version: 1 } as never, manifest_digest: 'd' }),
        listArtifacts: async () => [{ path: 'a', size_bytes: 1 }],
        getArtifact,
      },
    });
    const params = { runId };

    expect((await call('getRun', { params })).json.run_id).toBe(runId);
    expect((await call('listRuns')).json).toEqual({ items: [] });
    expect((await call('getRunManifest', { params })).json.manifest_digest).toBe('d');
    expect((await call('getRunArtifacts', { params })).json.items).toHaveLength(1);
    const chart = await call('getRunArtifacts', { params, query: { path: 'out/chart.svg' } });
    expect(chart.text).toBe('chart');
    expect(chart.headers['content-disposition']).toBe('attachment');
    expect(getArtifact).toHaveBeenCalledWith(fingerprint, runId, 'out/chart.svg');
  });
});

describe('artifacts', () => {
  const artifact = {
    artifact_id: ID,
    size_bytes: 3,
    sha256: SHA,
    content_type: 'image/png',
    created_at: AT,
    expires_at: AT,
  };

  it('POST keeps bytes and content type', async () => {
    const create = vi.fn(async () => artifact);
    fakeServices({ inputs: { create } });

    const answer = await call('createArtifact', {
      body: Buffer.from([0xff, 0x00, 0xd8]),
      headers: { 'Content-Type': 'image/png' },
    });

    expect(answer.status).toBe(201);
    expect(answer.headers.location).toBe(`artifacts/${ID}`);
    expect(create).toHaveBeenCalledWith(fingerprint, Buffer.from([0xff, 0x00, 0xd8]), 'image/png', undefined);
  });

  it('without a Content-Type it is application/octet-stream; a hostile one is refused', async () => {
    const create = vi.fn(async () => artifact);
    fakeServices({ inputs: { create } });

    await call('createArtifact', { body: 'x' });
    const refused = await call('createArtifact', { body: 'x', headers: { 'content-type': 'a\r\nb: c' } });

    expect(create).toHaveBeenCalledWith(fingerprint, Buffer.from('x'), 'application/octet-stream', undefined);
    expect(refused.status).toBe(400);
  });

  it('GET answers with the bytes', async () => {
    fakeServices({ inputs: { get: async () => bytes('png', 'image/png') } });

    const answer = await call('getArtifact', { params: { artifactId: ID } });

    expect(answer.text).toBe('png');
    expect(answer.headers['content-type']).toBe('image/png');
  });
});

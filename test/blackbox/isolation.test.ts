/** Two scopes with the same names, over every route: neither sees anything of the other. */
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { ROUTES, type Route, SCOPE_PREFIX } from '../../shared/contracts/routes.ts';
import { type Answer, Api, scopeRef } from '../support/api.ts';
import { expectProblem, withoutRequestId } from '../support/expect-problem.ts';
import { freshApi } from '../support/scopes.ts';
import { skillFiles, skillMd } from '../support/skill-files.ts';

interface Ids {
  readonly name: string;
  readonly revision: string;
  readonly runId: string;
  readonly artifactId: string;
}

/** A scope with one of everything, all under the same names. */
async function furnish(api: Api, text: string): Promise<Ids> {
  const skill = await api.publish(
    'same',
    skillFiles('same', { 'scripts/x.sh': `echo ${text} | tee /outputs/o`, note: text }),
  );
  await api.putAgent('same', { skills: ['same'], description: text });
  const body = `input of ${text}`;
  const input = await api.call('POST', '/artifacts', { body, headers: { 'content-type': 'text/plain' } });
  const run = await api.run({ agent: 'same', command: { skill: 'same', script: 'scripts/x.sh' } });
  await api.event(run.json.run_id, 'sandbox.stopped');
  return {
    name: 'same',
    revision: skill.json.revision,
    runId: run.json.run_id,
    artifactId: input.json.artifact_id,
  };
}

const BODIES: Readonly<Record<string, unknown>> = {
  putSkill: { content: skillMd('same') },
  patchSkill: { enabled: false },
  putAgent: {},
  patchAgent: { description: 'x' },
  cancelRun: {},
};
const QUERIES: Readonly<Record<string, (ids: Ids) => string>> = {
  diffSkill: ({ revision }) => `?from=${revision}`,
  getSkillFiles: () => '?path=note',
  getRunArtifacts: () => '?path=o',
};

function send(api: Api, { operation, method, resource }: Route, ids: Ids): Promise<Answer> {
  const path = resource
    .slice(SCOPE_PREFIX.length)
    .replace(/\{(\w+)\}/g, (_, parameter: keyof Ids) => ids[parameter] ?? '');
  const json = BODIES[operation];
  return api.call(method, `${path}${QUERIES[operation]?.(ids) ?? ''}`, json === undefined ? {} : { json });
}

/** Changes at whatever they meet. */
const writes = (route: Route): boolean => ['PUT', 'PATCH', 'DELETE'].includes(route.method);
/** Address one thing by its name or id. */
const addressed = ROUTES.filter(({ resource }) => resource.slice(SCOPE_PREFIX.length).includes('{'));
const lists = ROUTES.filter(
  ({ method, resource }) => method === 'GET' && !resource.slice(SCOPE_PREFIX.length).includes('{'),
);

describe('two scopes with the same names', () => {
  const [a, b, empty] = [freshApi(), freshApi(), freshApi()];
  let inA: Ids;
  let inB: Ids;
  beforeAll(async () => {
    [inA, inB] = await Promise.all([furnish(a, 'text-of-a'), furnish(b, 'text-of-b')]);
  });

  it.each(addressed.filter((route) => !writes(route)))(
    '$operation answers each with its own and nothing of the other',
    async (route) => {
      const [ofA, ofB] = [await send(a, route, inA), await send(b, route, inB)];

      expect([ofA.status, ofB.status]).toEqual([route.operation === 'cancelRun' ? 202 : 200, ofA.status]);
      expect(ofA.bytes.toString()).not.toContain('text-of-b');
      expect(ofB.bytes.toString()).not.toContain('text-of-a');
      expect(ofA.bytes.equals(ofB.bytes)).toBe(false);
    },
  );

  it.each(lists)('$operation lists its own alone', async (route) => {
    const [ofA, ofB] = [await send(a, route, inA), await send(b, route, inB)];

    expect([ofA.json.items.length, ofB.json.items.length]).toEqual([1, 1]);
    expect(ofA.json.items).not.toEqual(ofB.json.items);
    expect((await send(empty, route, inA)).json).toEqual({ items: [] });
  });

  const byIds = addressed.filter(({ resource }) => /\{(revision|runId|artifactId)\}/.test(resource));
  it.each(byIds)('$operation with an id of the other scope is as if it never was', async (route) => {
    const foreign = await send(a, route, { ...inB, name: 'same' });
    const never = await send(a, route, { ...inB, revision: NEVER, runId: NEVER, artifactId: NEVER });

    expectProblem(foreign, 404, 'not_found');
    expect(sanitized(foreign, inB)).toEqual(sanitized(never, inB));
  });

  it('a revision of the other scope is as if it never was, in every query and body', async () => {
    for (const id of [inB.revision, NEVER]) {
      expect((await a.get(`/skills/same/files?revision=${id}`)).status).toBe(404);
      expect((await a.get(`/skills/same/package?revision=${id}`)).status).toBe(404);
      expect((await a.get(`/skills/same/diff?from=${id}`)).status).toBe(404);
      expect((await a.get(`/skills/same/diff?from=${inA.revision}&to=${id}`)).status).toBe(404);
      expect((await a.patch('/skills/same', { current_revision: id })).status).toBe(404);
    }
  });

  it('an ETag of the other scope is a condition that does not hold', async () => {
    const [skill, agent] = [await b.get('/skills/same'), await b.get('/agents/same')];
    const tag = (answer: Answer) => ({ 'if-match': answer.headers.get('etag') ?? '' });

    expectProblem(await a.delete('/skills/same', tag(skill)), 412, 'precondition_failed');
    expectProblem(await a.delete('/agents/same', tag(agent)), 412, 'precondition_failed');
  });

  it('one deletes what it has, and the other still has its own', async () => {
    const victim = freshApi();
    await furnish(victim, 'text-of-victim');
    const before = await b.get('/skills/same');

    await victim.delete('/skills/same');
    await victim.delete('/agents/same');

    expect((await b.get('/skills/same')).json).toEqual(before.json);
    expect((await b.get('/agents/same')).status).toBe(200);
    const run = await b.run({ agent: 'same', command: { skill: 'same', script: 'scripts/x.sh' } });
    expect(run.json.stdout).toBe('text-of-b\n');
  });
});

const NEVER = '0'.repeat(26);

/** Both the ids asked for are in the answers, and are what may differ. */
function sanitized(answer: Answer, ids: Ids): unknown {
  const text = JSON.stringify(withoutRequestId(answer));
  return [ids.revision, ids.runId, ids.artifactId, NEVER].reduce((all, id) => all.replaceAll(id, 'ID'), text);
}

describe('wrong scope, missing and deleted', () => {
  const kinds = ['skills', 'agents'] as const;
  it.each(
    kinds.flatMap((kind) => [
      ['GET', `/${kind}/gone`] as const,
      ['PATCH', `/${kind}/gone`] as const,
      ['DELETE', `/${kind}/gone`] as const,
      ...(kind === 'skills'
        ? (['/revisions', '/files', '/package'].map((path) => ['GET', `/skills/gone${path}`]) as [
            'GET',
            string,
          ][])
        : []),
    ]),
  )('%s %s answer with one body, apart from the request id', async (method, path) => {
    const [owner, other] = [freshApi(), freshApi()];
    for (const api of [owner, freshApi()]) {
      await api.publish('gone', skillFiles('gone'));
      await api.putAgent('gone', {});
    }
    const body = path.startsWith('/skills') ? { enabled: true } : { description: 'x' };
    const options = method === 'PATCH' ? { json: body } : {};

    const wrong = await other.call(method, path, options);
    await owner.delete('/skills/gone');
    await owner.delete('/agents/gone');
    const deleted = await owner.call(method, path, options);
    const missing = await freshApi().call(method, path, options);

    expectProblem(wrong, 404, 'not_found');
    expect(withoutRequestId(deleted)).toEqual(withoutRequestId(wrong));
    expect(withoutRequestId(missing)).toEqual(withoutRequestId(wrong));
    const names = (answer: Answer) => [...answer.headers.keys()].filter((name) => name !== 'date');
    expect(names(deleted)).toEqual(names(wrong));
  });
});

describe('a scope that may not be asserted', () => {
  const target = inject('target');
  // The URL standard takes `x/..` out before anything is signed or sent.
  const withRef = (ref: string): Promise<Answer> => freshApi().get(`/../${ref}/skills`);

  it('by its keys is one 403 for every route, whatever is there', async () => {
    const api = new Api(target, { team: 'x', tenant: 'y' });

    for (const route of ROUTES) {
      const answer = await send(api, route, { name: 'n', revision: NEVER, runId: NEVER, artifactId: NEVER });
      expectProblem(answer, 403, 'scope_not_allowed');
      expect(answer.bytes.toString()).not.toContain(scopeRef(api.scope));
    }
  });

  const refs = {
    'keys in another order': Buffer.from('{"tenant":"x","project":"y"}').toString('base64url'),
    'white space': Buffer.from('{"tenant": "x"}').toString('base64url'),
    padding: `${Buffer.from('{"tenant":"xy"}').toString('base64url')}=`,
    'no object': Buffer.from('["tenant"]').toString('base64url'),
    'no entry': Buffer.from('{}').toString('base64url'),
    'a key twice': Buffer.from('{"tenant":"x","tenant":"x"}').toString('base64url'),
    'no JSON': Buffer.from('tenant=x').toString('base64url'),
    'no base64url': 'a+b',
    'a value with a slash': Buffer.from('{"tenant":"a/b"}').toString('base64url'),
    'a key of the prototype': Buffer.from('{"__proto__":"x"}').toString('base64url'),
    'over 512 characters': Buffer.from(
      `{"tenant":"${'x'.repeat(128)}","project":"${'y'.repeat(300)}"}`,
    ).toString('base64url'),
  };
  it.each(Object.entries(refs))('by a ref with %s is the same 403', async (_, ref) => {
    expectProblem(await withRef(ref), 403, 'scope_not_allowed');
  });

  it('a scope in query, header or body beside the one in the path is refused', async () => {
    const api = freshApi();

    expectProblem(await api.get('/skills?scope=x'), 400, 'invalid_request');
    expectProblem(await api.get('/skills', { 'x-effective-scope': 'x' }), 400, 'invalid_request');
    expectProblem(await api.post('/agents', { name: 'a', scope: { tenant: 'x' } }), 400, 'invalid_request');
  });
});

/** A run over HTTP from 202 to its end: statuses, events, manifest, lists, refusals at its start. */
import { describe, expect, it } from 'vitest';
import { manifestDigest } from '../../shared/domain/manifest-digest.ts';
import { scopeFingerprint } from '../../shared/domain/scope.ts';
import type { Api } from '../support/api.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { scopeWithAgent, scopeWithSkill, scriptRun, shellRun } from '../support/run-scope.ts';
import { freshApi } from '../support/scopes.ts';
import { skillFiles } from '../support/skill-files.ts';

interface RunEvent {
  readonly sequence: number;
  readonly type: string;
  readonly at: string;
  readonly data: Record<string, unknown>;
}

/** All events of a run, followed by long polls as a client would. */
async function follow(api: Api, runId: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for (let polls = 0; polls < 100; polls += 1) {
    const after = events.at(-1)?.sequence ?? 0;
    const { json } = await api.get(`/runs/${runId}/events?after=${after}&wait_seconds=5&limit=3`);
    events.push(...json.items);
    if (json.run_ended) return events;
  }
  throw new Error('the run’s events do not end');
}

describe('POST /runs', () => {
  it('answers 202 with the queued run and where it is', async () => {
    const api = await scopeWithAgent();

    const answer = await api.post('/runs', shellRun('true'));

    expect(answer.status).toBe(202);
    expect(answer.json).toMatchObject({ agent: 'agent', status: 'queued', exit_code: null, failure: null });
    const path = `/v1/scopes/x/runs/${answer.json.run_id}`;
    expect(new URL(answer.headers.get('location') ?? '', 'http://h/v1/scopes/x/runs').pathname).toBe(path);
    expect((await api.finished(answer.json.run_id)).json).toMatchObject({
      status: 'succeeded',
      exit_code: 0,
    });
  });

  it.each([
    ['a missing agent', shellRun('true', { agent: 'nobody' }), 404, 'agent_not_found'],
    [
      'a skill that is not attached',
      { agent: 'agent', command: { skill: 'other', script: 'x' } },
      404,
      'skill_not_found',
    ],
    ['a script that is not in the package', scriptRun('scripts/nope.sh'), 422, 'script_not_found'],
    ['a script by a path that leads out', scriptRun('../t1/SKILL.md'), 422, 'script_not_found'],
    ['a variable', shellRun('true', { env: { MODE: 'x' } }), 400, 'invalid_request'],
    ['a variable of the loader', shellRun('true', { env: { LD_PRELOAD: '/x' } }), 400, 'invalid_request'],
    [
      'an input that is not there',
      shellRun('true', { inputs: [{ artifact_id: '0'.repeat(26), path: 'x' }] }),
      404,
      'not_found',
    ],
  ])('with %s is refused and stores nothing', async (_, request, status, code) => {
    const api = await scopeWithSkill({ 'scripts/ok.sh': 'true\n' });
    await api.publish('other', skillFiles('other'));

    expectProblem(await api.post('/runs', request), status, code);

    expect((await api.get('/runs')).json).toEqual({ items: [] });
  });

  it('refuses an agent whose skill is missing, disabled or deleted, and says which', async () => {
    const api = await scopeWithSkill();
    const start = () => api.post('/runs', shellRun('true'));

    await api.patch('/skills/t1', { enabled: false });
    const disabled = await start();
    await api.delete('/skills/t1');
    const deleted = await start();
    await api.publish('t1', skillFiles('t1'));
    const again = await start();

    expectProblem(disabled, 409, 'skill_disabled');
    expect(disabled.json.detail).toContain('"t1"');
    expectProblem(deleted, 404, 'skill_not_found');
    expect(deleted.json.detail).toContain('"t1"');
    expect(again.status).toBe(202);
    await api.finished(again.json.run_id);
  });
});

describe('events', () => {
  it('are numbered from 1 without gaps, in order of time, and tell the whole run', async () => {
    const api = await scopeWithSkill({
      'scripts/w.sh': 'echo one; sleep 1.2; echo two; echo x > /outputs/x; ln -s x /outputs/l',
    });
    const { run_id } = (await api.post('/runs', scriptRun('scripts/w.sh'))).json;

    const events = await follow(api, run_id);

    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    const times = events.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    const types = events.map(({ type }) => type);
    const told = types.filter((type, index) => type !== types[index - 1]);
    // The first comes when the pool was empty; the last follows the end, and may already be there.
    const varying = ['sandbox.requested', 'sandbox.stopped'];
    expect(told.filter((type) => !varying.includes(type))).toEqual([
      'run.queued',
      'run.pinned',
      'sandbox.ready',
      'package.materialized',
      'sandbox.sealed',
      'command.started',
      'command.output',
      'command.exited',
      'artifact.refused',
      'artifact.collected',
      'run.succeeded',
    ]);
    const output = events.filter(({ type }) => type === 'command.output');
    expect(output.map(({ data }) => data.text).join('')).toBe('one\ntwo\n');
    expect(output.length).toBeGreaterThan(1);
  });

  it('after N are those after N, a long poll waits, and the sandbox is stopped after the end', async () => {
    const api = await scopeWithAgent();
    const { run_id } = (await api.post('/runs', shellRun('sleep 1'))).json;
    await api.event(run_id, 'command.started');
    const started = (await api.get(`/runs/${run_id}/events`)).json.items.at(-1).sequence;

    const next = (await api.get(`/runs/${run_id}/events?after=${started}&wait_seconds=20`)).json;

    expect(next.items[0].sequence).toBe(started + 1);
    await api.event(run_id, 'sandbox.stopped');
    const { items } = (await api.get(`/runs/${run_id}/events`)).json;
    expect(items.map(({ sequence }: RunEvent) => sequence)).toEqual(
      items.map((_: unknown, n: number) => n + 1),
    );
  });

  it.each(['after=-1', 'wait_seconds=21', 'limit=0', 'after=1.5', 'since=1'])('refuse ?%s', async (query) => {
    const api = await scopeWithAgent();

    expectProblem(await api.get(`/runs/${'0'.repeat(26)}/events?${query}`), 400, 'invalid_request');
  });
});

describe('a run', () => {
  it('has timings that never go back', async () => {
    const api = await scopeWithSkill({ 'scripts/x.sh': 'true' });

    const { timings } = (await api.run(scriptRun('scripts/x.sh'))).json;

    const { queued_at, pinned_at, sandbox_ready_at, sealed_at, started_at, exited_at, finished_at } = timings;
    const inOrder = [queued_at, pinned_at, sandbox_ready_at, sealed_at, started_at, exited_at, finished_at];
    expect(inOrder.every((time) => typeof time === 'string')).toBe(true);
    expect(inOrder).toEqual(inOrder.toSorted());
  });

  it('that is ended by a signal says which, with 128 and its number', async () => {
    const api = await scopeWithAgent();

    const { json } = await api.run(shellRun('kill -SEGV $$'));

    expect(json).toMatchObject({ status: 'failed', exit_code: 139, signal: 'SIGSEGV' });
    expect(json.failure).toMatchObject({ code: 'script_failed', stage: 'execute' });
  });

  it('does not see an update of its skill that comes after it was pinned', async () => {
    const api = await scopeWithSkill({ 'scripts/w.sh': 'sleep 1; cat /skills/t1/v', v: 'old' });
    const { run_id } = (await api.post('/runs', scriptRun('scripts/w.sh'))).json;
    await api.event(run_id, 'command.started');

    const updated = await api.publish(
      't1',
      skillFiles('t1', { 'scripts/w.sh': 'cat /skills/t1/v', v: 'new' }),
    );
    await api.put('/agents/agent', { skills: ['t1'], description: 'changed' });

    expect((await api.finished(run_id)).json.stdout).toBe('old');
    const { manifest } = (await api.get(`/runs/${run_id}/manifest`)).json;
    expect(manifest.packages[0].revision).not.toBe(updated.json.revision);
    expect((await api.run(scriptRun('scripts/w.sh'))).json.stdout).toBe('new');
  });
});

describe('GET /runs', () => {
  it('lists summaries newest first, paged, without streams', async () => {
    const api = await scopeWithAgent();
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await api.run(shellRun('echo secret-output'))).json.run_id);

    const first = (await api.get('/runs?limit=2')).json;
    const second = (await api.get(`/runs?limit=2&cursor=${first.next_cursor}`)).json;

    const items = [...first.items, ...second.items];
    expect(items.map((item: { run_id: string }) => item.run_id)).toEqual(ids.toReversed());
    expect(JSON.stringify(items)).not.toContain('secret-output');
    expect(items[0]).toMatchObject({ status: 'succeeded', agent: 'agent', artifact_count: 0 });
  });
});

describe('the manifest', () => {
  it('pins agent, packages in order, subagents with their subsets, sandbox and caps, under its own digest', async () => {
    const api = freshApi();
    const revisions: Record<string, string> = {};
    for (const name of ['s2', 's1'])
      revisions[name] = (await api.publish(name, skillFiles(name))).json.revision;
    const subagents = [{ name: 'some', skills: ['s1'] }, { name: 'all' }, { name: 'none', skills: [] }];
    const agent = (await api.putAgent('agent', { skills: ['s2', 's1'], subagents, model: 'm' })).json;

    const run = (await api.run(shellRun('true', { timeout_seconds: 9, outputs: ['*.x'] }))).json;

    const { manifest, manifest_digest } = (await api.get(`/runs/${run.run_id}/manifest`)).json;
    expect(manifest).toMatchObject({
      version: 1,
      scope_fingerprint: scopeFingerprint(api.scope),
      agent: { name: 'agent', revision: agent.revision, definition_digest: agent.definition_digest },
      packages: [
        { name: 's2', revision: revisions.s2 },
        { name: 's1', revision: revisions.s1 },
      ],
      subagents: [
        { name: 'some', packages: ['s1'] },
        { name: 'all', packages: ['s2', 's1'] },
        { name: 'none', packages: [] },
      ],
      sandbox: { profile: 'default', image_identity: expect.stringMatching(/./), egress_aliases: [] },
      model: 'm',
      outputs: ['*.x'],
      timeout_seconds: 9,
      caps: { stream_bytes: 262_144, output_files: 256, output_bytes: 67_108_864 },
    });
    expect(manifest_digest).toBe(run.manifest_digest);
    expect(manifestDigest(manifest)).toBe(manifest_digest);
  });

  it('has one digest for two equal runs, and another for another command', async () => {
    const api = await scopeWithAgent();

    const [one, same, other] = [
      (await api.run(shellRun('true'))).json,
      (await api.run(shellRun('true'))).json,
      (await api.run(shellRun('true '))).json,
    ];

    expect(same.manifest_digest).toBe(one.manifest_digest);
    expect(other.manifest_digest).not.toBe(one.manifest_digest);
  });

  it('and all else of the run holds no argument and no standard input, only their hashes', async () => {
    const api = await scopeWithSkill({ 'scripts/x.sh': 'cat > /dev/null; true' });
    const [arg, stdin] = ['argument-7f3a', 'stdin-91bc'];
    const command = { skill: 't1', script: 'scripts/x.sh', args: [arg] };

    const run = (await api.run({ agent: 'agent', command, stdin })).json;

    await api.event(run.run_id, 'sandbox.stopped');
    const texts = await Promise.all(
      ['', '/manifest', '/events', '/artifacts'].map((path) => api.get(`/runs/${run.run_id}${path}`)),
    );
    texts.push(await api.get('/runs'));
    for (const { status, bytes } of texts) {
      expect(status).toBe(200);
      expect(bytes.toString()).not.toMatch(/7f3a|91bc/);
    }
    expect(texts[1]?.json.manifest.command).toMatchObject({
      args_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      stdin_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('of a run that is not there is 404', async () => {
    const api = await scopeWithAgent();

    expectProblem(await api.get(`/runs/${'0'.repeat(26)}/manifest`), 404, 'not_found');
  });
});

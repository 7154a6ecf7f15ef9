/** Faults reported of other sandboxes, each input taken from its public report: running and collecting. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Api } from '../support/api.ts';
import { freshApi } from '../support/scopes.ts';
import { skillFiles } from '../support/skill-files.ts';

/** A scope with one skill `t1` of these files and an agent that attaches it. */
async function withSkill(files: Record<string, string>): Promise<Api> {
  const api = freshApi();
  await api.publish('t1', skillFiles('t1', files));
  await api.putAgent('agent', { skills: ['t1'] });
  return api;
}
const script = (path: string, rest: Record<string, unknown> = {}): Record<string, unknown> => ({
  agent: 'agent',
  command: { skill: 't1', script: path },
  ...rest,
});

describe('A8 a file removed by an update', () => {
  it('is gone from list and sandbox, and still in the old revision', async () => {
    const api = await withSkill({ 'scripts/old.py': 'print(1)\n', 'scripts/new.py': 'print(1)\n' });
    const old = (await api.get('/skills/t1')).json.revision;
    await api.publish('t1', skillFiles('t1', { 'scripts/new.py': 'print(2)\n' }));

    const refused = await api.post('/runs', script('scripts/old.py'));
    const listing = await api.run({ agent: 'agent', command: { argv: ['ls', '/skills/t1/scripts'] } });
    const run = await api.run(script('scripts/new.py'));

    expect(refused.json).toMatchObject({ status: 422, code: 'script_not_found' });
    expect(listing.json.stdout).toBe('new.py\n');
    expect(run.json.stdout).toBe('2\n');
    expect((await api.get('/skills/t1/files')).json.items).toHaveLength(2);
    expect((await api.get(`/skills/t1/files?revision=${old}`)).json.items).toHaveLength(3);
  });
});

describe('A9 a skill deleted while a run uses it', () => {
  it('ends well on the pinned revision, and the next run does not find the skill', async () => {
    const waits = 'import time\ntime.sleep(3)\nprint(open("/skills/t1/references/m.md").read(), end="")\n';
    const api = await withSkill({ 'scripts/wait.py': waits, 'references/m.md': 'pinned' });
    const first = (await api.post('/runs', script('scripts/wait.py'))).json;
    await api.event(first.run_id, 'command.started');

    const deleted = await api.delete('/skills/t1');
    const second = await api.post('/runs', script('scripts/wait.py'));

    expect(deleted.status).toBe(204);
    expect(second.json).toMatchObject({ status: 404, code: 'skill_not_found' });
    expect((await api.get('/skills')).json.items).toEqual([]);
    expect((await api.finished(first.run_id)).json).toMatchObject({ status: 'succeeded', stdout: 'pinned' });
  });
});

describe('A10 scripts without an exec bit', () => {
  it.each([
    ['scripts/run.sh', '#!/usr/bin/env bash\necho hi "$@"\n'],
    ['scripts/r.py', '#!/usr/bin/env python3\nprint("hi")\n'],
    ['scripts/crlf.sh', '#!/bin/sh\r\necho hi #\r\n'],
    ['scripts/plain.py', 'print("hi")\n'],
    ['scripts/plain.sh', 'echo hi\n'],
    ['scripts/plain.js', 'console.log("hi")\n'],
    ['scripts/plain.mjs', 'export {}; console.log("hi")\n'],
    ['scripts/plain.ts', 'const text: string = "hi"; console.log(text);\n'],
    ['scripts/outer.sh', '#!/bin/sh\ncd "$(dirname "$0")" && ./run.sh\n'],
  ])('%s prints hi', async (path, text) => {
    const api = await withSkill({ 'scripts/run.sh': '#!/usr/bin/env bash\necho hi "$@"\n', [path]: text });

    const run = await api.run(script(path));

    expect(run.json).toMatchObject({ status: 'succeeded', exit_code: 0, stdout: 'hi\n' });
  });

  it('gets its arguments as they are', async () => {
    const api = await withSkill({ 'scripts/args.py': 'import sys, json\nprint(json.dumps(sys.argv[1:]))\n' });
    const args = ['a b', '', '$HOME', '`id`', '--x', '"q"', "it's", '*', 'é ☕', '\n'];

    const run = await api.run({ agent: 'agent', command: { skill: 't1', script: 'scripts/args.py', args } });

    expect(JSON.parse(run.json.stdout)).toEqual(args);
  });
});

describe('A11 standard input', () => {
  const reads =
    'import sys,json\ns=sys.stdin.buffer.read().decode()\nprint(json.dumps({"n":len(s),"s":s[:50]}))\n';

  it.each([
    ['nothing', {}, { n: 0, s: '' }],
    ['an empty text', { stdin: '' }, { n: 0, s: '' }],
    ['JSON text', { stdin: '{"k":"café ☕"}' }, { n: 14, s: '{"k":"café ☕"}' }],
    ['a JSON value', { stdin_json: { k: 'café ☕' } }, { n: 14, s: '{"k":"café ☕"}' }],
    ['a million characters', { stdin: 'x'.repeat(1_000_000) }, { n: 1_000_000, s: 'x'.repeat(50) }],
  ])('%s arrives whole', async (_, stdin, expected) => {
    const api = await withSkill({ 'scripts/in.py': reads });

    const run = await api.run(script('scripts/in.py', stdin));

    expect(JSON.parse(run.json.stdout)).toEqual(expected);
  });

  it('over the limit is refused up front with the limit', async () => {
    const api = await withSkill({ 'scripts/in.py': reads });

    const answer = await api.post('/runs', script('scripts/in.py', { stdin: 'x'.repeat(1024 * 1024 + 1) }));

    expect(answer.status).toBe(400);
    expect(answer.bytes.toString()).toContain('1048576');
  });
});

describe('A12 streams and exit code', () => {
  it('are separate, and a failing script is not an infrastructure fault', async () => {
    const api = await withSkill({
      'scripts/x.py': 'import sys;print("out");print("err",file=sys.stderr);sys.exit(3)',
    });

    const run = await api.run(script('scripts/x.py'));

    expect(run.json).toMatchObject({ status: 'failed', exit_code: 3, stdout: 'out\n', stderr: 'err\n' });
    expect(run.json.failure).toMatchObject({ code: 'script_failed', stage: 'execute' });
  });

  it('a script that the package lacks is a plain 422', async () => {
    const api = await withSkill({});

    const answer = await api.post('/runs', script('scripts/nope.py'));

    expect(answer.json).toMatchObject({ status: 422, code: 'script_not_found' });
    expect(answer.json.detail).toContain('scripts/nope.py');
  });

  it('a program that does not exist exits with 127 and says so', async () => {
    const api = await withSkill({});

    const run = await api.run({ agent: 'agent', command: { argv: ['no-such-program'] } });

    expect(run.json).toMatchObject({ status: 'failed', exit_code: 127 });
    expect(run.json.stderr).toContain('no-such-program');
  });
});

describe('A13 outputs that are no files', () => {
  it('are refused with a reason, the others collected', async () => {
    const api = await withSkill({
      'scripts/links.py': [
        'import os',
        "o=os.environ.get('OUTPUT_DIR','.')",
        "os.symlink('/etc/passwd',o+'/leak.txt'); os.symlink('/proc/self',o+'/d'); os.mkfifo(o+'/fifo')",
        "open(o+'/ok.txt','w').write('ok');",
        "os.makedirs(o+'/real'); open(o+'/real/deep.txt','w').write('deep'); os.symlink('real', o+'/via')",
      ].join('\n'),
    });

    const run = await api.run(script('scripts/links.py'));

    expect(run.json.status).toBe('succeeded');
    const items: { path: string; refused?: string }[] = (await api.get(`/runs/${run.json.run_id}/artifacts`))
      .json.items;
    expect(items.filter((item) => item.refused === undefined).map((item) => item.path)).toEqual([
      'ok.txt',
      'real/deep.txt',
    ]);
    expect(items.filter((item) => item.refused !== undefined).map((item) => item.path)).toEqual(
      expect.arrayContaining(['leak.txt', 'd', 'fifo', 'via']),
    );
    expect((await api.get(`/runs/${run.json.run_id}/artifacts?path=ok.txt`)).bytes.toString()).toBe('ok');
    expect((await api.get(`/runs/${run.json.run_id}/artifacts?path=leak.txt`)).status).toBe(404);
  });
});

describe('A14 a time-out', () => {
  it('kills everything the command started and keeps the output so far', async () => {
    const api = await withSkill({
      'scripts/late.py': [
        'import subprocess,time',
        'print("begun", flush=True)',
        "subprocess.Popen(['sh','-c','sleep 4; echo late > \"$OUTPUT_DIR/late.txt\"'], start_new_session=True)",
        'time.sleep(60)',
      ].join('\n'),
      'scripts/ls.sh': 'ls -A /outputs\n',
    });
    const begun = Date.now();

    const run = await api.run(script('scripts/late.py', { timeout_seconds: 2 }));

    expect(Date.now() - begun).toBeLessThan(10_000);
    expect(run.json).toMatchObject({ status: 'timed_out', stdout: 'begun\n' });
    expect(run.json.failure.code).toBe('run_timed_out');
    await sleep(4_000);
    expect((await api.get(`/runs/${run.json.run_id}/artifacts`)).json.items).toEqual([]);
    expect((await api.run(script('scripts/ls.sh'))).json.stdout).toBe('');
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Run } from '../../shared/contracts/run.ts';
import { type FakeHandlers, type FakeRequest, problem, startFakeApi } from '../support/cli-fake-api.ts';
import { type CliSetup, runCli, temporaryFolder } from '../support/cli-io.ts';
import { ARTIFACT_ID, DIGEST, RUN_ID, sampleEvents, sampleRun, sha256 } from '../support/cli-samples.ts';

const ENDED = sampleRun({
  status: 'succeeded',
  stage: 'finish',
  exit_code: 0,
  stdout: 'one\ntwo\n',
  stderr: 'warn\n',
  manifest_digest: DIGEST,
});

const EVENTS = sampleEvents(
  ['run.queued', 'queue'],
  ['run.pinned', 'pin', { manifest_digest: DIGEST }],
  ['sandbox.ready', 'launch'],
  ['sandbox.sealed', 'materialize'],
  ['command.started', 'execute'],
  ['command.output', 'execute', { stream: 'stdout', text: 'one\n' }],
  ['command.output', 'execute', { stream: 'stderr', text: 'warn\n' }],
  ['command.output', 'execute', { stream: 'stdout', text: 'two\n' }],
  ['command.exited', 'execute', { exit_code: 0, signal: null, timed_out: false }],
  ['run.succeeded', 'finish'],
);

/** A run whose events come in pages of two. */
function runApi(run: Run = ENDED, handlers: FakeHandlers = {}, events = EVENTS) {
  return startFakeApi({
    createRun: () => ({ status: 202, json: sampleRun() }),
    listRunEvents: ({ query }: FakeRequest) => {
      const items = events.filter(({ sequence }) => sequence > Number(query.get('after'))).slice(0, 2);
      return { json: { items, run_ended: true } };
    },
    getRun: () => ({ json: run }),
    getRunArtifacts: () => ({ json: { items: [] } }),
    cancelRun: () => ({ status: 202, json: sampleRun({ cancel_requested: true }) }),
    ...handlers,
  });
}

const run = (url: string, argv: readonly string[], setup: CliSetup = {}) =>
  runCli(['run', 'helper', '--endpoint', url, '--scope', 'tenant=a', ...argv], setup);

const request = (requests: readonly FakeRequest[], operation: string) =>
  JSON.parse(String(requests.find((sent) => sent.operation === operation)?.body));

describe('run', () => {
  it('streams output in order, stdout to stdout and stderr to stderr, each piece once', async () => {
    const written: string[] = [];
    const api = await runApi();

    const result = await run(api.url, ['--', 'true'], {
      onWrite: (stream, text) => {
        if (!text.startsWith('cognition:')) written.push(`${stream}:${text}`);
      },
    });

    expect(result.code).toBe(0);
    expect(result.stdout).toBe('one\ntwo\n');
    expect(written.slice(0, 3)).toEqual(['stdout:one\n', 'stderr:warn\n', 'stdout:two\n']);
    expect(result.stderr).toContain(`cognition: pinned manifest ${DIGEST}`);
    expect(result.stderr).toContain(`run ${RUN_ID} succeeded, exit code 0, manifest ${DIGEST}`);
  });

  it('passes the output of the script on as it is', async () => {
    const text = '\u001b[31mred\u001b[0m\r\n';
    const events = sampleEvents(
      ['command.output', 'execute', { stream: 'stdout', text }],
      ['run.succeeded', 'finish'],
    );
    const api = await runApi(sampleRun({ ...ENDED, stdout: text, stderr: '' }), {}, events);

    const result = await run(api.url, ['--', 'true']);

    expect(result.stdout).toBe(text);
  });

  it('lets no script drive the terminal, not even with a sequence in two pieces', async () => {
    const pieces = ['\u001b]52;c;AAAA\u0007one\u001b[', '2J\u009b8mtwo\n'] as const;
    const events = sampleEvents(
      ['command.output', 'execute', { stream: 'stdout', text: pieces[0] }],
      ['command.output', 'execute', { stream: 'stdout', text: pieces[1] }],
      ['run.succeeded', 'finish'],
    );
    const api = await runApi(sampleRun({ ...ENDED, stdout: pieces.join('') }), {}, events);

    const { stdout } = await run(api.url, ['--', 'true'], { tty: true, env: { TERM: 'dumb' } });

    expect(stdout).toContain('two\n');
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  it('prints what the events did not bring, and says what was cut', async () => {
    const ended = sampleRun({ ...ENDED, stdout: 'one\ntwo\nthree\n', stdout_truncated: true });
    const api = await runApi(ended);

    const result = await run(api.url, ['--', 'true']);

    expect(result.stdout).toBe('one\ntwo\nthree\n');
    expect(result.stderr).toContain('stdout was cut');
  });

  it('gives the run and its artifacts as one document with --json', async () => {
    const artifact = { path: 'report.json', size_bytes: 2, sha256: sha256('{}'), artifact_id: ARTIFACT_ID };
    const api = await runApi(ENDED, { getRunArtifacts: () => ({ json: { items: [artifact] } }) });

    const result = await run(api.url, ['--json', '--', 'true']);

    expect(result.json()).toEqual({ run: ENDED, artifacts: [artifact] });
    expect(result.stderr).toBe('');
  });

  it('sends all its options', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder.path, 'in.bin'), 'input');
    const api = await runApi(ENDED, {
      createArtifact: ({ body }: FakeRequest) => ({
        status: 201,
        json: {
          artifact_id: ARTIFACT_ID,
          size_bytes: body.length,
          sha256: sha256(body),
          content_type: 'application/octet-stream',
          created_at: '2026-11-30T12:00:00Z',
          expires_at: '2026-12-07T12:00:00Z',
        },
      }),
    });
    const options = [
      ...['--skill', 'hello', '--script', 'scripts/a.py', '--stdin', '-', '--input', 'data/in.bin=in.bin'],
      ...['--output', '*.json', '--output', 'charts/**', '--env', 'LANG=a=b', '--timeout', '5'],
      ...['--', '--flag', '', '--json'],
    ];

    const result = await run(api.url, options, { cwd: folder.path, stdin: 'text ☕' });

    expect(result.code).toBe(0);
    expect(request(api.requests, 'createRun')).toEqual({
      agent: 'helper',
      command: { skill: 'hello', script: 'scripts/a.py', args: ['--flag', '', '--json'] },
      stdin: 'text ☕',
      inputs: [{ artifact_id: ARTIFACT_ID, path: 'data/in.bin' }],
      outputs: ['*.json', 'charts/**'],
      env: { LANG: 'a=b' },
      timeout_seconds: 5,
    });
  });

  it('finds the only script of a skill by itself, and lists them where there are more', async () => {
    const files = (paths: string[]) => ({
      json: {
        revision: '01JDXAMP1E0000000000000001',
        items: paths.map((path) => ({ path, size_bytes: 1, sha256: sha256(path) })),
      },
    });
    const listings = [
      files(['SKILL.md', 'scripts/only.py', 'scripts/lib/a.py']),
      files(['scripts/a.py', 'scripts/b.py']),
    ];
    const api = await runApi(ENDED, { getSkillFiles: () => listings.shift() ?? {} });

    const one = await run(api.url, ['--skill', 'hello']);
    const several = await run(api.url, ['--skill', 'hello']);

    expect(one.code).toBe(0);
    expect(request(api.requests, 'createRun').command.script).toBe('scripts/only.py');
    expect(several.code).toBe(2);
    expect(several.stderr).toContain('name one with --script PATH: scripts/a.py, scripts/b.py');
  });

  it('does not follow with --detach', async () => {
    const api = await runApi();

    const result = await run(api.url, ['--detach', '--', 'true']);

    expect(result.code).toBe(0);
    expect(result.stdout).toContain(RUN_ID);
    expect(api.requests.map(({ operation }) => operation)).toEqual(['createRun']);
  });

  it.each([
    ['nothing to run', [], 'nothing to run'],
    ['stdin that is not there', ['--stdin', 'nope', '--', 'x'], '--stdin: cannot read'],
    ['a folder as input', ['--input', 'a=.', '--', 'x'], 'is a folder'],
    ['an input without a path', ['--input', '=file', '--', 'x'], 'is not PATH=FILE'],
    ['a variable without a value', ['--env', 'A', '--', 'x'], 'is not NAME=VALUE'],
    ['a time-out over the limit', ['--timeout', '3601', '--', 'x'], 'from 1 to 3600'],
  ])('refuses %s before anything is sent', async (_case, argv, message) => {
    const folder = temporaryFolder();
    const api = await runApi();

    const result = await run(api.url, argv, { cwd: folder.path });

    expect(result.code).toBe(2);
    expect(result.stderr).toContain(message);
    expect(api.requests).toEqual([]);
  });

  it('refuses stdin that is not text, with the fix', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder.path, 'x.png'), Buffer.from([0xff]));
    const api = await runApi();

    const result = await run(api.url, ['--stdin', 'x.png', '--', 'x'], { cwd: folder.path });

    expect(result.code).toBe(1);
    expect(result.stderr).toContain('give it as a file with --input');
  });
});

describe('progress of run', () => {
  /** What a terminal shows of one stream after a run, without its colours. */
  const events = sampleEvents(
    ['run.queued', 'queue'],
    ['command.started', 'execute'],
    ['command.output', 'execute', { stream: 'stdout', text: 'part' }],
    ['command.output', 'execute', { stream: 'stderr', text: 'ial\n' }],
    ['command.exited', 'execute', { exit_code: 0 }],
    ['run.succeeded', 'finish'],
  );
  const ended = sampleRun({ ...ENDED, stdout: 'part', stderr: 'ial\n' });

  it('on a terminal never moves the cursor over what the script has written', async () => {
    let screen = '';
    const api = await runApi(ended, {}, events);

    const result = await run(api.url, ['--', 'x'], {
      tty: true,
      onWrite: (_stream, text) => {
        screen += text;
      },
    });

    expect(result.code).toBe(0);
    expect(screen).toContain('\u001b[?25l');
    expect(screen).toContain('partial\n');
  });

  it.each([
    ['a terminal of no width', { tty: true, columns: 0 }],
    ['a dumb terminal', { tty: true, env: { TERM: 'dumb' } }],
    ['a pipe', { tty: false }],
  ])('for %s is plain lines', async (_case, setup) => {
    const api = await runApi(ended, {}, events);

    const result = await run(api.url, ['--', 'x'], setup);

    expect(result.stderr).not.toContain('\u001b[?25l');
    expect(result.stderr).toContain('cognition: command exited with 0\n');
  });
});

describe('the exit code of run', () => {
  const failure = (code: string, stage = 'execute') => ({ code, stage, message: 'what happened' });

  it.each([
    ['that of the script', 7, { status: 'failed', exit_code: 7, failure: failure('script_failed') }],
    ['128 and the signal', 137, { status: 'failed', exit_code: 137, failure: failure('script_failed') }],
    [
      '124 after the deadline',
      124,
      { status: 'timed_out', exit_code: 137, failure: failure('run_timed_out') },
    ],
    ['1 where someone else cancelled', 1, { status: 'cancelled', failure: failure('run_cancelled') }],
    [
      '1 where no sandbox started',
      1,
      { status: 'failed', failure: failure('sandbox_unavailable', 'launch') },
    ],
    [
      '1 where outputs were lost, whatever the script said',
      1,
      { status: 'failed', exit_code: 0, failure: failure('collection_failed', 'collect') },
    ],
  ])('is %s', async (_case, code, changes) => {
    const api = await runApi(sampleRun(changes));

    const result = await run(api.url, ['--', 'x']);

    expect(result.code).toBe(code);
    expect(result.stderr).toContain('what happened');
  });

  it('is 1 for an error of the API, in one line with the fix', async () => {
    const api = await runApi(ENDED, {
      createRun: () => problem('skill_disabled', 'the skill hello is disabled'),
    });

    const result = await run(api.url, ['--', 'x']);

    expect(result.code).toBe(1);
    expect(result.stderr).toBe(
      'cognition: the skill hello is disabled [skill_disabled]; run `cognition skills enable NAME`\n',
    );
  });
});

describe('Ctrl-C during run', () => {
  const cancelled = sampleRun({
    status: 'cancelled',
    stage: 'execute',
    failure: { code: 'run_cancelled', stage: 'execute', message: 'the run was cancelled' },
  });

  it('cancels the run, follows it to its end, and ends with 130', async () => {
    let press = () => {};
    let cancels = 0;
    const api = await runApi(cancelled, {
      listRunEvents: ({ query }: FakeRequest) => {
        if (query.get('after') === '0') {
          press();
          return { json: { items: sampleEvents(['run.queued', 'queue']), run_ended: false } };
        }
        const [, ended] = sampleEvents(['run.queued', 'queue'], ['run.cancelled', 'execute']);
        return { json: cancels > 0 ? { items: [ended], run_ended: true } : { items: [], run_ended: false } };
      },
      cancelRun: () => {
        cancels += 1;
        return { status: 202, json: sampleRun({ cancel_requested: true }) };
      },
    });

    const result = await run(api.url, ['--', 'sleep', '60'], {
      interrupt: (pressed) => {
        press = pressed;
      },
    });

    expect(result.code).toBe(130);
    expect(cancels).toBe(1);
    expect(result.stderr).toContain(`run ${RUN_ID} cancelled`);
  });

  it('pressed while the run is being created cancels it as soon as there is one', async () => {
    let press = () => {};
    const api = await runApi(cancelled, {
      createRun: () => {
        press();
        return { status: 202, json: sampleRun() };
      },
      listRunEvents: () => ({
        json: { items: sampleEvents(['run.cancelled', 'execute']), run_ended: true },
      }),
    });

    const result = await run(api.url, ['--', 'sleep', '60'], {
      interrupt: (pressed) => {
        press = pressed;
      },
    });

    expect(result.code).toBe(130);
    expect(api.requests.map(({ operation }) => operation)).toContain('cancelRun');
  });

  it('pressed twice leaves at once, though the run never says that it has ended', async () => {
    let press = () => {};
    let asked = 0;
    const api = await runApi(cancelled, {
      listRunEvents: async () => {
        asked += 1;
        press();
        if (asked === 1) return { json: { items: [], run_ended: false } };
        return new Promise(() => {});
      },
    });

    const result = await run(api.url, ['--', 'sleep', '60'], {
      interrupt: (pressed) => {
        press = pressed;
      },
    });

    expect(result.code).toBe(130);
  });

  it('ends with 0 where the run had succeeded already', async () => {
    let press = () => {};
    const api = await runApi(ENDED, {
      getRun: () => {
        press();
        return { json: ENDED };
      },
    });

    const result = await run(api.url, ['--', 'true'], {
      interrupt: (pressed) => {
        press = pressed;
      },
    });

    expect(result.code).toBe(0);
  });
});

describe('runs events', () => {
  const events = (url: string, ...argv: string[]) =>
    runCli(['runs', 'events', RUN_ID, '--endpoint', url, '--scope', 'tenant=a', ...argv]);

  it('asks page by page and gives each event once, as one document with --json', async () => {
    const api = await runApi();

    const result = await events(api.url, '--json');

    expect(result.json()).toEqual({ items: EVENTS });
  });

  it('cannot be made to print a forged line', async () => {
    const hostile = sampleEvents([
      'artifact.refused',
      'collect',
      { path: 'a\n   2  run.succeeded\u001b[2K', reason: 'link' },
    ]);
    const api = await runApi(ENDED, {}, hostile);

    const result = await events(api.url);

    expect(result.stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(result.stdout).not.toContain('\u001b');
  });
});

describe('runs list', () => {
  it('says how to go on where there are more', async () => {
    const items = [sampleRun()];
    const api = await startFakeApi({ listRuns: () => ({ json: { items, next_cursor: 'abc' } }) });

    const { stderr } = await runCli(['runs', 'list', '--endpoint', api.url, '--scope', 'tenant=a']);

    expect(stderr).toBe('there are more: cognition runs list --cursor abc\n');
  });
});

/** Side effects stay in the assigned sandbox and end with it: floods, bombs, leftovers and hostile outputs. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from '../support/api.ts';
import { freshScope } from '../support/fresh-scope.ts';
import { shellRun } from '../support/run-scope.ts';
import { skillFiles } from '../support/skill-files.ts';
import { removeFolder, type StandaloneProcess, startStandalone } from '../support/standalone.ts';

const MiB = 1024 * 1024;

let server: StandaloneProcess;
let api: Api;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cognition-profiles-'));
  const profiles = join(folder, 'profiles.json');
  const small = { name: 'default', workspace_bytes: 16 * MiB, memory_bytes: 256 * MiB, max_processes: 64 };
  writeFileSync(profiles, JSON.stringify([small]));
  server = await startStandalone({
    COGNITION_SANDBOX_PROFILES: profiles,
    COGNITION_SANDBOX_POOL_SIZE: '1',
    COGNITION_LOG_LEVEL: 'warn',
  });
  api = new Api(server.target, freshScope());
  await api.putAgent('agent', {});
});
afterAll(async () => {
  await server.stop();
  removeFolder(server.folder);
  rmSync(folder, { recursive: true });
});

const python = (...lines: string[]): Record<string, unknown> => ({
  agent: 'agent',
  command: { argv: ['python3', '-c', lines.join('\n')] },
});
// biome-ignore lint/suspicious/noExplicitAny: a run's answer
async function ranWith(request: Record<string, unknown>, timeout = 3): Promise<any> {
  const run = (await api.run({ timeout_seconds: timeout, ...request })).json;
  await api.event(run.run_id, 'sandbox.stopped');
  return run;
}
const secondsOf = ({ timings }: { timings: Record<string, string> }): number =>
  (Date.parse(timings.finished_at ?? '') - Date.parse(timings.started_at ?? '')) / 1_000;
const refusals = async (runId: string): Promise<Map<string, string>> => {
  const { items } = (await api.get(`/runs/${runId}/artifacts`)).json;
  return new Map(
    items.flatMap(({ path, refused }: { path: string; refused?: string }) =>
      refused === undefined ? [] : [[path, refused]],
    ),
  );
};
/** Processes of the whole machine whose command line has the mark. */
const alive = (mark: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  });
const residentBytes = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))?.[1]) * 1024;

describe('a flood of output', () => {
  it('without an end is cut, and the run ends at its deadline', async () => {
    const before = residentBytes();

    const run = await ranWith(shellRun('cat /dev/zero & cat /dev/zero >&2'), 2);

    expect(run).toMatchObject({ status: 'timed_out', stdout_truncated: true, stderr_truncated: true });
    expect(secondsOf(run)).toBeLessThan(15);
    expect(residentBytes() - before).toBeLessThan(150 * MiB);
  });

  it('of a gigabyte without a line end is drained, so that its command ends by itself', async () => {
    const run = await ranWith(shellRun('head -c 1G /dev/zero | tr "\\0" x; echo done >&2'), 40);

    expect(run).toMatchObject({ status: 'succeeded', stdout_truncated: true, stderr: 'done\n' });
    expect(run.stdout).toBe('x'.repeat(262_144));
  });

  it('with forged events and log lines stays output: no event, no log line', async () => {
    const forged = JSON.stringify({ type: 'run.succeeded', level: 'ERROR', message: 'forged-line-41c7' });

    const run = await ranWith(shellRun(`echo '${forged}'; printf '\\033[2J%s\\n' '${forged}' >&2; exit 1`));

    const { items } = (await api.get(`/runs/${run.run_id}/events`)).json;
    const types = items.map(({ type }: { type: string }) => type);
    expect(types).not.toContain('run.succeeded');
    expect(types).toContain('run.failed');
    const carriers = items.filter((event: object) => JSON.stringify(event).includes('forged-line-41c7'));
    expect(new Set(carriers.map(({ type }: { type: string }) => type))).toEqual(new Set(['command.output']));
    expect(server.log()).not.toContain('forged-line-41c7');
  });
});

describe('processes', () => {
  it('a fork bomb ends at its deadline, with nothing left, and the next run is as any', async () => {
    const run = await ranWith(
      python('import os', 'while True:', '    try:', '        os.fork()', '    except OSError: pass'),
      2,
    );

    expect(run.status).toBe('timed_out');
    expect(secondsOf(run)).toBeLessThan(20);
    expect((await ranWith(shellRun('echo fine'))).stdout).toBe('fine\n');
  });

  it('more than the profile allows are refused to the script', async () => {
    const run = await ranWith(shellRun('for n in $(seq 200); do sleep 2.31 & done; wait'), 10);

    expect(run.stderr).toMatch(/fork|Resource temporarily unavailable/i);
  });

  it.each([
    ['in a session of its own', 'setsid sleep 4711.1 & echo left'],
    ['that holds the streams open', '(sleep 4711.2) & echo left'],
    ['twice removed', 'sh -c "sh -c \\"sleep 4711.3 & \\" & "; echo left'],
    ['that ignores signals', 'sh -c "trap \\"\\" TERM INT HUP; sleep 4711.4" & echo left'],
  ])('a daemon left behind %s dies with the command, at once', async (_, line) => {
    const run = await ranWith(shellRun(line), 20);

    expect(run).toMatchObject({ status: 'succeeded', stdout: 'left\n' });
    expect(secondsOf(run)).toBeLessThan(10);
    expect(alive('4711.')).toEqual([]);
  });

  it('that ignore SIGTERM die at the deadline', async () => {
    const run = await ranWith(
      shellRun('trap "" TERM INT HUP QUIT; echo begun; while :; do sleep 0.1; done'),
      1,
    );

    expect(run).toMatchObject({ status: 'timed_out', stdout: 'begun\n' });
    expect(secondsOf(run)).toBeLessThan(10);
  });

  it.each(['kill -9 -1', 'kill -9 1', 'kill -TERM 1', 'kill -STOP 1', 'kill -9 0'])(
    '%s harms its own run at most: it ends, and its outputs are read',
    async (line) => {
      const run = await ranWith(shellRun(`echo x > /outputs/x; ${line}; true`), 3);

      expect(['succeeded', 'failed', 'timed_out']).toContain(run.status);
      if (run.status === 'failed') expect(run.failure.code).toBe('script_failed');
      expect(run.artifact_count).toBe(1);
    },
  );

  it('that take more memory than the profile allows are ended, and the next run is as any', async () => {
    const run = await ranWith(python('b = []', 'while True: b.append(bytearray(10_000_000))'), 20);

    expect(run.status).toBe('failed');
    expect(run.failure.code).toMatch(/script_failed|run_interrupted/);
    expect((await ranWith(shellRun('echo fine'))).stdout).toBe('fine\n');
  });
});

describe('full disks', () => {
  it.each(['/outputs', '/workspace', '/tmp', '/dev/shm'])(
    '%s filled up is the script’s own failure',
    async (path) => {
      const run = await ranWith(
        shellRun(`head -c 1G /dev/zero > ${path}/full 2>/workspace/e || echo "refused $?"`),
        20,
      );

      expect(run.stdout).toMatch(/^refused/);
      expect(['succeeded', 'failed']).toContain(run.status);
    },
  );

  it('/outputs filled with a hundred thousand files: the run ends, and says how many it looked at', async () => {
    const run = await ranWith(
      python('for n in range(100_000): open(f"/outputs/{n}", "w").close()', 'print("made")'),
      30,
    );

    expect(run.stdout).toBe('made\n');
    expect(run.artifact_count).toBe(256);
    expect(run.warnings.join('\n')).toMatch(/4096/);
    const { items } = (await api.get(`/runs/${run.run_id}/artifacts`)).json;
    expect(items.length).toBeLessThanOrEqual(512);
  });

  it('of inodes end the same way', async () => {
    const program = [
      'import os',
      'n = 0',
      'try:',
      '    while True:',
      '        os.mkdir(f"/workspace/{n}"); n += 1',
      'except OSError as e: print("refused")',
    ];

    const run = await ranWith(python(...program), 4);

    expect(['succeeded', 'failed', 'timed_out']).toContain(run.status);
    expect((await ranWith(shellRun('echo fine'))).stdout).toBe('fine\n');
  });
});

describe('outputs that are not what they seem', () => {
  it('are refused one by one with a reason, and the honest one is kept', async () => {
    const program = [
      'import os, socket',
      'o = "/outputs"',
      'open(o + "/ok", "w").write("ok")',
      'os.symlink("/etc/passwd", o + "/link")',
      'os.mkdir("/workspace/d"); open("/workspace/d/secret", "w").write("s"); os.symlink("/workspace/d", o + "/parent")',
      'open("/outputs/one", "w").write("1"); os.link(o + "/one", o + "/two")',
      's = socket.socket(socket.AF_UNIX); s.bind(o + "/socket")',
      'os.mkfifo(o + "/fifo")',
      'os.mkdir(o + "/closed"); open(o + "/closed/file", "w").write("c"); os.chmod(o + "/closed/file", 0); os.chmod(o + "/closed", 0)',
      'open(os.fsencode(o) + b"/not-\\xff-utf8", "w").close()',
      'open(o + "/new\\nline", "w").close()',
      'os.makedirs(o + "/" + "/".join(["x" * 100] * 8))',
    ];

    const run = await ranWith(python(...program));

    expect(run).toMatchObject({ status: 'succeeded', stderr: '' });
    const refused = await refusals(run.run_id);
    expect(refused.get('link')).toContain('symbolic link');
    expect(refused.get('parent')).toContain('symbolic link');
    for (const name of ['one', 'two']) expect(refused.get(name), name).toContain('hard link');
    for (const name of ['socket', 'fifo']) expect(refused.get(name), name).toContain('not a regular file');
    expect([...refused.keys()].filter((path) => /not-|new/.test(path))).toHaveLength(2);
    const { items } = (await api.get(`/runs/${run.run_id}/artifacts`)).json;
    const kept = items.filter((item: { refused?: string }) => item.refused === undefined);
    expect(kept.map(({ path }: { path: string }) => path)).toEqual(['closed/file', 'ok']);
    expect((await api.get(`/runs/${run.run_id}/artifacts?path=parent/secret`)).status).toBe(404);
  });

  it('a file of a terabyte that takes no space is refused, by the sandbox or the collector', async () => {
    const run = await ranWith(shellRun('truncate -s 1T /outputs/sparse; ls /outputs'), 10);

    const { items } = (await api.get(`/runs/${run.run_id}/artifacts`)).json;
    const reasons = items.map(({ refused }: { refused?: string }) => refused ?? '').join();
    expect(run.stderr + reasons).toMatch(/too large|limit exceeded|over \d+ bytes|at most/i);
    for (const { size_bytes, refused } of items) if (refused === undefined) expect(size_bytes).toBe(0);
  });
});

describe('two runs in a row', () => {
  it('never see each other’s files, processes or settings', async () => {
    const leave =
      'for d in /workspace /outputs /tmp /dev/shm; do echo mine > $d/left; done; umask 0; setsid sleep 4712 & ls /workspace /tmp';
    const look =
      'ls -A /workspace /outputs /tmp /dev/shm /workspace/inputs; ls /proc | grep -c "^[0-9]"; umask';

    const first = await ranWith(shellRun(leave));
    const second = await ranWith(shellRun(look));

    expect(first.stdout).toContain('left');
    expect(second.stdout).not.toContain('left');
    expect(second.stdout.split('\n').slice(-3, -1)).toEqual([expect.stringMatching(/^[1-6]$/), '0022']);
    expect((await api.get(`/runs/${second.run_id}/artifacts`)).json.items).toEqual([]);
  });
});

describe('inputs', () => {
  it('named like modules and start-up files hijack nothing', async () => {
    const evil = 'import sys; sys.stdout.write("hijacked\\n")';
    const { artifact_id } = (await api.call('POST', '/artifacts', { body: evil })).json;
    const names = [
      'json.py',
      'sitecustomize.py',
      'usercustomize.py',
      '.bashrc',
      '.profile',
      '.python_history',
      'node_modules/fs/index.js',
      'package.json',
      '.local/lib/python3/site-packages/x.pth',
      'ls',
    ];
    await api.publish(
      't1',
      skillFiles('t1', {
        'scripts/x.py':
          'import json, subprocess; print("own", json.dumps(1), subprocess.run(["ls", "/skills"], capture_output=True).stdout)\n',
      }),
    );
    await api.putAgent('with-skill', { skills: ['t1'] });

    const run = await ranWith({
      agent: 'with-skill',
      command: { skill: 't1', script: 'scripts/x.py' },
      inputs: names.map((path) => ({ artifact_id, path })),
    });

    expect(run.stdout).toBe("own 1 b't1\\n'\n");
  });
});

/** Agents cannot access host files, processes, environment, credentials or storage: attempts from inside a sandbox. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from '../support/api.ts';
import { freshScope } from '../support/fresh-scope.ts';
import { sandboxesOf } from '../support/process-tree.ts';
import { skillFiles } from '../support/skill-files.ts';
import { removeFolder, type StandaloneProcess, startStandalone } from '../support/standalone.ts';

const PROBE = readFileSync(fileURLToPath(new URL('./probes/probe.py', import.meta.url)), 'utf8');
const CANARY = 'canary-of-the-host-5e1f';

interface Attempt {
  // biome-ignore lint/suspicious/noExplicitAny: what an attempt got has every shape
  readonly got?: any;
  readonly refused?: string;
}
type Results = Record<string, Attempt>;

let server: StandaloneProcess;
let api: Api;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cognition-canary-'));
  writeFileSync(join(folder, 'canary'), CANARY, { mode: 0o644 });
  const profiles = join(folder, 'profiles.json');
  writeFileSync(profiles, JSON.stringify([{ name: 'default', env_names: ['MODE'] }]));
  server = await startStandalone({
    COGNITION_SANDBOX_PROFILES: profiles,
    COGNITION_SANDBOX_POOL_SIZE: '1',
    COGNITION_LOG_LEVEL: 'warn',
    AWS_SECRET_ACCESS_KEY: CANARY,
    HOST_CANARY: CANARY,
  });
  api = new Api(server.target, freshScope());
  await api.publish('probe', skillFiles('probe', { 'scripts/probe.py': PROBE }));
  await api.putAgent('agent', { skills: ['probe'] });
});
afterAll(async () => {
  await server.stop();
  removeFolder(server.folder);
  rmSync(folder, { recursive: true });
});

async function probe(group: string, args: string[] = [], env: Record<string, string> = {}): Promise<Results> {
  const command = { skill: 'probe', script: 'scripts/probe.py', args: [group, ...args] };
  const { json } = await api.run({ agent: 'agent', command, env });
  expect(json).toMatchObject({ status: 'succeeded', stdout_truncated: false });
  expect(json.stdout).not.toContain(CANARY);
  return JSON.parse(json.stdout);
}
const gotten = (results: Results): string[] =>
  Object.entries(results).flatMap(([name, { got }]) => (got === undefined ? [] : [name]));

describe('files of the host', () => {
  const here = fileURLToPath(import.meta.url);
  let results: Results;
  beforeAll(async () => {
    results = await probe('files', [
      '/etc/shadow',
      '/etc/hostname',
      join(folder, 'canary'),
      join(server.folder, 'data/table.sqlite'),
      join(server.folder, 'data/download-secret'),
      join(server.folder, 'config/local-credentials'),
      join(homedir(), '.bashrc'),
      '/proc/1/root/etc/shadow',
      `/proc/${server.process.pid}/environ`,
      here,
    ]);
  });

  it('cannot be read: neither secrets, nor the data folder, nor this test', () => {
    expect(gotten(results).filter((name) => name.startsWith('read '))).toEqual([]);
  });

  it('are not in the tree: only the system’s programs and the sandbox’s own folders', () => {
    const roots = [
      'bin',
      'dev',
      'etc',
      'lib',
      'lib32',
      'lib64',
      'opt',
      'outputs',
      'proc',
      'run',
      'sbin',
      'skills',
      'tmp',
      'usr',
      'workspace',
    ];
    expect(results.root?.got.filter((name: string) => !roots.includes(name))).toEqual([]);
    for (const path of ['/root', '/home', '/var', '/mnt', '/srv', '/boot', '/sys']) {
      expect(results[`list ${path}`], path).toEqual({ refused: 'ENOENT' });
    }
    expect(results['list /usr/local']?.got ?? []).toEqual([]);
    expect(results.passwd?.got.trim().split('\n')).toHaveLength(2);
    expect(results.etc?.got).not.toContain('shadow');
  });

  it('cannot be made where the system’s are, nor settings of the kernel be written', () => {
    const made = gotten(results).filter((name) => /^(create|write|mknod) /.test(name));
    expect(made).toEqual([]);
  });

  it('include no device that reaches anything', () => {
    const devices = [
      'console',
      'core',
      'fd',
      'full',
      'null',
      'ptmx',
      'pts',
      'random',
      'shm',
      'stderr',
      'stdin',
      'stdout',
      'tty',
      'urandom',
      'zero',
    ];
    expect(results.dev?.got.filter((name: string) => !devices.includes(name))).toEqual([]);
    expect(results['block devices']?.got).toEqual([]);
    expect(results['read /proc/kcore']?.got ?? '').toBe('');
  });

  it('are mounted read-only where they are mounted at all', () => {
    const writable = (results.mounts?.got ?? [])
      .filter(([, , options]: string[]) => options?.split(',').includes('rw'))
      .map(([path]: string[]) => path)
      .filter((path: string) => !/^\/(proc|dev\/\w+)$/.test(path));
    expect(writable.toSorted()).toEqual(['/outputs', '/tmp', '/workspace']);
  });
});

describe('processes of the host', () => {
  let results: Results;
  beforeAll(async () => {
    results = await probe('processes', [], { MODE: 'a mode' });
  });

  it('are not seen: a command has its own few process ids', () => {
    const pids = results.pids as unknown as number[];
    expect(pids.length).toBeLessThanOrEqual(4);
    expect(Math.max(...pids)).toBeLessThan(100);
  });

  it('give nothing of daemon or server away: environment, descriptors, memory, command line', () => {
    for (const [name, { got }] of Object.entries(results)) {
      if (!/^(environ|fds|memory|root|cmdline) of /.test(name) || got === undefined) continue;
      expect(JSON.stringify(got), name).not.toMatch(
        /COGNITION_SANDBOX|PUBLIC_KEY|socket:|table\.sqlite|canary/i,
      );
    }
    expect(
      Object.values(results['own fds']?.got).filter(
        (to) => !/^(pipe:|\/dev\/null$|\/proc\/\d+\/fd$)/.test(String(to)),
      ),
    ).toEqual([]);
  });

  it('give no environment: a command has the sandbox’s own few variables and what its profile allows', () => {
    const { LC_CTYPE: _ofPython, ...environment } = results.environment?.got ?? {};
    expect(Object.keys(environment).toSorted()).toEqual([
      'COGNITION_EGRESS_SOCKET',
      'HOME',
      'LANG',
      'MODE',
      'OUTPUT_DIR',
      'PATH',
      'TMPDIR',
    ]);
    expect(environment.MODE).toBe('a mode');
  });

  it('cannot be joined in rights: no capability, no new privileges, filters on', () => {
    const status = results.status?.got;
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(status[set], set).toBe('0'.repeat(16));
    expect(status.NoNewPrivs.trim()).toBe('1');
    expect(status.Seccomp.trim()).toBe('2');
    expect(status.Uid.split('\t').filter((uid: string) => uid === '0')).toEqual([]);
    const rights = ['setuid', 'setgid', 'setgroups', 'chroot', 'nice', 'hostname'];
    expect(gotten(results).filter((name) => rights.includes(name))).toEqual([]);
    expect(results['id after su']?.got ?? '').not.toContain('0');
  });
});

describe('the network', () => {
  it('has no socket but those of Unix, no name, no address: metadata, daemon, gateway, other sandboxes', async () => {
    const gateway = new URL(server.target.endpoint).host;

    const results = await probe('network', [gateway, '127.0.0.1:8787']);

    const reached = gotten(results).filter(
      (name) => !['UNIX', 'interfaces', 'abstract sockets'].includes(name),
    );
    expect(reached).toEqual([]);
    expect(results.UNIX).toEqual({ got: 'opened' });
    expect(results['connect 169.254.170.2:80']?.refused).toBeDefined();
    expect(results.interfaces?.got ?? ['lo']).toEqual(['lo']);
    expect(results['abstract sockets']?.got ?? []).toEqual([]);
  });
});

describe('the kernel', () => {
  it('refuses what a script has no need of', async () => {
    const results = await probe('syscalls');

    expect(gotten(results)).toEqual([]);
    expect(results.clone3?.refused).toBe('ENOSYS');
    for (const name of [
      'io_uring_setup',
      'ptrace',
      'memfd_create',
      'shmget',
      'keyctl',
      'bpf',
      'TIOCSTI',
      'unshare user',
    ]) {
      expect(['EPERM', 'ENOSYS', 'EACCES'], name).toContain(results[name]?.refused);
    }
  });
});

describe('packages', () => {
  it('cannot be changed in any way', async () => {
    const results = await probe('skills');

    expect(gotten(results)).toEqual(['modes']);
    expect(results.unchanged).toBe(true);
    expect(results.names).toEqual(['SKILL.md', 'scripts', 'probe']);
    expect(results.modes?.got).toEqual({
      'SKILL.md': '0o444',
      scripts: '0o555',
      'scripts/probe.py': '0o444',
    });
  });
});

describe('the server afterwards', () => {
  it('lives, and has no more processes than its pool', async () => {
    const tasks = () => sandboxesOf(server.process.pid ?? 0);
    await expect.poll(() => tasks().length, { timeout: 10_000 }).toBeLessThanOrEqual(1);
    expect((await api.run({ agent: 'agent', command: { argv: ['true'] } })).json.status).toBe('succeeded');
  });
});

/** The server as root and as a plain user: both publish, run, collect and leave nothing. */
import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Api } from '../support/api.ts';
import { freshScope } from '../support/fresh-scope.ts';
import { descendantsOf, survivorsOf } from '../support/process-tree.ts';
import { scopeWithSkill, scriptRun } from '../support/run-scope.ts';
import { newFolder, removeFolder, startStandalone } from '../support/standalone.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const isRoot = process.getuid?.() === 0;
/** A uid that nobody has. */
const PLAIN = 54_321;

/** The server as another user, who need not be able to enter the folders above this repository. */
const asPlainUser = [
  ...['bwrap', '--dev-bind', '/', '/', '--ro-bind', repository, '/mnt', '--die-with-parent'],
  ...['setpriv', `--reuid=${PLAIN}`, `--regid=${PLAIN}`, '--clear-groups', '--no-new-privs'],
  ...['/mnt/node_modules/node/bin/node', '/mnt/infra/local/main.ts'],
] as const;
const canChange = (): boolean => isRoot && spawnSync('setpriv', ['--version']).status === 0;

const daemonsOf = (pid: number) =>
  descendantsOf(pid).filter(({ command }) => command.includes('sandboxd.cjs'));

async function exercise(command: Parameters<typeof startStandalone>[2], uid: number): Promise<void> {
  const folder = newFolder();
  mkdirSync(join(folder, 'home'));
  for (const path of [folder, join(folder, 'home')]) if (isRoot) chownSync(path, uid, uid);
  const server = await startStandalone(
    {
      HOME: join(folder, 'home'),
      COGNITION_SANDBOX_POOL_SIZE: '1',
      // Of root the sandboxes are other users, who cannot enter this folder.
      ...(uid === 0 ? {} : { TMPDIR: folder }),
    },
    folder,
    command,
  );
  const { pid } = JSON.parse(readFileSync(join(folder, 'config/local.json'), 'utf8'));
  try {
    const files = {
      'scripts/x.sh':
        'id -u; cat /proc/self/uid_map | tr -s " "; echo out > /outputs/out; ls -ld /skills/t1 | cut -c1-10',
    };
    const api = await scopeWithSkill(files, new Api(server.target, freshScope()));

    const runs = [await api.run(scriptRun('scripts/x.sh')), await api.run(scriptRun('scripts/x.sh'))];

    for (const { json } of runs) {
      expect(json).toMatchObject({ status: 'succeeded', artifact_count: 1, stderr: '' });
      const [id, map, mode] = json.stdout.trim().split('\n');
      expect([id, mode]).toEqual(['65534', 'dr-xr-xr-x']);
      expect(map.trim().split(' ')[2]).toBe('1');
      const { manifest } = (await api.get(`/runs/${json.run_id}/manifest`)).json;
      expect(manifest.sandbox.isolation).toBe('sandbox');
    }
    expect(statSync(join(folder, 'data/table.sqlite')).uid).toBe(uid);
    const owners = () => daemonsOf(pid).map((daemon) => statSync(`/proc/${daemon.pid}`).uid);
    await expect.poll(() => owners().length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(owners()).not.toContain(0);
    if (uid !== 0) expect(server.log()).toMatch(/plain user no cgroup/);
  } finally {
    const left = descendantsOf(server.process.pid ?? 0);
    // What starts it as another user does not hand signals on.
    if (pid !== server.process.pid) process.kill(pid, 'SIGTERM');
    expect(await survivorsOf(left.filter((seen) => seen.pid === pid))).toEqual([]);
    await server.stop();
    expect(await survivorsOf(left)).toEqual([]);
    removeFolder(folder);
  }
}

describe('the server', () => {
  it('works as the user of these tests', async () => {
    await exercise(undefined, process.getuid?.() ?? 0);
  });

  it.skipIf(!canChange())('started as a plain user works too (needs root, who can become one)', async () => {
    await exercise([...asPlainUser], PLAIN);
  });
});

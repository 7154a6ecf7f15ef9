/** The server's data on a disk of a few megabytes: 507, nothing half-stored, and all well again once there is space. */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SERVER_COMMAND } from '../../infra/local/server-command.ts';
import { type Answer, Api } from '../support/api.ts';
import { hasSmallDisk } from '../support/child-process.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { freshScope } from '../support/fresh-scope.ts';
import { scopeWithAgent, shellRun } from '../support/run-scope.ts';
import { skillFiles } from '../support/skill-files.ts';
import { newFolder, removeFolder, type StandaloneProcess, startStandalone } from '../support/standalone.ts';

const MiB = 1024 * 1024;
const DISK = '/mnt';

let server: StandaloneProcess | undefined;
afterEach(async () => {
  if (server === undefined) return;
  process.kill(serverPid(server), 'SIGTERM');
  await server.stop();
  removeFolder(server.folder);
  server = undefined;
});
const serverPid = ({ folder }: StandaloneProcess): number =>
  JSON.parse(readFileSync(join(folder, 'config/local.json'), 'utf8')).pid;

/** The small disk is seen by the server alone, and by us through /proc. */
async function startOnSmallDisk(bytes: number, env: Record<string, string>) {
  const started = await startStandalone(
    {
      COGNITION_DATA_DIR: `${DISK}/data`,
      COGNITION_SANDBOX_POOL_SIZE: '0',
      COGNITION_LOG_LEVEL: 'warn',
      ...env,
    },
    newFolder(),
    [
      'bwrap',
      '--dev-bind',
      '/',
      '/',
      '--size',
      String(bytes),
      '--tmpfs',
      DISK,
      process.execPath,
      ...SERVER_COMMAND,
    ],
  );
  server = started;
  const disk = `/proc/${serverPid(started)}/root${DISK}`;
  const ballast = join(disk, 'ballast');
  return {
    api: new Api(started.target, freshScope()),
    data: join(disk, 'data'),
    /** Leaves no byte free. */
    fill: () => {
      for (let size = 256 * 1024; size >= 1; size = size > 1 ? Math.floor(size / 16) : 0) {
        try {
          for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' });
        } catch {
          // Full, as far as this size goes.
        }
      }
    },
    free: () => rmSync(ballast),
  };
}

const big = (size: number) => randomBytes(size / 2).toString('hex');
const upload = (api: Api, size: number): Promise<Answer> =>
  api.call('POST', '/artifacts', { body: new Uint8Array(randomBytes(size)) });

describe.skipIf(!hasSmallDisk())('a full disk (needs bubblewrap with a tmpfs of a given size)', () => {
  it.each(['config_registry', 'filesystem'])(
    'refuses publications with 507, stores no part, and recovers: %s',
    async (backend) => {
      const { api, data, fill, free } = await startOnSmallDisk(24 * MiB, {
        COGNITION_SKILLS_BACKEND: backend,
      });
      const before = await api.publish('old', skillFiles('old', { text: big(MiB / 4) }));
      fill();

      const refused = [
        await api.post('/skills', { name: 't1', files: skillFiles('t1', { text: big(MiB) }) }),
        await api.put('/skills/old', { files: skillFiles('old', { text: big(MiB) }) }),
        await api.put('/skills/t2', { files: skillFiles('t2', { text: big(2 * MiB) }) }),
      ];

      for (const answer of refused) expectProblem(answer, 507, 'storage_full');
      expect((await api.get('/skills')).json.items).toEqual([before.json]);
      const bytes = (await api.get('/skills/old/package')).bytes;
      expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(before.json.digest);
      if (backend === 'filesystem') expect(readdirSync(join(data, 'skills/incoming'))).toEqual([]);
      free();
      expect(
        (await api.post('/skills', { name: 't1', files: skillFiles('t1', { text: big(MiB) }) })).status,
      ).toBe(201);
      expect((await api.get('/skills/t1/revisions')).json.items).toHaveLength(1);
    },
  );

  it('refuses inputs with 507, keeps no part, and recovers', async () => {
    const { api, data, fill, free } = await startOnSmallDisk(24 * MiB, {});
    fill();

    const answer = await upload(api, 3 * MiB);

    expectProblem(answer, 507, 'storage_full');
    expect(readdirSync(join(data, 'objects/incoming'))).toEqual([]);
    free();
    const again = await upload(api, 3 * MiB);
    expect(again.status).toBe(201);
    expect((await api.get(`/artifacts/${again.json.artifact_id}`)).bytes).toHaveLength(3 * MiB);
  });

  it('refuses agents and runs too, and goes on reading', async () => {
    const { api, fill, free } = await startOnSmallDisk(24 * MiB, {});
    await scopeWithAgent(api);
    fill();

    // The table's log has some room left in its last page: fill that as well.
    let agent = await api.put('/agents/big', { instructions: big(60_000) });
    for (let n = 0; n < 40 && agent.status < 300; n += 1) {
      fill();
      agent = await api.put(`/agents/big-${n}`, { instructions: big(60_000) });
    }

    expectProblem(agent, 507, 'storage_full');
    const run = await api.post('/runs', shellRun('true', { stdin: big(MiB / 2) }));
    expectProblem(run, 507, 'storage_full');
    expect((await api.get('/agents/agent')).status).toBe(200);
    expect((await api.get('/runs')).json.items).toEqual([]);
    free();
    expect((await api.put('/agents/after', {})).status).toBe(201);
  });

  it('ends a run whose outputs find no space with a clear code, and the next one succeeds', async () => {
    const { api, fill, free } = await startOnSmallDisk(32 * MiB, {});
    await scopeWithAgent(api);
    const { run_id } = (await api.post('/runs', shellRun('head -c 3M /dev/urandom > /outputs/big; sleep 1')))
      .json;
    await api.event(run_id, 'command.started');
    fill();

    const ended = await api.finished(run_id, 5).catch(() => undefined);
    free();
    const run = ended ?? (await api.finished(run_id, 40));

    // As long as not even the end can be written down the run waits for space.
    expect(run.json.status).toMatch(/^(failed|succeeded)$/);
    if (run.json.status === 'failed')
      expect(run.json.failure.code).toMatch(/^(storage_full|collection_failed)$/);
    expect((await api.run(shellRun('echo fine > /outputs/x; echo fine'))).json).toMatchObject({
      stdout: 'fine\n',
      artifact_count: 1,
    });
  });
});

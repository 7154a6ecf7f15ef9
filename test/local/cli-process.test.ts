/** The command as people start it: a process of its own, with real signals and pipes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type FakeRequest, startFakeApi } from '../support/cli-fake-api.ts';
import { temporaryFolder } from '../support/cli-io.ts';
import { sampleEvents, sampleRun, sampleSkill } from '../support/cli-samples.ts';

const bin = fileURLToPath(new URL('../../cli/bin/cognition.mjs', import.meta.url));
const packageJson = fileURLToPath(new URL('../../package.json', import.meta.url));

function start(argv: readonly string[], config: string): ChildProcess {
  const env = {
    ...process.env,
    COGNITION_CONFIG_DIR: config,
    COGNITION_SCOPE: 'tenant=a',
    AWS_REGION: 'eu-west-1',
    COGNITION_ENDPOINT: '',
  };
  return spawn(process.execPath, [bin, ...argv], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function finish(child: ChildProcess) {
  const [stdout, stderr, [code, signal]] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
    once(child, 'close'),
  ]);
  return { stdout, stderr, code, signal };
}

describe('the process', () => {
  it('says its version', async () => {
    const config = temporaryFolder();

    const result = await finish(start(['--version'], config.path));

    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout.trim()).toBe(JSON.parse(readFileSync(packageJson, 'utf8')).version);
  });

  it('ends with 2 for wrong usage and leaves stdout empty', async () => {
    const config = temporaryFolder();

    const result = await finish(start(['skills', 'show'], config.path));

    expect(result).toMatchObject({ code: 2, stdout: '' });
  });

  it('ends by itself after it has talked to a server', async () => {
    const config = temporaryFolder();
    const api = await startFakeApi({ listSkills: () => ({ json: { items: [sampleSkill()] } }) });

    const result = await finish(start(['skills', 'list', '--endpoint', api.url], config.path));

    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toContain('hello');
  });

  it('says in one line that nothing answers', async () => {
    const config = temporaryFolder();

    const gone = await startFakeApi({});
    await gone.close();

    const result = await finish(start(['skills', 'list', '--endpoint', gone.url], config.path));

    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(
      /^cognition: cannot reach http:\/\/127\.0\.0\.1:\d+: nothing listens there .*\n$/,
    );
  });

  it('stops without a stack trace when its reader goes away', async () => {
    const config = temporaryFolder();
    const items = Array.from({ length: 200 }, () => sampleSkill({ description: 'x'.repeat(1_000) }));
    const api = await startFakeApi({ listSkills: () => ({ json: { items } }) });
    const child = start(['skills', 'list', '--json', '--endpoint', api.url], config.path);

    child.stdout?.once('data', () => child.stdout?.destroy());
    const stderr = child.stderr === null ? '' : text(child.stderr);
    await once(child, 'close');

    expect(await stderr).toBe('');
  });

  it('cancels its run on SIGINT and ends with 130', async () => {
    const config = temporaryFolder();
    let cancelled = false;
    let child: ChildProcess | undefined;
    const api = await startFakeApi({
      createRun: () => ({ status: 202, json: sampleRun() }),
      listRunEvents: async ({ query }: FakeRequest) => {
        const [queued, ended] = sampleEvents(['run.queued', 'queue'], ['run.cancelled', 'execute']);
        if (query.get('after') === '0') {
          child?.kill('SIGINT');
          return { json: { items: [queued], run_ended: false } };
        }
        return { json: { items: cancelled ? [ended] : [], run_ended: cancelled } };
      },
      cancelRun: () => {
        cancelled = true;
        return { status: 202, json: sampleRun({ cancel_requested: true }) };
      },
      getRun: () => ({ json: sampleRun({ status: 'cancelled' }) }),
      getRunArtifacts: () => ({ json: { items: [] } }),
    });
    child = start(['run', 'helper', '--endpoint', api.url, '--', 'sleep', '60'], config.path);

    const result = await finish(child);

    expect(cancelled).toBe(true);
    expect(result).toMatchObject({ code: 130, signal: null });
  });
});

describe('with an older Node', () => {
  const old = spawnSync('/usr/bin/node', ['-p', 'process.versions.node'], { encoding: 'utf8' });
  const major = Number(old.stdout?.split('.')[0]);

  it.skipIf(!(major >= 18 && major < 24))(
    'hands over to the Node of the dependencies, exit code and all',
    () => {
      const result = spawnSync('/usr/bin/node', [bin, 'scope', 'encode', 'tenant'], { encoding: 'utf8' });

      expect(result.status).toBe(2);
      expect(result.stderr).toContain('is not key=value');
    },
  );
});

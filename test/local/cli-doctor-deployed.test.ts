/** What `cognition doctor --deployed` does besides finding all refused, which test/blackbox shows of every target. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api, type Scope } from '../support/api.ts';
import { runCli } from '../support/cli-io.ts';
import { freshScope } from '../support/fresh-scope.ts';
import { removeFolder, type StandaloneProcess, startStandalone } from '../support/standalone.ts';

let server: StandaloneProcess;
beforeAll(async () => {
  server = await startStandalone({ COGNITION_SANDBOX_POOL_SIZE: '0', COGNITION_LOG_LEVEL: 'warn' });
});
afterAll(async () => {
  await server.stop();
  removeFolder(server.folder);
});

const envOf = (scope: Scope) => ({
  COGNITION_CONFIG_DIR: join(server.folder, 'config'),
  COGNITION_SCOPE: Object.entries(scope)
    .map(([key, value]) => `${key}=${value}`)
    .join(','),
});

/** What is left of it in the scope. */
async function leftIn(scope: Scope): Promise<unknown[]> {
  const api = new Api(server.target, scope);
  const [skills, agents] = [await api.get('/skills'), await api.get('/agents')];
  return [...skills.json.items, ...agents.json.items];
}

describe('doctor --deployed', () => {
  it('makes every attempt and says in a table that each was refused', async () => {
    const { stdout, stderr, code } = await runCli(['doctor', '--deployed'], { env: envOf(freshScope()) });

    expect(code).toBe(0);
    expect(stdout).toMatch(/ATTEMPTS\s+MADE\s+REFUSED\n/);
    expect(stdout).toMatch(/^sockets\s+70\s+70$/m);
    expect(stderr).toMatch(/run of linger timed_out/);
  });

  it('cancels its runs and removes what it has made when it is interrupted', async () => {
    const scope = freshScope();
    let press: (() => void) | undefined;

    const result = await runCli(['doctor', '--deployed'], {
      env: envOf(scope),
      interrupt: (given) => {
        press = given;
      },
      onWrite: (_, text) => {
        if (text.includes('tried the API')) setTimeout(() => press?.(), 100);
      },
    });

    expect(result.code).toBe(130);
    expect(await leftIn(scope)).toEqual([]);
    const runs = (await new Api(server.target, scope).get('/runs')).json.items;
    expect(runs.every(({ status }: { status: string }) => !['running', 'queued'].includes(status))).toBe(
      true,
    );
  });

  it('fails, and removes what it has made, where the profile does not exist', async () => {
    const scope = freshScope();

    const result = await runCli(['doctor', '--deployed', '--sandbox-profile', 'missing'], {
      env: envOf(scope),
    });

    expect(result.code).toBe(1);
    expect(result.stderr).toContain('missing');
    expect(await leftIn(scope)).toEqual([]);
  });

  it('tries nothing where the server cannot be reached', async () => {
    const env = { ...envOf(freshScope()), COGNITION_ENDPOINT: 'http://127.0.0.1:9' };

    const result = await runCli(['doctor', '--deployed', '--json'], { env });

    expect(result.code).toBe(1);
    expect(JSON.parse(result.stdout)).not.toHaveProperty('attempts');
  });

  it('wants --deployed for a profile', async () => {
    const result = await runCli(['doctor', '--sandbox-profile', 'default'], { env: envOf(freshScope()) });

    expect(result.code).toBe(2);
  });
});

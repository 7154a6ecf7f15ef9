import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseCredentials } from '../../cli/settings/credentials.ts';
import { resolveEndpoint } from '../../cli/settings/endpoint.ts';
import { resolveScope, storeScope } from '../../cli/settings/scope.ts';
import { runCli, temporaryFolder } from '../support/cli-io.ts';

const NO_FLAGS = { endpoint: undefined, region: undefined };

function leaveLocalFile(folder: string, changes: Record<string, unknown> = {}, mode = 0o600): string {
  const credentials = join(folder, 'credentials');
  writeFileSync(
    credentials,
    '[cognition-local]\naws_access_key_id = AKIALOCAL\naws_secret_access_key = local-secret\n',
    { mode: 0o600 },
  );
  const path = join(folder, 'local.json');
  const local = {
    endpoint: 'http://127.0.0.1:8787',
    region: 'local-1',
    credentials_file: credentials,
    profile: 'cognition-local',
    pid: process.pid,
    ...changes,
  };
  writeFileSync(path, JSON.stringify(local));
  chmodSync(path, mode);
  return path;
}

describe('the endpoint', () => {
  it('comes from --endpoint, then COGNITION_ENDPOINT, then the file of a local server', async () => {
    const folder = temporaryFolder();
    const path = leaveLocalFile(folder.path);
    const env = { COGNITION_CONFIG_DIR: folder.path, AWS_REGION: 'eu-west-1' };
    const named = { ...env, COGNITION_ENDPOINT: 'https://env.example/prod/' };

    const fromFlag = await resolveEndpoint({ ...NO_FLAGS, endpoint: 'https://flag.example' }, named);
    const fromEnv = await resolveEndpoint(NO_FLAGS, named);
    const fromFile = await resolveEndpoint(NO_FLAGS, env);

    expect(fromFlag).toMatchObject({ endpoint: 'https://flag.example', source: '--endpoint' });
    expect(fromEnv).toMatchObject({ endpoint: 'https://env.example/prod', source: 'COGNITION_ENDPOINT' });
    expect(fromFile).toMatchObject({ endpoint: 'http://127.0.0.1:8787', source: path, region: 'local-1' });
  });

  it('takes the Region out of the name of an API Gateway', async () => {
    const endpoint = 'https://abc123.execute-api.eu-north-1.amazonaws.com/prod';

    const choice = await resolveEndpoint({ ...NO_FLAGS, endpoint }, { COGNITION_CONFIG_DIR: '/nowhere' });

    expect(choice.region).toBe('eu-north-1');
  });

  it('looks for the file in XDG_CONFIG_HOME, then in ~/.config', async () => {
    const folder = temporaryFolder();
    const xdg = join(folder.path, 'xdg', 'cognition');
    const home = join(folder.path, '.config', 'cognition');
    for (const path of [xdg, home]) mkdirSync(path, { recursive: true });
    leaveLocalFile(xdg, { endpoint: 'http://127.0.0.1:1111' });
    leaveLocalFile(home, { endpoint: 'http://127.0.0.1:2222' });

    const withXdg = await resolveEndpoint(NO_FLAGS, { XDG_CONFIG_HOME: join(folder.path, 'xdg') });
    const withHome = await resolveEndpoint(NO_FLAGS, { XDG_CONFIG_HOME: 'relative', HOME: folder.path });

    expect(withXdg.endpoint).toBe('http://127.0.0.1:1111');
    expect(withHome.endpoint).toBe('http://127.0.0.1:2222');
  });

  it('refuses a file that others can write', async () => {
    const folder = temporaryFolder();
    leaveLocalFile(folder.path, {}, 0o666);

    const choice = resolveEndpoint(NO_FLAGS, { COGNITION_CONFIG_DIR: folder.path });

    await expect(choice).rejects.toMatchObject({
      code: 'unsafe_settings',
      message: /can be written by others/,
    });
  });

  it.each([
    ['a broken file', { pid: 'x' }, /pid/],
    ['an unknown field', { extra: 1 }, /extra/],
    ['an endpoint that is no URL', { endpoint: 'file:///etc' }, /endpoint/],
  ])('refuses %s and names the place', async (_case, changes, message) => {
    const folder = temporaryFolder();
    leaveLocalFile(folder.path, changes);

    const choice = resolveEndpoint(NO_FLAGS, { COGNITION_CONFIG_DIR: folder.path });

    await expect(choice).rejects.toMatchObject({ code: 'unsafe_settings', message });
  });

  it('that is missing is one line with the fix', async () => {
    const result = await runCli(['skills', 'list'], { env: { COGNITION_SCOPE: 'tenant=a' } });

    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/^cognition: no endpoint is set.*`npm run local`.*\n$/);
  });
});

describe('credentials', () => {
  const flags = (endpoint: string) => ({ ...NO_FLAGS, endpoint });

  it('for the local server are the ones it left, whatever the environment holds', async () => {
    const folder = temporaryFolder();
    leaveLocalFile(folder.path);
    const env = { COGNITION_CONFIG_DIR: folder.path };
    const local = await resolveEndpoint(flags('http://127.0.0.1:8787'), env);

    const credentials = await chooseCredentials(local, undefined).load();

    expect(credentials).toMatchObject({ accessKeyId: 'AKIALOCAL', secretAccessKey: 'local-secret' });
  });

  it('of the local server are never used for another endpoint', async () => {
    const folder = temporaryFolder();
    leaveLocalFile(folder.path);
    const env = { COGNITION_CONFIG_DIR: folder.path, AWS_REGION: 'eu-west-1' };
    const other = await resolveEndpoint(flags('http://127.0.0.1:8788'), env);

    expect(other.local).toBeUndefined();
    expect(chooseCredentials(other, undefined).source).toBe('the AWS credential chain');
  });

  it('that are gone are one line with the fix', async () => {
    const folder = temporaryFolder();
    leaveLocalFile(folder.path, { credentials_file: join(folder.path, 'gone') });
    const env = { COGNITION_CONFIG_DIR: folder.path, COGNITION_SCOPE: 'tenant=a' };

    const result = await runCli(['skills', 'list'], { env });

    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(
      /^cognition: no credentials: .*gone is not there.*start the local server again/,
    );
  });
});

describe('the scope', () => {
  it('comes from --scope, then COGNITION_SCOPE, then `scope use`', async () => {
    const folder = temporaryFolder();
    const env = { COGNITION_CONFIG_DIR: folder.path };
    await storeScope({ tenant: 'stored' }, env);

    const fromFlag = await resolveScope(['tenant=a', 'project=b'], { ...env, COGNITION_SCOPE: 'tenant=c' });
    const fromEnv = await resolveScope([], { ...env, COGNITION_SCOPE: 'tenant=c,project=d' });
    const stored = await resolveScope([], env);

    expect(fromFlag.scope).toEqual({ tenant: 'a', project: 'b' });
    expect(fromEnv.scope).toEqual({ tenant: 'c', project: 'd' });
    expect(stored.scope).toEqual({ tenant: 'stored' });
  });

  it('is stored so that only its owner can read and write it', async () => {
    const folder = temporaryFolder();
    const config = join(folder.path, 'new', 'cognition');

    const result = await runCli(['scope', 'use', 'tenant=acme'], { env: { COGNITION_CONFIG_DIR: config } });

    expect(result.code).toBe(0);
    expect(statSync(join(config, 'config.json')).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(config, 'config.json'), 'utf8'))).toEqual({
      scope: { tenant: 'acme' },
    });
  });

  it('is encoded as it stands in URLs, independent of the order of its entries', async () => {
    const one = await runCli(['scope', 'encode', 'tenant=acme,project=support']);
    const other = await runCli(['scope', 'encode', 'project=support,tenant=acme']);

    expect(one.stdout).toBe(other.stdout);
    expect(Buffer.from(one.stdout, 'base64url').toString()).toBe('{"project":"support","tenant":"acme"}');
  });
});

/** An operator tries their own deployment: every attempt is made, and refused, wherever the product runs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { runCli, temporaryFolder } from '../support/cli-io.ts';
import { freshApi } from '../support/scopes.ts';

const DEADLINE_MS = 240_000;

/** As a local server leaves them, so that the key of the target signs and no other. */
function settingsOfTarget(): string {
  const { endpoint, region, access_key_id, secret_access_key, session_token } = inject('target');
  const folder = join(temporaryFolder().path, 'config');
  mkdirSync(folder, { mode: 0o700 });
  const credentials = join(folder, 'credentials');
  const token = session_token === undefined ? '' : `aws_session_token = ${session_token}\n`;
  const key = `aws_access_key_id = ${access_key_id}\naws_secret_access_key = ${secret_access_key}\n${token}`;
  writeFileSync(credentials, `[target]\n${key}`, { mode: 0o600 });
  const local = { endpoint, region, credentials_file: credentials, profile: 'target', pid: process.pid };
  writeFileSync(join(folder, 'local.json'), JSON.stringify(local), { mode: 0o600 });
  return folder;
}

it('doctor --deployed finds every attempt refused and leaves nothing behind', {
  timeout: DEADLINE_MS,
}, async () => {
  const api = freshApi();
  const scope = Object.entries(api.scope).map(([key, value]) => `${key}=${value}`);
  const env = { COGNITION_CONFIG_DIR: settingsOfTarget(), COGNITION_SCOPE: scope.join(',') };

  const result = await runCli(['doctor', '--deployed', '--json'], { env });

  const { ok, checks, attempts } = JSON.parse(result.stdout);
  const through = [...checks, ...(attempts ?? [])].filter(
    (one: { refused?: boolean; result?: string }) => one.refused === false || one.result === 'failed',
  );
  expect(through).toEqual([]);
  expect([ok, result.code, result.stderr]).toEqual([true, 0, '']);
  expect(attempts.length).toBeGreaterThan(300);
  const left = [await api.get('/skills'), await api.get('/agents')];
  expect(left.flatMap(({ json }) => json.items)).toEqual([]);
});

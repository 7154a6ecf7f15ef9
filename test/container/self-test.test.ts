/** A daemon whose container is not what a task definition says ends before it serves, and says why. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { allow, assemble } from '../../functions/sandboxd/seccomp/bpf.ts';
import { healthSchema, SANDBOX_ENV, SANDBOX_PORT } from '../../shared/contracts/daemon.ts';
import { newSandboxKeyPair } from '../../shared/domain/daemon-signature.ts';
import type { RunOptions } from '../support/container/container-host.ts';
import { docker } from '../support/container/docker-engine.ts';
import { openContainers } from '../support/sandbox-form.ts';
import { ids, profileOf } from '../support/sandboxd-task.ts';

const host = openContainers();
const folder = mkdtempSync('/tmp/cognition-self-test-');
afterAll(async () => {
  await host.close();
  await rm(folder, { recursive: true });
});

const envOf = (): Record<string, string> => ({
  [SANDBOX_ENV.sandboxId]: ids.next(),
  [SANDBOX_ENV.publicKey]: newSandboxKeyPair().public_key,
  [SANDBOX_ENV.profile]: JSON.stringify(profileOf()),
});

/** @returns what a container that must not serve has to say, once it has ended. */
async function refusal(options: RunOptions, env = envOf()): Promise<string> {
  const { socket } = inject('container');
  const id = await host.start(env, profileOf(), options);
  const code = await docker(socket, ['wait', id]);
  expect(code).toBe('1');
  return await host.logs(id);
}

const TMPFS = 'size=16m';
test.each<[string, RunOptions, RegExp]>([
  ['whose root can be written', { without: ['--read-only'] }, /\/ can be written; \/usr can be written/],
  ['without an init', { without: ['--init'] }, /processes 1 are in sight, instead of an init/],
  [
    'with one capability more',
    { without: ['--cap-drop=NET_RAW'] },
    /CapEff is 00000000000021eb instead of 00000000000001eb/,
  ],
  ['with one capability less', { args: ['--cap-drop=SETPCAP'] }, /CapEff is 00000000000000eb/],
  ['with a capability of administrators', { args: ['--cap-add=SYS_ADMIN'] }, /CapEff is 00000000002001eb/],
  ['as a plain user', { args: ['--user=1000'] }, /its user is 1000 and not root/],
  ['whose outputs have no mount', { without: ['--tmpfs=/outputs'] }, /\/outputs is no tmpfs mount/],
  [
    'whose mount allows set-user-id programs',
    { without: ['--tmpfs=/tmp'], args: [`--tmpfs=/tmp:exec,suid,nodev,${TMPFS}`] },
    /\/tmp is not nosuid/,
  ],
  [
    'whose mount allows devices',
    { without: ['--tmpfs=/outputs'], args: [`--tmpfs=/outputs:nosuid,dev,${TMPFS}`] },
    /\/outputs is not nodev/,
  ],
  [
    'that could start no script',
    { without: ['--tmpfs=/skills'], args: [`--tmpfs=/skills:noexec,nosuid,nodev,${TMPFS}`] },
    /\/skills is noexec/,
  ],
  [
    'whose mount has no limit',
    { without: ['--tmpfs=/workspace'], args: ['--tmpfs=/workspace:exec,nosuid,nodev'] },
    /\/workspace has no size/,
  ],
  ['with a command of its own', { command: ['sleep', 'infinity'] }, /the arguments/],
])('a container %s', async (_, options, says) => {
  const said = await refusal(options);

  expect(said).toMatch(says);
});

test.each([
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_ACCESS_KEY_ID',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
])('a task that has %s has a role, which an override may have brought, and gets nothing', async (name) => {
  const said = await refusal({}, { ...envOf(), [name]: '/v2/credentials/secret' });

  expect(said).toContain(name);
  expect(said).not.toContain('/v2/credentials');
});

test('a container without its configuration names all that is missing', async () => {
  const said = await refusal({}, {});

  for (const name of Object.values(SANDBOX_ENV)) expect(said).toContain(name);
});

/** Asked from outside: another process in the container would be one too many. */
async function stateOf(id: string): Promise<string> {
  try {
    const response = await fetch(`http://${await host.address(id)}:${SANDBOX_PORT}/v1/health`);
    return healthSchema.parse(await response.json()).state;
  } catch {
    return 'silent';
  }
}

test('a filter that lets internet sockets through leaves a dead sandbox', async () => {
  writeFileSync(join(folder, 'open.bpf'), assemble([allow()]));
  const id = await host.start(envOf(), profileOf(), {
    args: [`--volume=${join(folder, 'open.bpf')}:/opt/sandboxd/command.bpf:ro`],
  });

  await expect.poll(() => stateOf(id), { timeout: 20_000 }).toBe('dead');
  expect(await host.logs(id)).toMatch(/isolation is incomplete: inet is 0 instead of 97/);
});

test('a setpriv that knows no filter leaves a dead sandbox', async () => {
  const program = '#!/bin/sh\necho "setpriv: unrecognized option \'--seccomp-filter\'" >&2\nexit 1\n';
  writeFileSync(join(folder, 'setpriv'), program, { mode: 0o755 });
  const id = await host.start(envOf(), profileOf(), {
    args: [`--volume=${join(folder, 'setpriv')}:/usr/bin/setpriv:ro`],
  });

  await expect.poll(() => stateOf(id), { timeout: 20_000 }).toBe('dead');
  expect(await host.logs(id)).toMatch(/unrecognized option/);
});

test('what Fargate tells a task about itself does not reach the command, and is no role', async () => {
  const env = {
    ...envOf(),
    ECS_CONTAINER_METADATA_URI_V4: 'http://169.254.170.2/v4/x',
    AWS_REGION: 'eu-west-1',
  };
  const id = await host.start(env, profileOf());

  await expect.poll(() => stateOf(id), { timeout: 20_000 }).toBe('ready');
});

/** One real task, from start to its command, so that a machine which cannot isolate is found out at once. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { createServer, type Server } from 'node:net';
import * as z from 'zod';
import { execStatusSchema, SANDBOX_ENV, SIGNATURE_HEADERS } from '../../../../shared/contracts/daemon.ts';
import type { SandboxProfile } from '../../../../shared/contracts/sandbox-profile.ts';
import { CognitionError } from '../../../../shared/domain/cognition-error.ts';
import { importPrivateKey, newSandboxKeyPair, signCall } from '../../../../shared/domain/daemon-signature.ts';
import { sha256Hex } from '../../../../shared/domain/sha256.ts';
import type { TaskRuntime } from './task-runtime.ts';

/** Ids of their own form, which nothing else ever has. */
const PROBE_ID = '0'.repeat(26);
const PROBE_MS = 20_000;
const WAIT_MS = 10_000;

/** @throws CognitionError `sandbox_unavailable` with what is wrong and what to do about it. */
export async function probeTask(runtime: TaskRuntime, profile: SandboxProfile): Promise<void> {
  const keys = newSandboxKeyPair();
  const { server, port } = await listen();
  const env = {
    [SANDBOX_ENV.sandboxId]: PROBE_ID,
    [SANDBOX_ENV.publicKey]: keys.public_key,
    [SANDBOX_ENV.profile]: JSON.stringify(profile),
  };
  const task = await runtime.start(env, profile, server);
  try {
    await runTrue(createCaller(port, keys.private_key));
  } catch (cause) {
    await task.kill();
    const { stderr_tail } = await task.exited;
    const reason = stderr_tail === '' ? String(cause) : stderr_tail;
    const message = `no sandbox can be started on this machine: ${reason}${fixFor(reason)}`;
    throw new CognitionError('sandbox_unavailable', message, { cause });
  }
  await task.kill();
}

async function runTrue(call: Caller): Promise<void> {
  await call('POST', '/v1/bind', { run_id: PROBE_ID, manifest_digest: `sha256:${'0'.repeat(64)}` });
  await call('POST', '/v1/seal', { packages: [], inputs: [] });
  const exec = { command: { argv: ['true'] }, env: {}, timeout_ms: WAIT_MS, stream_bytes: 1_024 };
  await call('PUT', `/v1/exec/${PROBE_ID}`, exec);
  const status = execStatusSchema.parse(await call('GET', `/v1/exec/${PROBE_ID}?wait_ms=${WAIT_MS}`));
  if (status.exit_code !== 0)
    throw new Error(`the command of the probe ended with ${JSON.stringify(status)}`);
}

type Caller = (method: string, target: string, body?: unknown) => Promise<unknown>;

function createCaller(port: number, privateKey: string): Caller {
  const key = importPrivateKey(privateKey);
  return (method, target, value) => {
    const body = value === undefined ? '' : JSON.stringify(value);
    const call = {
      method,
      target,
      content_sha256: sha256Hex(body),
      sandbox_id: PROBE_ID,
      run_id: PROBE_ID,
      nonce: randomBytes(16).toString('hex'),
      expires: String(Math.floor(Date.now() / 1_000) + 60),
    };
    const headers = {
      'content-length': Buffer.byteLength(body),
      [SIGNATURE_HEADERS.sandbox]: call.sandbox_id,
      [SIGNATURE_HEADERS.run]: call.run_id,
      [SIGNATURE_HEADERS.nonce]: call.nonce,
      [SIGNATURE_HEADERS.expires]: call.expires,
      [SIGNATURE_HEADERS.contentSha256]: call.content_sha256,
      [SIGNATURE_HEADERS.signature]: signCall(call, key),
    };
    return send({ port, method, path: target, headers, agent: false, timeout: PROBE_MS }, body);
  };
}

function send(options: Parameters<typeof request>[1] & object, body: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', ...options }, async (response) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString('utf8');
        if ((response.statusCode ?? 0) >= 300)
          throw new Error(z.object({ message: z.string() }).parse(JSON.parse(text)).message);
        resolve(JSON.parse(text));
      } catch (error) {
        reject(error);
      }
    });
    outgoing.once('timeout', () =>
      outgoing.destroy(new Error(`the daemon did not answer within ${PROBE_MS} ms`)),
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

function listen(): Promise<{ server: Server; port: number }> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port: 0, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      resolve({ server, port: typeof address === 'object' && address !== null ? address.port : 0 });
    });
  });
}

function fixFor(reason: string): string {
  if (!/namespace|uid map|Operation not permitted|Permission denied|loopback/i.test(reason)) return '';
  return (
    '. Allow unprivileged user namespaces: `sudo sysctl -w kernel.unprivileged_userns_clone=1` on Debian, ' +
    '`sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` on Ubuntu 24.04 and later; in a container, ' +
    'allow them in its seccomp profile'
  );
}

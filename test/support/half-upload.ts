/** A client that dies in the middle of an upload: rightly signed for all of the bytes, it sends half of them. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { SIGNATURE_HEADERS } from '../../shared/contracts/daemon.ts';
import { importPrivateKey, signCall } from '../../shared/domain/daemon-signature.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import type { SandboxHandle } from '../../shared/ports/sandbox-client.ts';

export async function sendHalf(sandbox: SandboxHandle, target: string, bytes: Uint8Array): Promise<void> {
  const call = {
    method: 'PUT',
    target,
    content_sha256: sha256Hex(bytes),
    sandbox_id: sandbox.sandbox_id,
    run_id: sandbox.run_id,
    nonce: randomBytes(16).toString('hex'),
    expires: String(Math.floor(Date.now() / 1_000) + 60),
  };
  const headers: Record<string, string> = {
    host: `${sandbox.host}:${sandbox.port}`,
    'content-length': String(bytes.byteLength),
    [SIGNATURE_HEADERS.sandbox]: call.sandbox_id,
    [SIGNATURE_HEADERS.run]: call.run_id,
    [SIGNATURE_HEADERS.nonce]: call.nonce,
    [SIGNATURE_HEADERS.expires]: call.expires,
    [SIGNATURE_HEADERS.contentSha256]: call.content_sha256,
    [SIGNATURE_HEADERS.signature]: signCall(call, importPrivateKey(sandbox.private_key)),
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(sandbox.port, sandbox.host);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.write(`PUT ${target} HTTP/1.1\r\n${head.join('')}\r\n`);
  socket.write(bytes.subarray(0, Math.floor(bytes.byteLength / 2)), () => socket.destroy());
  await closed;
}

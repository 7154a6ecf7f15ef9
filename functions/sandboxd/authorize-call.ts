/**
 * Who may call: whoever holds the sandbox's private key, for this sandbox and its run, once for each nonce, before
 * the expiry. A refused call changes nothing.
 */
import type { KeyObject } from 'node:crypto';
import { SIGNATURE_HEADERS } from '../../shared/contracts/daemon.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { type SignedCall, verifyCall } from '../../shared/domain/daemon-signature.ts';
import { DaemonError } from './daemon-error.ts';

const SHA256 = /^[0-9a-f]{64}$/;
const NONCE = /^[\x21-\x7e]{16,128}$/;
const EXPIRES = /^[0-9]{1,12}$/;
/** Nonces of an hour of long polls are a few thousand. */
const NONCES_KEPT = 100_000;

export interface CallHead {
  readonly method: string;
  /** Path with query as sent. */
  readonly target: string;
  header(name: string): string | undefined;
}

export interface CallAuthorizer {
  /**
   * @param runId the run this sandbox is bound to, if it is.
   * @returns what was signed; its content hash has yet to be compared with the body.
   * @throws DaemonError `bad_signature`
   */
  authorize(head: CallHead, runId: string | undefined): SignedCall;
}

export function createCallAuthorizer(options: {
  readonly sandbox_id: string;
  readonly public_key: KeyObject;
  readonly now: () => number;
}): CallAuthorizer {
  const seen = new Map<string, number>();
  const refuse = (why: string): never => {
    throw new DaemonError('bad_signature', `this call is not authorized: ${why}`);
  };
  const checkNonce = (nonce: string, now: number): void => {
    if (seen.has(nonce)) refuse('its nonce was used before');
    if (seen.size < NONCES_KEPT) return;
    for (const [old, expires] of seen) if (expires < now) seen.delete(old);
    if (seen.size >= NONCES_KEPT) refuse('too many calls within the lifetime of a signature');
  };
  return {
    authorize: (head, runId) => {
      const call = readCall(head);
      const now = options.now() / 1_000;
      const expires = Number(call.expires);
      if (call.sandbox_id !== options.sandbox_id) refuse('it is for another sandbox');
      if (runId !== undefined && call.run_id !== runId) refuse('it is for another run');
      if (expires <= now) refuse('it has expired');
      if (expires > now + LIMITS.clockSkewSeconds) {
        refuse(`it expires more than ${LIMITS.clockSkewSeconds} seconds from now`);
      }
      checkNonce(call.nonce, now);
      const signature = head.header(SIGNATURE_HEADERS.signature) ?? '';
      if (!verifyCall(call, signature, options.public_key)) refuse('its signature does not match');
      seen.set(call.nonce, expires);
      return call;
    },
  };
}

function readCall(head: CallHead): SignedCall {
  const need = (name: string, form: RegExp): string => {
    const value = head.header(name);
    if (value !== undefined && form.test(value)) return value;
    throw new DaemonError('bad_signature', `this call is not authorized: ${name} is missing or malformed`);
  };
  const id = /^[0-9A-Z]{1,64}$/;
  return {
    method: head.method,
    target: head.target,
    content_sha256: need(SIGNATURE_HEADERS.contentSha256, SHA256),
    sandbox_id: need(SIGNATURE_HEADERS.sandbox, id),
    run_id: need(SIGNATURE_HEADERS.run, id),
    nonce: need(SIGNATURE_HEADERS.nonce, NONCE),
    expires: need(SIGNATURE_HEADERS.expires, EXPIRES),
  };
}

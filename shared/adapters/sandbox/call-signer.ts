/** Signs calls: a nonce of its own for each attempt, and an expiry soon after its deadline. */
import type { KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { SIGNATURE_HEADERS } from '../../contracts/daemon.ts';
import { importPrivateKey, signCall } from '../../domain/daemon-signature.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { SandboxHandle } from '../../ports/sandbox-client.ts';

const KEYS = 512;
/** For clocks that differ by a little. */
const GRACE_SECONDS = 30;

interface CallToSign {
  readonly method: string;
  readonly target: string;
  readonly content_sha256: string;
  readonly deadline_ms: number;
}

export interface CallSigner {
  sign(sandbox: SandboxHandle, call: CallToSign): Record<string, string>;
}

export function createCallSigner({ clock, ids }: { clock: Clock; ids: Ids }): CallSigner {
  /** Parsing a key costs more than signing with it, and a run makes some twenty calls. */
  const keys = new LRUCache<string, KeyObject>({ max: KEYS });
  const keyOf = (base64: string): KeyObject => {
    const kept = keys.get(base64);
    if (kept !== undefined) return kept;
    const key = importPrivateKey(base64);
    keys.set(base64, key);
    return key;
  };
  return {
    sign: (sandbox, { method, target, content_sha256, deadline_ms }) => {
      const call = {
        method,
        target,
        content_sha256,
        sandbox_id: sandbox.sandbox_id,
        run_id: sandbox.run_id,
        nonce: ids.next(),
        expires: String(Math.ceil((clock.now() + deadline_ms) / 1_000) + GRACE_SECONDS),
      };
      return {
        [SIGNATURE_HEADERS.sandbox]: call.sandbox_id,
        [SIGNATURE_HEADERS.run]: call.run_id,
        [SIGNATURE_HEADERS.nonce]: call.nonce,
        [SIGNATURE_HEADERS.expires]: call.expires,
        [SIGNATURE_HEADERS.contentSha256]: content_sha256,
        [SIGNATURE_HEADERS.signature]: signCall(call, keyOf(sandbox.private_key)),
      };
    },
  };
}

/**
 * Idempotency-Key: the finished answer is written in the transaction that does the work, so a crash leaves both
 * or neither, and two requests at once do the work once.
 */
import { LIMITS } from '../../shared/contracts/limits.ts';
import { type IdempotencyRow, idempotencyRowSchema } from '../../shared/contracts/rows.ts';
import { CognitionError } from '../../shared/domain/cognition-error.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import type { Condition, RowKey, Write } from '../../shared/ports/table-store.ts';
import type { CommitWith } from '../../shared/services/commit-with.ts';
import type { ApiResult } from './api-call.ts';
import { invalidRequest } from './invalid-request.ts';
import { services } from './services.ts';

const KEY = /^[\x20-\x7e]{1,255}$/;

/** What tells two requests with one key apart. */
export interface OnceRequest {
  readonly fingerprint: string;
  readonly principal: string;
  readonly operation: string;
  readonly idempotencyKey: string | undefined;
  /** Decoded, together with what it is said to be. */
  readonly bodyBytes: Uint8Array;
  readonly contentType: string | undefined;
}

/**
 * @param work does the thing, and commits `commitWith` in the same transaction.
 * @param render the answer of a first request; a repeated one gets the same.
 */
export async function answerOnce<T>(
  request: OnceRequest,
  work: (commitWith?: CommitWith<T>) => Promise<T>,
  render: (result: T) => ApiResult,
): Promise<ApiResult> {
  if (request.idempotencyKey === undefined) return render(await work());
  const { key, bodySha256 } = identify(request, request.idempotencyKey);
  const before = await readRecord(key, bodySha256);
  if (before.replay !== undefined) return before.replay;
  try {
    const result = await work((done) => [recordOf(key, bodySha256, render(done), before.condition)]);
    return render(result);
  } catch (error) {
    // The other one of two requests at once may have done the work in between: its answer is ours.
    const { replay } = await readRecord(key, bodySha256);
    if (replay !== undefined) return replay;
    throw error;
  }
}

function identify(request: OnceRequest, idempotencyKey: string): { key: RowKey; bodySha256: string } {
  if (!KEY.test(idempotencyKey)) {
    throw invalidRequest('Idempotency-Key takes 1 to 255 printable ASCII characters');
  }
  const owner = JSON.stringify([request.principal, request.operation, idempotencyKey]);
  const body = JSON.stringify([request.contentType ?? '', sha256Hex(request.bodyBytes)]);
  return { key: KEYS.idempotency(request.fingerprint, sha256Hex(owner)), bodySha256: sha256Hex(body) };
}

/** @throws CognitionError `idempotency_mismatch` */
async function readRecord(
  key: RowKey,
  bodySha256: string,
): Promise<{ replay?: ApiResult; condition: Condition }> {
  const { table, clock } = services();
  const row = await table.get(key);
  if (row === undefined) return { condition: { absent: true } };
  const expired = row.expires_at !== undefined && row.expires_at * 1000 <= clock.now();
  if (expired) return { condition: { version: row.version } };
  const record = idempotencyRowSchema.parse(row.data);
  if (record.body_sha256 !== bodySha256) {
    throw new CognitionError(
      'idempotency_mismatch',
      'this Idempotency-Key was used with another body in the last 24 hours; use a new key',
    );
  }
  return { replay: replayOf(record), condition: { version: row.version } };
}

const replayOf = (record: IdempotencyRow): ApiResult => ({
  statusCode: record.status,
  headers: { ...record.headers, 'idempotent-replayed': 'true' },
  body: record.body,
});

function recordOf(key: RowKey, bodySha256: string, answer: ApiResult, condition: Condition): Write {
  const headers = Object.entries(answer.headers ?? {}).map(([name, value]) => [name, String(value)]);
  const data: IdempotencyRow = {
    body_sha256: bodySha256,
    status: answer.statusCode,
    headers: Object.fromEntries(headers),
    body: answer.body,
  };
  const expiresAt = Math.floor(services().clock.now() / 1000) + LIMITS.idempotencySeconds;
  return { kind: 'put', key, data: { ...data }, expires_at: expiresAt, if: condition };
}

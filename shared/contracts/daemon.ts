/**
 * The protocol of sandboxd, the daemon in the sandbox. HTTP/1.1; every call but health is signed (see
 * domain/daemon-signature). All calls are idempotent: the same digest or exec_id gives the first result
 * again, another one is 409.
 *
 *   GET  /v1/health                                            200 health (unsigned, says nothing secret)
 *   POST /v1/bind          {run_id, manifest_digest}           200 · 409 bound to another run
 *   PUT  /v1/packages/{name}  canonical bytes                  200 {digest, file_count} · 409 sealed or other digest
 *   PUT  /v1/inputs?path=  raw bytes                           200 {sha256} · 409 sealed
 *   POST /v1/seal          {packages, inputs}                  200 sealed, as hashed from disk · 422 mismatch (sandbox is dead)
 *   PUT  /v1/exec/{exec_id} ExecRequest                        202 · 409 not sealed, or another exec
 *   GET  /v1/exec/{exec_id}?wait_ms=&stdout_offset=&stderr_offset=   200 ExecStatus
 *   GET  /v1/outputs                                           200 OutputList · 409 while the command lives
 *   GET  /v1/outputs/content?path=                             200 bytes
 *
 * Errors: `{code, message}` with a DAEMON_ERROR_CODES code.
 */
import * as z from 'zod';
import { LIMITS } from './limits.ts';
import { digestSchema, idSchema, nameSchema, sha256Schema } from './names.ts';

/** The port sandboxd listens on in every task. */
export const SANDBOX_PORT = 8477;

/** Environment of the daemon, given by task definition and RunTask overrides. None of it is secret. */
export const SANDBOX_ENV = {
  sandboxId: 'COGNITION_SANDBOX_ID',
  /** Ed25519 public key, SPKI DER, base64. */
  publicKey: 'COGNITION_SANDBOX_PUBLIC_KEY',
  /** JSON of sandboxProfileSchema. */
  profile: 'COGNITION_SANDBOX_PROFILE',
} as const;

export const SIGNATURE_HEADERS = {
  sandbox: 'x-cognition-sandbox',
  run: 'x-cognition-run',
  nonce: 'x-cognition-nonce',
  /** Unix seconds. */
  expires: 'x-cognition-expires',
  /** Lower hex SHA-256 of the body; for a package it is the hex of its digest. */
  contentSha256: 'x-cognition-content-sha256',
  /** base64 of the Ed25519 signature. */
  signature: 'x-cognition-signature',
} as const;

export const DAEMON_ERROR_CODES = {
  bad_request: 400,
  bad_signature: 403,
  not_found: 404,
  not_bound: 409,
  bound_to_another: 409,
  sealed: 409,
  not_sealed: 409,
  exists_with_other_content: 409,
  still_running: 409,
  too_large: 413,
  digest_mismatch: 422,
  storage_full: 507,
  internal: 500,
} as const;
export const daemonErrorSchema = z.object({ code: z.string(), message: z.string() });

export const healthSchema = z.object({
  sandbox_id: idSchema,
  state: z.enum(['ready', 'bound', 'sealed', 'executing', 'exited', 'dead']),
});

export const bindRequestSchema = z.strictObject({ run_id: idSchema, manifest_digest: digestSchema });
export type BindRequest = z.infer<typeof bindRequestSchema>;

export const packageReceiptSchema = z.object({ digest: digestSchema, file_count: z.int() });
export const inputReceiptSchema = z.object({ path: z.string(), sha256: sha256Schema, size_bytes: z.int() });

/** What must be on disk, exactly: nothing missing, nothing more. */
export const sealRequestSchema = z.strictObject({
  packages: z.array(z.strictObject({ name: nameSchema, digest: digestSchema })),
  inputs: z.array(z.strictObject({ path: z.string(), sha256: sha256Schema })),
});
export type SealRequest = z.infer<typeof sealRequestSchema>;
/** As recomputed from the sealed files, not as received. */
export const sealReceiptSchema = z.object({
  packages: z.array(z.object({ name: nameSchema, digest: digestSchema })),
  inputs: z.array(z.object({ path: z.string(), sha256: sha256Schema })),
});
export type SealReceipt = z.infer<typeof sealReceiptSchema>;

export const execRequestSchema = z.strictObject({
  /**
   * What to start. `script` is a path below /skills/<skill>/: with `#!` it is executed (a CR before the
   * line end is tolerated), else the interpreter follows the suffix (.py .sh .js .mjs .ts).
   */
  command: z.union([
    z.strictObject({ skill: nameSchema, script: z.string(), args: z.array(z.string()) }),
    z.strictObject({ argv: z.array(z.string()).min(1) }),
  ]),
  /** base64; absent means end of file at once. */
  stdin: z.string().optional(),
  env: z.record(z.string(), z.string()),
  timeout_ms: z.int().positive(),
  stream_bytes: z.int().positive().max(LIMITS.streamBytes),
});
export type ExecRequest = z.infer<typeof execRequestSchema>;

const streamSliceSchema = z.object({
  /** base64 of the bytes from the asked offset on, at most 32 KiB an answer, never half a character at the end. */
  data: z.string(),
  /** Offset to ask for next. */
  next_offset: z.int(),
  /** Bytes kept so far; equal to next_offset when the answer has all. */
  length: z.int(),
  /** More was written than the cap keeps. */
  truncated: z.boolean(),
});
export type StreamSlice = z.infer<typeof streamSliceSchema>;

export const execStatusSchema = z.object({
  exec_id: idSchema,
  state: z.enum(['running', 'exited']),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  timed_out: z.boolean(),
  stdout: streamSliceSchema,
  stderr: streamSliceSchema,
  /** Attempts refused by the egress broker, oldest first; capped, `egress_denied_total` counts all. */
  egress_denied: z.array(z.object({ alias: z.string(), at: z.string() })),
  egress_denied_total: z.int(),
});
export type ExecStatus = z.infer<typeof execStatusSchema>;

/** Hashes here are the daemon's claim; the collector recomputes them. */
export const outputListSchema = z.object({
  files: z.array(z.object({ path: z.string(), size_bytes: z.int().nonnegative() })),
  refused: z.array(z.object({ path: z.string(), reason: z.string() })),
  /** There was more than LIMITS.outputEntries. */
  truncated: z.boolean(),
});
export type OutputList = z.infer<typeof outputListSchema>;

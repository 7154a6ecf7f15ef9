/**
 * How long the clients of the adapters wait and how often they try, for whoever makes them. All of a call's attempts
 * together stay below the 29 seconds that API Gateway waits. Connections are kept open, as the SDK does by itself; a
 * connection that died while a function was frozen costs one attempt.
 */

/** Every call is small; one without an answer by then has met a dead connection. */
export const TABLE_CLIENT_OPTIONS = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 4_000, throwOnRequestTimeout: true },
} as const;

/**
 * The time of a request includes the upload of its body, at most 64 MiB. Checksums are ours: the SHA-256 goes along with
 * every object, and callers compare hashes of what they read, so the SDK adds and checks none of its own.
 */
export const OBJECT_CLIENT_OPTIONS = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 15_000, throwOnRequestTimeout: true },
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
} as const;

export const ORCHESTRATOR_CLIENT_OPTIONS = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 4_000, throwOnRequestTimeout: true },
} as const;

/** Asking again starts no second task: each is asked for with a token of its own. */
export const TASK_CLIENT_OPTIONS = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 6_000, throwOnRequestTimeout: true },
} as const;

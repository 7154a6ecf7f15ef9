/** One line for each code: what to do next. docs/errors.md has the causes. */
import type { ErrorCode } from '../shared/contracts/error-codes.ts';
import type { TransportCode } from './client/client-errors.ts';

export const API_FIXES: Readonly<Record<ErrorCode, string | undefined>> = {
  invalid_request: 'correct the places named',
  body_too_large: 'send less at once, or split the package',
  invalid_package:
    'correct the places named; `cognition skills push DIR --dry-run` checks without publishing',
  access_denied: 'run `cognition doctor`: it checks credentials, Region and clock',
  scope_not_allowed:
    '`cognition scope show` says which one it is; your own server reads COGNITION_SCOPE_BINDINGS',
  not_found: 'check the name, and `cognition scope show`: other scopes look like missing ones',
  agent_not_found: 'see `cognition agents list`, or publish one with `cognition agents put FILE`',
  agent_exists: 'use another name, or `cognition agents put FILE` to replace it',
  skill_exists: 'use `cognition skills push DIR`, which replaces it',
  skill_not_found: 'publish it with `cognition skills push DIR`, or take it out of the agent',
  skill_disabled: 'run `cognition skills enable NAME`',
  precondition_failed: 'someone changed it meanwhile: look again, then decide',
  idempotency_mismatch: 'start the command again, it uses a new key',
  conflict: 'try again in a moment',
  quota_exceeded: 'wait until other runs have ended, or ask the operator for more',
  too_many_requests: 'try again in a moment, with fewer calls at once',
  script_not_found: 'see `cognition skills files NAME`',
  script_failed: 'read what it wrote to stderr: `cognition runs show ID`',
  run_timed_out: 'give it more time with --timeout, or less to do',
  run_cancelled: undefined,
  run_interrupted: 'start it again',
  package_unavailable: 'try again; if it stays, publish the skill again',
  digest_mismatch: 'publish the skill again, and tell the operator',
  materialization_failed: 'start it again; `cognition runs events ID` says which package',
  sandbox_unavailable: 'try again; on your own machine, `cognition doctor` says what is missing',
  collection_failed: 'start it again; `cognition runs events ID` says where it stopped',
  egress_denied: 'the sandbox profile of the agent must name the alias',
  storage_full: 'tell the operator; nothing was stored',
  method_not_allowed: 'make sure that CLI and server are of the same version',
  unavailable: 'try again in a moment',
  internal_error: 'try again; if it stays, give the request id to the operator',
};

export const TRANSPORT_FIXES: Readonly<Record<TransportCode, string | undefined>> = {
  unreachable:
    'is the server running? `npm run local` starts one; `cognition doctor` says which endpoint is used',
  unexpected_answer: 'check --endpoint, and that server and CLI are of the same version',
  checksum_mismatch: 'nothing was written; try again',
  refused_request: undefined,
  no_credentials: 'run `cognition doctor`',
};

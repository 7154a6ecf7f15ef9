/** The run boundary's side of the daemon protocol. Whatever the daemon says is checked against what was asked. */
import { Agent } from 'node:http';
import type { z } from 'zod';
import {
  DAEMON_ERROR_CODES,
  daemonErrorSchema,
  execStatusSchema,
  healthSchema,
  inputReceiptSchema,
  outputListSchema,
  packageReceiptSchema,
  sealReceiptSchema,
} from '../../contracts/daemon.ts';
import { LIMITS } from '../../contracts/limits.ts';
import { sha256Hex } from '../../domain/sha256.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { type SandboxClient, type SandboxHandle, SandboxRefused } from '../../ports/sandbox-client.ts';
import { createCallSigner } from './call-signer.ts';
import { assertExecStatus, assertSameSeal } from './daemon-answers.ts';
import { callSandbox, type SandboxAnswer, type SandboxCall } from './sandbox-call.ts';

const KiB = 1_024;
const ANSWER_BYTES = 256 * KiB;
/** A list of the most entries a collector looks at, with names as long as they are shown and escaped byte by byte. */
const OUTPUT_LIST_BYTES = 2 * KiB * LIMITS.outputEntries;
/** Parsed to nothing but a few words; a message is cut further. */
const ERROR_BYTES = 16 * KiB;
const MESSAGE_LENGTH = 500;
/** Free connections end before the daemon's side gives them up. */
const IDLE_MS = 30_000;

export interface HttpSandboxClientOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly timeouts?: {
    /** Small calls; a long poll gets it on top of its wait. Default 10,000. */
    readonly call_ms?: number;
    /** Calls that move or hash content. Default 60,000. */
    readonly transfer_ms?: number;
  };
}

type Ask = Pick<SandboxCall, 'method' | 'target' | 'deadline_ms'> & {
  readonly body?: Uint8Array;
  /** When the caller knows the body's hash already. */
  readonly body_sha256?: string;
  readonly max_bytes?: number;
};

export function createHttpSandboxClient(options: HttpSandboxClientOptions): SandboxClient {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' });
  const signer = createCallSigner(options);
  const call_ms = options.timeouts?.call_ms ?? 10_000;
  const transfer_ms = options.timeouts?.transfer_ms ?? 60_000;

  const ask = async (sandbox: SandboxHandle, request: Ask): Promise<Buffer> => {
    const { body_sha256, max_bytes = ANSWER_BYTES, ...sent } = request;
    const content_sha256 = body_sha256 ?? sha256Hex(request.body ?? '');
    const answer = await callSandbox({
      ...sent,
      agent,
      host: sandbox.host,
      port: sandbox.port,
      headers: () => signer.sign(sandbox, { ...sent, content_sha256 }),
      max_bytes: Math.max(max_bytes, ERROR_BYTES),
    });
    if (answer.status !== 200 && answer.status !== 202) throw daemonError(request, answer);
    if (answer.bytes.length > max_bytes) throw notOfProtocol(request, `has more than ${max_bytes} bytes`);
    return answer.bytes;
  };
  const askJson = async <S extends z.ZodType>(
    sandbox: SandboxHandle,
    schema: S,
    request: Ask,
  ): Promise<z.output<S>> => parseAnswer(schema, request, await ask(sandbox, request));

  return {
    bind: async (sandbox, request) => {
      const body = Buffer.from(JSON.stringify(request));
      await ask(sandbox, { method: 'POST', target: '/v1/bind', body, deadline_ms: call_ms });
    },
    putPackage: async (sandbox, name, digest, bytes) => {
      const target = `/v1/packages/${encodeURIComponent(name)}`;
      const request: Ask = {
        method: 'PUT',
        target,
        body: bytes,
        body_sha256: digest.replace(/^sha256:/, ''),
        deadline_ms: transfer_ms,
      };
      const receipt = await askJson(sandbox, packageReceiptSchema, request);
      if (receipt.digest !== digest) throw digestMismatch(request, digest, receipt.digest);
    },
    putInput: async (sandbox, path, sha256, bytes) => {
      const target = `/v1/inputs?path=${encodeURIComponent(path)}`;
      const request: Ask = {
        method: 'PUT',
        target,
        body: bytes,
        body_sha256: sha256,
        deadline_ms: transfer_ms,
      };
      const receipt = await askJson(sandbox, inputReceiptSchema, request);
      if (receipt.sha256 !== sha256) throw digestMismatch(request, sha256, receipt.sha256);
      if (receipt.path !== path || receipt.size_bytes !== bytes.length) {
        throw notOfProtocol(request, 'is about another input');
      }
    },
    seal: async (sandbox, request) => {
      const body = Buffer.from(JSON.stringify(request));
      const asked: Ask = { method: 'POST', target: '/v1/seal', body, deadline_ms: transfer_ms };
      const receipt = await askJson(sandbox, sealReceiptSchema, asked);
      assertSameSeal(request, receipt);
      return receipt;
    },
    exec: async (sandbox, execId, request) => {
      const body = Buffer.from(JSON.stringify(request));
      await ask(sandbox, { method: 'PUT', target: `/v1/exec/${execId}`, body, deadline_ms: call_ms });
    },
    execStatus: async (sandbox, execId, query) => {
      const { wait_ms, stdout_offset, stderr_offset } = query;
      const search = `wait_ms=${wait_ms}&stdout_offset=${stdout_offset}&stderr_offset=${stderr_offset}`;
      const status = await askJson(sandbox, execStatusSchema, {
        method: 'GET',
        target: `/v1/exec/${execId}?${search}`,
        deadline_ms: wait_ms + call_ms,
      });
      assertExecStatus(execId, query, status);
      return status;
    },
    listOutputs: (sandbox) =>
      askJson(sandbox, outputListSchema, {
        method: 'GET',
        target: '/v1/outputs',
        max_bytes: OUTPUT_LIST_BYTES,
        deadline_ms: transfer_ms,
      }),
    getOutput: async (sandbox, path, maxBytes) => {
      // Names come from the task; a lone surrogate is no name that a URL can carry.
      if (!path.isWellFormed())
        throw new SandboxRefused('protocol', 'an output has a name that is not Unicode');
      const target = `/v1/outputs/content?path=${encodeURIComponent(path)}`;
      return ask(sandbox, { method: 'GET', target, max_bytes: maxBytes, deadline_ms: transfer_ms });
    },
    healthy: async ({ sandbox_id, host, port }, timeoutMs) => {
      const request: Ask = { method: 'GET', target: '/v1/health', deadline_ms: timeoutMs };
      try {
        const call = { ...request, agent, host, port, headers: () => ({}), max_bytes: ERROR_BYTES };
        const answer = await callSandbox(call);
        const health = parseAnswer(healthSchema, request, answer.bytes);
        return answer.status === 200 && health.sandbox_id === sandbox_id;
      } catch {
        return false;
      }
    },
  };
}

const what = ({ method, target }: Ask): string => `the sandbox's answer to ${method} ${target.split('?')[0]}`;

const notOfProtocol = (request: Ask, problem: string, cause?: unknown): SandboxRefused =>
  new SandboxRefused('protocol', `${what(request)} ${problem}`, { cause });

const digestMismatch = (request: Ask, asked: string, got: string): SandboxRefused =>
  new SandboxRefused('digest_mismatch', `${what(request)} has the digest ${got}, not ${asked}`);

function parseAnswer<S extends z.ZodType>(schema: S, request: Ask, bytes: Buffer): z.output<S> {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw notOfProtocol(request, 'is not JSON', cause);
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw notOfProtocol(request, 'is not of the protocol', parsed.error);
  return parsed.data;
}

/** The daemon's words are repeated cut and without control characters: the task may have written them. */
function daemonError(request: Ask, answer: SandboxAnswer): SandboxRefused {
  if (answer.bytes.length > ERROR_BYTES) return notOfProtocol(request, 'is an error of too many words');
  const { code, message } = parseAnswer(daemonErrorSchema, request, answer.bytes);
  const known = Object.entries(DAEMON_ERROR_CODES).find(([name]) => name === code);
  if (known === undefined || known[1] !== answer.status) {
    return notOfProtocol(request, `is an error that the protocol does not have (status ${answer.status})`);
  }
  const words = message.slice(0, MESSAGE_LENGTH).replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' ');
  return new SandboxRefused(code, `${what(request)}: ${words}`);
}

/** What the methods of the client share: from an operation and its parts to a parsed answer. */
import type * as z from 'zod';
import { TransportError } from './client-errors.ts';
import { readJson } from './read-json.ts';
import { type ReceivedBytes, receiveBytes } from './receive-bytes.ts';
import { type Query, requestTarget, routeOf } from './request-target.ts';
import { type Answer, send, type TransportOptions } from './transport.ts';

export interface CallParts {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Query;
  readonly json?: unknown;
  readonly raw?: { readonly bytes: Uint8Array; readonly contentType: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly waitMs?: number;
}

/** An ETag without quotes; `ifNoneMatch` is `If-None-Match: *`. */
export interface Preconditions {
  readonly ifMatch?: string;
  readonly ifNoneMatch?: boolean;
}

export interface Versioned<T> {
  readonly value: T;
  /** Without quotes. */
  readonly etag: string;
}

export interface Caller {
  answer(operation: string, parts?: CallParts): Promise<Answer>;
  json<T extends z.ZodType>(operation: string, schema: T, parts?: CallParts): Promise<z.infer<T>>;
  versioned<T extends z.ZodType>(
    operation: string,
    schema: T,
    parts?: CallParts,
  ): Promise<Versioned<z.infer<T>> & { readonly created: boolean }>;
  /** @param expected the SHA-256 that a list gave for these bytes */
  bytes(operation: string, parts: CallParts, expected?: string): Promise<ReceivedBytes>;
}

/** The routes that keep an Idempotency-Key, and cancel, which may be said twice by itself. */
const REPEATABLE_POSTS = new Set([
  'createSkill',
  'createRun',
  'createArtifact',
  'cancelRun',
  'validateSkill',
]);

export function createCaller(
  options: TransportOptions & { readonly scopeRef: string; readonly newKey: () => string },
): Caller {
  const answer = (operation: string, parts: CallParts = {}): Promise<Answer> => {
    const route = routeOf(operation);
    const body = parts.raw?.bytes ?? (parts.json === undefined ? undefined : jsonBytes(parts.json));
    const contentType = parts.raw?.contentType ?? (body === undefined ? undefined : 'application/json');
    return send(options, {
      method: route.method,
      target: requestTarget(route, { scopeRef: options.scopeRef, ...parts.parameters }, parts.query),
      headers: {
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
        ...(route.method === 'POST' ? { 'idempotency-key': options.newKey() } : {}),
        ...parts.headers,
      },
      ...(body === undefined ? {} : { body }),
      repeatable: route.method !== 'POST' || REPEATABLE_POSTS.has(operation),
      ...(parts.waitMs === undefined ? {} : { waitMs: parts.waitMs }),
      signal: parts.signal,
    });
  };
  return {
    answer,
    json: async (operation, schema, parts) => readJson(await answer(operation, parts), schema),
    versioned: async (operation, schema, parts) => {
      const given = await answer(operation, parts);
      return { value: readJson(given, schema), etag: etagOf(given), created: given.status === 201 };
    },
    bytes: async (operation, parts, expected) =>
      receiveBytes(await answer(operation, parts), options.fetch, options.endpoint, expected),
  };
}

const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value), 'utf8');

function etagOf(answer: Answer): string {
  const etag = answer.headers.get('etag');
  if (etag === null) throw new TransportError('unexpected_answer', 'the answer has no ETag');
  return etag.replace(/^"(.*)"$/, '$1');
}

export function preconditionHeaders(preconditions: Preconditions): Record<string, string> {
  return {
    ...(preconditions.ifMatch === undefined ? {} : { 'if-match': `"${preconditions.ifMatch}"` }),
    ...(preconditions.ifNoneMatch === true ? { 'if-none-match': '*' } : {}),
  };
}

/** All items of a list, page by page. */
export async function collectItems<T>(
  page: (cursor: string | undefined) => Promise<{ items: T[]; next_cursor?: string | undefined }>,
): Promise<T[]> {
  const collected: T[] = [];
  let cursor: string | undefined;
  do {
    const { items, next_cursor } = await page(cursor);
    collected.push(...items);
    if (next_cursor !== undefined && next_cursor === cursor) {
      throw new TransportError('unexpected_answer', 'the list answers the same cursor again and again');
    }
    cursor = next_cursor;
  } while (cursor !== undefined);
  return collected;
}

export interface PageRequest {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}
export const pageQuery = (page: PageRequest): Query => ({ cursor: page.cursor, limit: page.limit });

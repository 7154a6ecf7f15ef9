/** Names and ids shared by every boundary. */
import * as z from 'zod';
import { LIMITS } from './limits.ts';

/** Lower-case words joined by single hyphens: skills, agents, subagents, sandbox profiles, aliases. */
export const nameSchema = z
  .string()
  .max(LIMITS.skillNameLength)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case letters and digits, joined by single hyphens');

/** A ULID: run ids, artifact ids, revisions, sandbox ids, request ids of our own. */
export const idSchema = z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/, 'an id of 26 characters');

export const digestSchema = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'sha256: and 64 lower-case hex digits');

export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, '64 lower-case hex digits');

/** Lower-case unpadded base32 of a SHA-256: 52 characters. */
export const fingerprintSchema = z.string().regex(/^[a-z2-7]{52}$/, 'a scope fingerprint');

/** RFC 3339 in UTC. */
export const timeSchema = z.iso.datetime();

/** A list answer; a cursor is opaque. */
export const pageQuerySchema = z.strictObject({
  cursor: z.string().max(2_048).optional(),
  limit: z.coerce.number().int().min(1).max(LIMITS.listLimitMax).default(LIMITS.listLimit),
});
export type PageQuery = z.infer<typeof pageQuerySchema>;

export interface Page<T> {
  items: T[];
  next_cursor?: string;
}

/**
 * What went into a build and what came out of it, by content, so that the same is not built twice: bundling takes as
 * long as the rest of a synthesis.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';

const recordSchema = z.record(z.string(), z.string());

/** SHA-256 by path, relative to the root of the project or absolute. */
type BuildRecord = z.infer<typeof recordSchema>;

const RECORD = 'build.json';

/** @returns true when every file of the last build into `out` is as it was then. */
export function isBuilt(root: string, out: string): boolean {
  try {
    const record = recordSchema.parse(JSON.parse(readFileSync(join(out, RECORD), 'utf8')));
    return Object.entries(record).every(([path, hash]) => hashOf(root, path) === hash);
  } catch {
    // There was no build, or one of its files is gone.
    return false;
  }
}

/** @throws Error for a path that cannot be read. */
export function recordBuild(root: string, out: string, paths: readonly string[]): void {
  const record: BuildRecord = Object.fromEntries(paths.map((path) => [path, hashOf(root, path)]));
  writeFileSync(join(out, RECORD), JSON.stringify(record));
}

const hashOf = (root: string, path: string): string =>
  createHash('sha256')
    .update(readFileSync(resolve(root, path)))
    .digest('base64');

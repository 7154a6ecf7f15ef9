/**
 * What went into a build and what came out of it, by content, so that the same is not built twice: bundling takes as
 * long as the rest of a synthesis.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { FunctionForm } from './function-entry.ts';

/** SHA-256 by path. */
const hashesSchema = z.record(z.string(), z.string());

/** Inputs are relative to the root of the project, outputs to their own folder, so that it can be moved and copied. */
const recordSchema = z.strictObject({
  form: z.strictObject({ unsafe_caller: z.boolean() }),
  inputs: hashesSchema,
  outputs: hashesSchema,
});
type BuildRecord = z.infer<typeof recordSchema>;

const RECORD = 'build.json';

/** @returns true when the last build into `out` was of this form, and every file is as it was then. */
export function isBuilt(root: string, out: string, form: FunctionForm): boolean {
  try {
    const record = recordSchema.parse(JSON.parse(readFileSync(join(out, RECORD), 'utf8')));
    const isSameForm = record.form.unsafe_caller === form.unsafe_caller;
    return isSameForm && isUnchanged(root, record.inputs) && isUnchanged(out, record.outputs);
  } catch {
    // There was no build, or one of its files is gone.
    return false;
  }
}

/** Paths. */
interface Built {
  readonly form: FunctionForm;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** @throws Error for a path that cannot be read. */
export function recordBuild(root: string, out: string, { form, inputs, outputs }: Built): void {
  const record: BuildRecord = { form, inputs: hashesOf(root, inputs), outputs: hashesOf(out, outputs) };
  writeFileSync(join(out, RECORD), JSON.stringify(record));
}

const isUnchanged = (folder: string, hashes: Readonly<Record<string, string>>): boolean =>
  Object.entries(hashes).every(([path, hash]) => hashOf(folder, path) === hash);

const hashesOf = (folder: string, paths: readonly string[]): Record<string, string> =>
  Object.fromEntries(paths.map((path) => [path, hashOf(folder, path)]));

const hashOf = (folder: string, path: string): string =>
  createHash('sha256')
    .update(readFileSync(join(folder, path)))
    .digest('base64');

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as daemon from '../../shared/contracts/daemon.ts';
import * as names from '../../shared/contracts/names.ts';
import * as profiles from '../../shared/contracts/sandbox-profile.ts';

/** The schemas the daemon parses with, as its bundle has them. */
const REAL = {
  bind: daemon.bindRequestSchema,
  seal: daemon.sealRequestSchema,
  exec: daemon.execRequestSchema,
  id: names.idSchema,
  name: names.nameSchema,
  profile: profiles.sandboxProfileSchema,
};
type Mini = Record<keyof typeof REAL, { safeParse(value: unknown): { success: boolean; data?: unknown } }>;

let folder: string;
let mini: Mini;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mini-zod-'));
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const file = join(folder, 'schemas.mjs');
  await build({
    absWorkingDir: root,
    stdin: {
      resolveDir: root,
      loader: 'ts',
      contents: `
        export { bindRequestSchema as bind, sealRequestSchema as seal, execRequestSchema as exec } from './shared/contracts/daemon.ts';
        export { idSchema as id, nameSchema as name } from './shared/contracts/names.ts';
        export { sandboxProfileSchema as profile } from './shared/contracts/sandbox-profile.ts';`,
    },
    bundle: true,
    format: 'esm',
    alias: { zod: './functions/sandboxd/mini-zod.ts' },
    outfile: file,
  });
  mini = await import(file);
});
afterAll(() => rm(folder, { recursive: true }));

const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const digest = `sha256:${'0'.repeat(64)}`;
const word = fc.constantFrom(
  'demo',
  'Demo',
  'a-b',
  '-a',
  '',
  'x'.repeat(65),
  id,
  digest,
  'a'.repeat(64),
  '__proto__',
  'constructor',
  'a.py',
);
const junk = fc.oneof(
  fc.jsonValue(),
  word,
  fc.constantFrom(0, -1, 1.5, 1, 262_144, 262_145, 2 ** 53, null, undefined, Number.NaN),
);
const loose = <T>(good: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: junk });
const strings = fc.array(loose(word), { maxLength: 3 });
const record = (shape: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .tuple(
      fc.record(shape, { requiredKeys: [] }),
      fc.record(shape),
      fc.oneof(
        { weight: 6, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: fc.dictionary(word, junk, { maxKeys: 1 }) },
      ),
    )
    .chain(([partial, whole, extra]) =>
      fc.oneof(
        { weight: 4, arbitrary: fc.constant({ ...whole, ...extra }) },
        { weight: 1, arbitrary: fc.constant({ ...partial, ...extra }) },
      ),
    );

const INPUTS: Record<keyof typeof REAL, fc.Arbitrary<unknown>> = {
  id: loose(word),
  name: loose(word),
  bind: loose(record({ run_id: loose(fc.constant(id)), manifest_digest: loose(fc.constant(digest)) })),
  seal: loose(
    record({
      packages: loose(
        fc.array(loose(record({ name: loose(fc.constant('demo')), digest: loose(fc.constant(digest)) })), {
          maxLength: 3,
        }),
      ),
      inputs: loose(
        fc.array(loose(record({ path: loose(word), sha256: loose(fc.constant('a'.repeat(64))) })), {
          maxLength: 3,
        }),
      ),
    }),
  ),
  exec: loose(
    record({
      command: loose(
        fc.oneof(
          record({ argv: loose(strings) }),
          record({ skill: loose(fc.constant('demo')), script: loose(word), args: loose(strings) }),
        ),
      ),
      stdin: loose(fc.string()),
      env: loose(fc.dictionary(word, loose(word), { maxKeys: 3 })),
      timeout_ms: loose(fc.integer({ min: 1, max: 9 })),
      stream_bytes: loose(fc.integer({ min: 1, max: 262_144 })),
    }),
  ),
  profile: loose(
    record({
      name: loose(fc.constant('default')),
      env_names: loose(strings),
      egress_aliases: loose(fc.array(loose(fc.constant('api')), { maxLength: 2 })),
      memory_bytes: loose(fc.integer({ min: 1 })),
      max_processes: loose(fc.integer({ min: 1 })),
    }),
  ),
};

test.each(Object.keys(REAL) as (keyof typeof REAL)[])(
  '%s: the stand-in gives the verdicts and values of zod',
  (schema) => {
    let accepted = 0;
    fc.assert(
      fc.property(INPUTS[schema], (value) => {
        const real = REAL[schema].safeParse(value);
        const ours = mini[schema].safeParse(value);
        expect(ours.success).toBe(real.success);
        if (real.success) {
          accepted += 1;
          expect(ours.data).toEqual(real.data);
        }
      }),
      { numRuns: 1_500 },
    );
    expect(accepted).toBeGreaterThan(20);
  },
);

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFunctions } from '../../infra/functions/build-functions.ts';
import { bundleFunctions } from '../../infra/functions/bundle-functions.ts';
import { FUNCTIONS, type FunctionSpec } from '../../infra/functions/function-table.ts';
import { scopeBindingsSchema } from '../../shared/contracts/scope.ts';
import { BINDINGS, makeBundles, PROFILES, ROOT, type TestBundles } from '../support/function-bundles.ts';

const names = FUNCTIONS.map(({ name }) => name);
let bundles: TestBundles;
/** Paths of sources, by the function's name. */
const inputs = new Map<string, string[]>();
const texts = new Map<string, string>();

beforeAll(async () => {
  bundles = await makeBundles();
  for (const { name, sources } of (await buildFunctions(ROOT, { unsafe_caller: false })).bundles)
    inputs.set(name, [...sources.keys()]);
  for (const name of names) texts.set(name, readFileSync(join(bundles.out, name, 'index.mjs'), 'utf8'));
}, 240_000);
afterAll(() => bundles.close());

const filesIn = (folder: string): string[] => readdirSync(folder).toSorted();
const importsOf = (name: string, pattern: RegExp): string[] =>
  (inputs.get(name) ?? []).filter((path) => pattern.test(path));

describe.each(FUNCTIONS)('the bundle of $name', (spec: FunctionSpec) => {
  const { name } = spec;

  it('is one module, with bindings for the API and profiles for the run boundary beside it', () => {
    const folder = bundles.folders.get(name) ?? '';
    const hasBindings = spec.kind === 'api';
    const hasProfiles = spec.kind === 'api' ? name === 'runs' : name !== 'gc';

    expect(filesIn(folder)).toEqual([
      'index.mjs',
      ...(hasProfiles ? ['sandbox-profiles.json'] : []),
      ...(hasBindings ? ['scope-bindings.json'] : []),
    ]);
    const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));
    if (hasBindings) expect(read('scope-bindings.json')).toEqual(BINDINGS);
    if (hasProfiles) expect(read('sandbox-profiles.json')).toEqual(PROFILES);
  });

  it('holds nothing of the standalone server and no unsafe setting', () => {
    expect(importsOf(name, /adapters\/local\/|^infra\/|aws-local-stepfunctions|^test\/|^cli\//)).toEqual([]);
    expect(texts.get(name)).not.toMatch(/unsafe_?caller|COGNITION_UNSAFE|node:sqlite|isolation:"none"/i);
  });

  it('has the client of a service only where its row of the table needs the service', () => {
    const hasClient = (service: string) =>
      importsOf(name, new RegExp(`@aws-sdk/client-${service}/`)).length > 0;

    expect({
      dynamodb: hasClient('dynamodb'),
      s3: hasClient('s3'),
      ecs: hasClient('ecs'),
      sfn: hasClient('sfn'),
      sandboxes: importsOf(name, /adapters\/sandbox\/http-sandbox-client/).length > 0,
    }).toEqual({
      dynamodb: spec.table !== 'none',
      s3: spec.packages !== 'none' || spec.artifacts !== 'none' || spec.inputs !== 'none',
      ecs: spec.ecs.length > 0,
      sfn: spec.starts_runs,
      sandboxes: spec.vpc,
    });
  });

  it('has no code for rows that its row of the table keeps from it', () => {
    if (spec.registry) return;

    expect(importsOf(name, /records\/(agent|object|skill)-records|input-artifacts|idempotency/)).toEqual([]);
  });

  it('looks for credentials where Lambda puts them and nowhere else', () => {
    expect(importsOf(name, /credential-provider|nested-clients|token-providers/)).toEqual([]);
  });

  it('is within its size', () => {
    const hasS3 = spec.packages !== 'none' || spec.artifacts !== 'none' || spec.inputs !== 'none';

    expect(Buffer.byteLength(texts.get(name) ?? '')).toBeLessThanOrEqual(hasS3 ? 800_000 : 500_000);
  });

  it('says nothing of the machine that built it', () => {
    const text = `${texts.get(name)}${readFileSync(join(bundles.out, 'maps', `${name}.mjs.map`), 'utf8')}`;

    for (const place of [ROOT, bundles.out, join(homedir(), '/'), 'file://']) {
      expect(text.includes(place), place).toBe(false);
    }
    expect(texts.get(name)).not.toContain('sourceMappingURL');
  });
});

const OPTIONS = { unsafe_caller: false, root: ROOT, bindings: BINDINGS, profiles: PROFILES };

describe('a build', () => {
  it('comes out the same every time, byte for byte', async () => {
    const again = await makeBundles();

    for (const [name, folder] of again.folders) {
      for (const file of filesIn(folder)) {
        const [one, two] = [bundles.out, again.out].map((out) => readFileSync(join(out, name, file)));
        expect(one?.equals(two ?? Buffer.alloc(0)), `${name}/${file}`).toBe(true);
      }
    }
    await again.close();
  }, 120_000);

  it('is not repeated while nothing has changed, but for what lies beside the code', async () => {
    const written = statSync(join(bundles.out, 'skills/index.mjs')).mtimeMs;
    const bindings = [{ ...BINDINGS[0], account_id: '210987654321' }];

    await bundleFunctions({ ...OPTIONS, out: bundles.out, bindings: scopeBindingsSchema.parse(bindings) });

    expect(statSync(join(bundles.out, 'skills/index.mjs')).mtimeMs).toBe(written);
    const beside = readFileSync(join(bundles.out, 'skills/scope-bindings.json'), 'utf8');
    expect(JSON.parse(beside)).toEqual(bindings);
  });

  it('for an emulator is another one, in which the API alone may take a caller on trust', async () => {
    const bundled = (out: string) =>
      names.filter((name) =>
        /COGNITION_UNSAFE_CALLER/.test(readFileSync(join(out, name, 'index.mjs'), 'utf8')),
      );
    const api = FUNCTIONS.filter(({ kind }) => kind === 'api').map(({ name }) => name);

    await bundleFunctions({ ...OPTIONS, out: bundles.out, unsafe_caller: true });
    const trusting = bundled(bundles.out);
    await bundleFunctions({ ...OPTIONS, out: bundles.out });

    expect(trusting).toEqual(api);
    expect(bundled(bundles.out)).toEqual([]);
  }, 120_000);

  it('is repeated when something of it was changed, and leaves nothing that does not belong to it', async () => {
    const expected = readFileSync(join(bundles.out, 'skills/index.mjs'), 'utf8');
    writeFileSync(join(bundles.out, 'skills/index.mjs'), 'export const handler = () => {};');
    writeFileSync(join(bundles.out, 'skills/other.mjs'), '');

    await bundleFunctions({ ...OPTIONS, out: bundles.out });

    expect(readFileSync(join(bundles.out, 'skills/index.mjs'), 'utf8')).toBe(expected);
    expect(filesIn(join(bundles.out, 'skills'))).toEqual(['index.mjs', 'scope-bindings.json']);
    expect(filesIn(bundles.out)).toEqual([...names, 'build.json', 'maps'].toSorted());
  }, 120_000);
});

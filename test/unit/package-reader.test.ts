import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noMetrics } from '../../shared/adapters/no-metrics.ts';
import type { SkillPackageStore } from '../../shared/ports/skill-package-store.ts';
import { createPackageReader, type PackageReader } from '../../shared/services/package-reader.ts';
import {
  createRequest,
  FINGERPRINT,
  failureOf,
  OTHER_FINGERPRINT,
  openRegistries,
  type Registries,
} from '../support/package-builders.ts';

let world: Registries;
let fetches: string[];
beforeEach(async () => {
  world = await openRegistries();
  fetches = [];
});
afterEach(() => world.close());

const readerOf = (options: { cacheBytes?: number } = {}): PackageReader => {
  const packages: SkillPackageStore = {
    ...world.packages,
    fetch: (fingerprint, digest) => {
      fetches.push(`${fingerprint}#${digest}`);
      return world.packages.fetch(fingerprint, digest);
    },
  };
  return createPackageReader({ packages, metrics: noMetrics, ...options });
};
const publish = async (name: string, files: Record<string, string> = {}): Promise<string> =>
  (await world.skills.create(FINGERPRINT, createRequest(name, files))).value.digest;

describe('The index of a package', () => {
  it('tells what begins with #! and nothing else as executable', async () => {
    const digest = await publish('t1', {
      run: '#!/bin/sh\r\n',
      bom: '\ufeff#!/bin/sh',
      text: '#',
      late: ' #!',
      empty: '',
    });

    const files = await readerOf().index(FINGERPRINT, digest);

    expect(files.filter(({ executable }) => executable).map(({ path }) => path)).toEqual(['run']);
  });

  it('is read once, also by many at a time', async () => {
    const digest = await publish('t1');
    const reader = readerOf();

    await Promise.all(Array.from({ length: 20 }, () => reader.index(FINGERPRINT, digest)));
    await reader.index(FINGERPRINT, digest);

    expect(fetches).toHaveLength(1);
  });

  it('is never shared with another scope', async () => {
    const digest = await publish('t1');
    const reader = readerOf();
    await reader.index(FINGERPRINT, digest);

    expect(await failureOf(reader.index(OTHER_FINGERPRINT, digest))).toMatchObject({
      code: 'package_unavailable',
    });
  });

  it('is forgotten when memory is short, and read again', async () => {
    const digests = [
      await publish('t1', { a: '1' }),
      await publish('t2', { a: '2' }),
      await publish('t3', { a: '3' }),
    ];
    const reader = readerOf({ cacheBytes: 2_000 });

    for (const digest of [...digests, ...digests])
      expect(await reader.index(FINGERPRINT, digest)).toHaveLength(2);

    expect(fetches).toHaveLength(6);
  });

  it('of bytes that are missing is no answer that is kept', async () => {
    const digest = await publish('t1');
    const bytes = await world.packages.fetch(FINGERPRINT, digest);
    await world.packages.delete(FINGERPRINT, digest);
    const reader = readerOf();
    expect(await failureOf(reader.index(FINGERPRINT, digest))).toMatchObject({ code: 'package_unavailable' });

    await world.packages.put(FINGERPRINT, digest, bytes ?? new Uint8Array());

    expect(await reader.index(FINGERPRINT, digest)).toHaveLength(1);
  });
});

describe('Entries and bytes', () => {
  it('are fetched and verified at every call', async () => {
    const digest = await publish('t1', { a: '1' });
    const reader = readerOf();

    const entries = await reader.entries(FINGERPRINT, digest);
    await reader.bytes(FINGERPRINT, digest);

    expect(entries.map(({ path }) => path)).toEqual(['SKILL.md', 'a']);
    expect(fetches).toHaveLength(2);
  });
});

/** What every SkillPackageStore keeps. An adapter passes by calling this with a factory of empty stores. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodePackage, packageDigest } from '../../shared/domain/canonical-package.ts';
import { scopeFingerprint } from '../../shared/domain/scope.ts';
import type { SkillPackageStore } from '../../shared/ports/skill-package-store.ts';

export interface PackageStoreUnderTest {
  readonly packages: SkillPackageStore;
  /** Changes the stored bytes behind the store's back. */
  damage(fingerprint: string, digest: string): Promise<void>;
  close(): Promise<void>;
}

const ACME = scopeFingerprint({ tenant: 'acme' });
const GLOBEX = scopeFingerprint({ tenant: 'globex' });

function packageOf(text: string): { bytes: Uint8Array; digest: string } {
  const bytes = encodePackage(new Map([['SKILL.md', text]]));
  return { bytes, digest: packageDigest(bytes) };
}

export function skillPackageStoreContract(name: string, open: () => Promise<PackageStoreUnderTest>): void {
  describe(`${name} keeps the contract of SkillPackageStore`, () => {
    let opened: PackageStoreUnderTest;
    let packages: SkillPackageStore;
    beforeEach(async () => {
      opened = await open();
      packages = opened.packages;
    });
    afterEach(() => opened.close());
    const fetched = async (fingerprint: string, digest: string): Promise<string | undefined> => {
      const bytes = await packages.fetch(fingerprint, digest);
      return bytes === undefined ? undefined : packageDigest(bytes);
    };

    it('fetches what was put, small and as large as it may be', async () => {
      const large = packages.max_bytes - packageOf('').bytes.byteLength;
      for (const text of ['small', 'x'.repeat(300_001), 'y'.repeat(large)]) {
        const { bytes, digest } = packageOf(text);
        await packages.put(ACME, digest, bytes);
        expect(await packages.exists(ACME, digest)).toBe(true);
        expect(await fetched(ACME, digest)).toBe(digest);
      }
    });

    it('refuses a package above its size with body_too_large and stores nothing', async () => {
      const { bytes, digest } = packageOf('x'.repeat(packages.max_bytes));
      await expect(packages.put(ACME, digest, bytes)).rejects.toMatchObject({ code: 'body_too_large' });
      expect(await packages.exists(ACME, digest)).toBe(false);
    });

    it('has nothing that was never put', async () => {
      const { digest } = packageOf('none');
      expect(await packages.fetch(ACME, digest)).toBeUndefined();
      expect(await packages.exists(ACME, digest)).toBe(false);
      await packages.delete(ACME, digest);
    });

    it('keeps scopes apart, in reads and in deletions', async () => {
      const { bytes, digest } = packageOf('shared');
      await packages.put(ACME, digest, bytes);
      expect(await packages.fetch(GLOBEX, digest)).toBeUndefined();
      await packages.put(GLOBEX, digest, bytes);
      await packages.delete(ACME, digest);
      expect(await packages.exists(ACME, digest)).toBe(false);
      expect(await fetched(GLOBEX, digest)).toBe(digest);
    });

    it('takes the same package again, one after the other and at once', async () => {
      const { bytes, digest } = packageOf('z'.repeat(700_000));
      await packages.put(ACME, digest, bytes);
      await packages.put(ACME, digest, bytes);
      await Promise.all(Array.from({ length: 10 }, () => packages.put(GLOBEX, digest, bytes)));
      expect(await fetched(ACME, digest)).toBe(digest);
      expect(await fetched(GLOBEX, digest)).toBe(digest);
    });

    it.each([10, 700_000])('repairs a package of %i bytes that was damaged in the store', async (size) => {
      const { bytes, digest } = packageOf('z'.repeat(size));
      await packages.put(ACME, digest, bytes);
      await opened.damage(ACME, digest);
      expect(await fetched(ACME, digest)).not.toBe(digest);
      await packages.put(ACME, digest, bytes);
      expect(await fetched(ACME, digest)).toBe(digest);
    });

    it('forgets a deleted package and takes it again', async () => {
      const { bytes, digest } = packageOf('z'.repeat(700_000));
      await packages.put(ACME, digest, bytes);
      await packages.delete(ACME, digest);
      await packages.delete(ACME, digest);
      expect(await packages.fetch(ACME, digest)).toBeUndefined();
      await packages.put(ACME, digest, bytes);
      expect(await fetched(ACME, digest)).toBe(digest);
    });

    it('gives a link to anything that no answer can carry', async () => {
      const { bytes, digest } = packageOf('linked');
      await packages.put(ACME, digest, bytes);
      const url = await packages.downloadUrl(ACME, digest, 'linked.cskpkg');
      if (packages.max_bytes > 4 * 1024 * 1024) expect(url).toMatch(/^https?:\/\//);
      else expect(url).toBeUndefined();
    });
  });
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sandboxMounts, UNMOUNTED_BYTES } from '../../shared/contracts/sandbox-container.ts';
import { type SandboxProfile, sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';

const MiB = 1024 * 1024;
const profileOf = (overrides: Partial<SandboxProfile> = {}): SandboxProfile =>
  sandboxProfileSchema.parse({ name: 'test', ...overrides });
const sizes = (profile: SandboxProfile): Record<string, number> =>
  Object.fromEntries(sandboxMounts(profile).map(({ path, bytes }) => [path, bytes / MiB]));

test('the default profile has room for all', () => {
  expect(sizes(profileOf())).toEqual({
    '/tmp': 128,
    '/skills': 127,
    '/workspace': 256,
    '/outputs': 256,
    '/run': 1,
  });
});

test('packages get half of a large memory at most', () => {
  expect(sizes(profileOf({ memory_bytes: 8192 * MiB }))['/skills']).toBe(4096);
});

test('a workspace that leaves no room for packages is refused with what would be enough', () => {
  const profile = profileOf({ memory_bytes: 512 * MiB });

  expect(() => sandboxMounts(profile)).toThrow(
    /profile test: memory_bytes is 536870912.*make it (\d+) or more/,
  );
  const least = Number(/make it (\d+)/.exec(String(catchError(() => sandboxMounts(profile))))?.[1]);
  expect(() => sandboxMounts(profileOf({ memory_bytes: least }))).not.toThrow();
  expect(() => sandboxMounts(profileOf({ memory_bytes: least - 1 }))).toThrow();
});

function catchError(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

test('whatever the profile, the mounts leave the daemon its memory and are whole MiB', () => {
  const bytes = fc.integer({ min: 1, max: 16_384 * MiB });
  fc.assert(
    fc.property(bytes, bytes, (memory_bytes, workspace_bytes) => {
      const profile = profileOf({ memory_bytes, workspace_bytes });
      let mounts: ReturnType<typeof sandboxMounts>;
      try {
        mounts = sandboxMounts(profile);
      } catch {
        return;
      }
      const sum = mounts.reduce((all, mount) => all + mount.bytes, 0);
      expect(sum + UNMOUNTED_BYTES).toBeLessThanOrEqual(memory_bytes);
      for (const mount of mounts) expect(mount.bytes % MiB).toBe(0);
    }),
  );
});

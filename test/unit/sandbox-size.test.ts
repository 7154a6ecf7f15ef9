import { describe, expect, it } from 'vitest';
import { type SandboxProfile, sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { type SandboxSize, sandboxSize } from '../../shared/contracts/sandbox-size.ts';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

const profile = (given: Partial<SandboxProfile>): SandboxProfile =>
  sandboxProfileSchema.parse({ name: 'default', ...given });

function sized(given: Partial<SandboxProfile>): SandboxSize {
  const size = sandboxSize(profile(given));
  if ('problem' in size) throw new Error(size.problem);
  return size;
}

describe('the size of a sandbox', () => {
  it.each([
    ['the default', {}, 512, 1024],
    ['less than Fargate has', { memory_bytes: 600 * MiB, workspace_bytes: 64 * MiB }, 512, 1024],
    ['a byte more than a step', { memory_bytes: GiB + 1 }, 512, 2048],
    ['a large one', { memory_bytes: 8 * GiB, workspace_bytes: GiB }, 1024, 8192],
    ['one between sizes of Fargate', { memory_bytes: 31 * GiB }, 8192, 32 * 1024],
    ['the largest', { memory_bytes: 120 * GiB }, 16_384, 120 * 1024],
  ])('is one that Fargate offers: %s', (_name, given, cpu_units, memory_mib) => {
    expect(sized(given)).toMatchObject({ cpu_units, memory_mib });
  });

  it.each([
    {},
    { workspace_bytes: 1 },
    { memory_bytes: GiB, workspace_bytes: 266 * MiB },
    { memory_bytes: 4 * GiB, workspace_bytes: GiB + 1 },
    { memory_bytes: 30 * GiB, workspace_bytes: 10 * GiB },
  ])('leaves the daemon 256 MiB when all that can be written is full: %j', (given) => {
    const { memory_mib, mounts } = sized(given);

    const sharedMemory = 64;
    const full = mounts.reduce((sum, { mebibytes }) => sum + mebibytes, sharedMemory);

    expect(full).toBeLessThan(memory_mib - 256);
    expect(mounts.every(({ mebibytes }) => Number.isInteger(mebibytes) && mebibytes > 0)).toBe(true);
  });

  it('holds a package of the largest size, and no more than all of a manifest', () => {
    const skills = (given: Partial<SandboxProfile>) =>
      sized(given).mounts.find(({ path }) => path === '/skills')?.mebibytes ?? 0;

    expect(skills({ workspace_bytes: 266 * MiB })).toBeGreaterThanOrEqual(32);
    expect(skills({ memory_bytes: 120 * GiB })).toBe(1024);
  });

  it('does not exist where memory is less than what is promised', () => {
    const needed = sandboxSize(profile({ workspace_bytes: 512 * MiB }));
    expect(needed).toEqual({ problem: expect.stringContaining('at least 1716518912') });

    expect(sandboxSize(profile({ workspace_bytes: 512 * MiB, memory_bytes: 1_716_518_912 }))).toMatchObject({
      memory_mib: 2048,
    });
    expect(sandboxSize(profile({ workspace_bytes: 64 * GiB, memory_bytes: 120 * GiB }))).toEqual({
      problem: expect.stringContaining('more memory than Fargate has'),
    });
  });
});

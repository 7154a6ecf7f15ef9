import { chownSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { newFolder, removeFolder, startStandalone } from '../support/standalone.ts';
import { refusalOf } from '../support/standalone-refusal.ts';

describe('a standalone server', () => {
  it('does not start with a pool that would take every sandbox', async () => {
    const folder = newFolder();

    const start = startStandalone({ COGNITION_SANDBOX_POOL_SIZE: '4', COGNITION_MAX_TASKS: '4' }, folder);

    await expect(start).rejects.toThrow(/COGNITION_SANDBOX_POOL_SIZE 4 .* raise COGNITION_MAX_TASKS \(4\)/);
    removeFolder(folder);
  });

  it.skipIf(process.getuid?.() !== 0)('takes no folder of another user for its own', async () => {
    const folder = newFolder();
    chownSync(folder, 54_321, 54_321);

    const refusal = await refusalOf({ COGNITION_DATA_DIR: folder });

    expect(refusal).toMatchObject({ code: 1, stdout: '' });
    expect(refusal.stderr).toMatch(
      /COGNITION_DATA_DIR: .* belongs to the user 54321\); choose another folder/,
    );
    removeFolder(folder);
  });
});

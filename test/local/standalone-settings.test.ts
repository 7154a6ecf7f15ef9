import { describe, expect, it } from 'vitest';
import { newFolder, removeFolder, startStandalone } from '../support/standalone.ts';

describe('a standalone server', () => {
  it('does not start with a pool that would take every sandbox', async () => {
    const folder = newFolder();

    const start = startStandalone({ COGNITION_SANDBOX_POOL_SIZE: '4', COGNITION_MAX_TASKS: '4' }, folder);

    await expect(start).rejects.toThrow(/COGNITION_SANDBOX_POOL_SIZE 4 .* raise COGNITION_MAX_TASKS \(4\)/);
    removeFolder(folder);
  });
});

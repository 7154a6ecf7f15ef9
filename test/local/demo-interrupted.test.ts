import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/cli-io.ts';

const demo = fileURLToPath(new URL('../../infra/local/demo.ts', import.meta.url));

/** Whoever writes to the demo's stderr is its server, which holds the pipe open until it has ended. */
it('a demo that is ended in the middle leaves no server and no folder', { timeout: 60_000 }, async () => {
  const temporary = temporaryFolder().path;
  chmodSync(temporary, 0o755);
  const child = spawn(process.execPath, [demo], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  let output = '';
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('$ cognition doctor')) resolve();
    });
  });

  child.kill('SIGTERM');

  expect(await closed).toEqual([143, null]);
  expect(readdirSync(temporary).filter((name) => name.startsWith('cognition-demo-'))).toEqual([]);
});

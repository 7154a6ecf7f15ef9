import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { SERVER_COMMAND } from '../../infra/local/server-command.ts';
import { temporaryFolder } from '../support/cli-io.ts';

const packageJson = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(packageJson));
const settingUp = Object.entries(scripts).filter(([, script]) => script.includes('setup.mjs'));

function writeProgram(file: string, lines: readonly string[]): void {
  writeFileSync(file, `#!/bin/sh\n${lines.join('\n')}\n`);
  chmodSync(file, 0o755);
}

/** A fresh clone on a machine with an older Node, whose set-up installs the one that is needed. */
function freshClone(): { root: string; env: NodeJS.ProcessEnv } {
  const root = temporaryFolder().path;
  const [system, installed] = [join(root, 'system'), join(root, 'node_modules/.bin')];
  mkdirSync(system);
  mkdirSync(installed, { recursive: true });
  writeProgram(join(root, 'node24'), ['echo "installed node"']);
  writeProgram(join(system, 'vitest'), ['echo "installed node"']);
  writeProgram(join(system, 'node'), [
    `cp "${join(root, 'node24')}" "${join(installed, 'node')}"`,
    'echo "system node"',
  ]);
  return { root, env: { PATH: `${installed}:${system}:${process.env.PATH}` } };
}

describe('the scripts of package.json', () => {
  it.each(settingUp)('%s runs on the Node that its own set-up has just installed', (_name, script) => {
    const { root, env } = freshClone();

    const { stdout } = spawnSync('sh', ['-c', script], { cwd: root, env, encoding: 'utf8' });

    expect(stdout.split('\n')).toEqual(['system node', 'installed node', '']);
  });

  it('start the same server as demo, tests and bench do', () => {
    const flags = SERVER_COMMAND.slice(0, -1);

    expect(scripts.local).toContain(`node ${flags.join(' ')} infra/local/main.ts`);
  });
});

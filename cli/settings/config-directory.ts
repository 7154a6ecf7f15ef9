import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { CliIo } from '../io.ts';

/** $COGNITION_CONFIG_DIR, else $XDG_CONFIG_HOME/cognition, else ~/.config/cognition. */
export function configDirectory(env: CliIo['env']): string {
  const own = env.COGNITION_CONFIG_DIR;
  if (own !== undefined && own !== '') return own;
  const xdg = env.XDG_CONFIG_HOME;
  // The XDG specification: a path that is not absolute is to be ignored.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'cognition');
  return join(env.HOME || homedir(), '.config', 'cognition');
}

import { readFile, stat } from 'node:fs/promises';
import { CliFailure } from '../failure.ts';

const MAX_BYTES = 64 * 1024;

/**
 * The text of a settings file, or undefined where there is none. It decides where requests and signatures go, so
 * one that others could have written is refused.
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw new CliFailure('unsafe_settings', `cannot read ${path}: ${error.message}`, { cause: error });
  });
  if (info === undefined) return undefined;
  const refuse = (why: string, fix: string): CliFailure =>
    new CliFailure('unsafe_settings', `${path} ${why}`, { fix });
  if (!info.isFile() || info.size > MAX_BYTES) throw refuse('is not a settings file', 'remove it');
  const uid = process.getuid?.();
  if (uid !== undefined && info.uid !== uid) {
    throw refuse(`belongs to another user (uid ${info.uid})`, 'remove it, or set COGNITION_CONFIG_DIR');
  }
  if (uid !== undefined && (info.mode & 0o022) !== 0) {
    throw refuse('can be written by others', `run \`chmod 600 ${path}\` if you trust what is in it`);
  }
  return readFile(path, 'utf8');
}

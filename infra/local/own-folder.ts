import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { InvalidSettings } from '../../shared/contracts/settings.ts';

/**
 * A folder that a setting names, made when missing and then closed to others.
 * @throws InvalidSettings that names the setting and the folder.
 */
export function ownFolder(setting: string, folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
    refuseForeign(folder);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidSettings([`${setting}: ${folder} cannot be used (${reason}); choose another folder`]);
  }
}

/** Whoever owns a folder can put other files in the place of ours, and an owner's own files are not private to us. */
function refuseForeign(folder: string): void {
  const { uid } = statSync(folder);
  if (uid !== 0 && uid !== (process.getuid?.() ?? uid)) throw new Error(`it belongs to the user ${uid}`);
}

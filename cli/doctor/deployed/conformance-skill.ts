import { fileURLToPath } from 'node:url';
import { CliFailure } from '../../failure.ts';
import { readPackageFolder } from '../../package-folder/read-package-folder.ts';

/** Skills and agents whose names begin so are made and removed by `cognition doctor --deployed`. */
export const CONFORMANCE_PREFIX = 'cognition-conformance';

/** Beside this file as it is, and beside the bundle that the CLI is built into. */
const FOLDERS = ['../conformance/', './conformance/'];

/**
 * The skill that tries to break out.
 * @param name what it is published as; its SKILL.md says so too.
 */
export async function conformanceSkill(name: string): Promise<ReadonlyMap<string, string>> {
  for (const folder of FOLDERS) {
    const path = fileURLToPath(new URL(folder, import.meta.url));
    const read = await readPackageFolder(path).catch(() => undefined);
    if (read === undefined || !read.files.has('scripts/attempts.py')) continue;
    const rename = (text: string): string => text.replace(/^name: .*$/m, `name: ${name}`);
    return new Map([...read.files].map(([file, text]) => [file, file === 'SKILL.md' ? rename(text) : text]));
  }
  throw new CliFailure('invalid_file', 'the skill of the conformance program is missing', {
    fix: 'install the CLI again',
  });
}

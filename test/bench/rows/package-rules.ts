/** Validation, canonical bytes and digest of a package, against SHA-256 of as many bytes. */
import { createHash } from 'node:crypto';
import { encodePackage } from '../../../shared/domain/canonical-package.ts';
import { validatePackage } from '../../../shared/domain/package/validate-package.ts';
import { skillMd } from '../../support/skill-files.ts';
import { atLeast, atMost, type BenchRow, median, timesOf } from '../bench-row.ts';

const MiB = 1024 * 1024;

function packageOf(bytes: number, files: number): Map<string, string> {
  const text = 'The quick brown fox jumps over the lazy dog. 0123456789\n'.repeat(
    Math.ceil(bytes / files / 56),
  );
  const map = new Map([['SKILL.md', skillMd('bench')]]);
  for (let index = 0; index < files; index += 1)
    map.set(`references/${index}.md`, text.slice(0, bytes / files));
  return map;
}

/** One call does all three: a valid package has its canonical bytes and digest. */
function publishRules(files: ReadonlyMap<string, string>): string {
  const judged = validatePackage('bench', files);
  if (judged.kind === 'invalid') throw new Error(JSON.stringify(judged.problems));
  return judged.digest;
}

export async function packageRules(): Promise<BenchRow[]> {
  const large = packageOf(10 * MiB, 40);
  const small = packageOf(9 * 1024, 2);
  const bytes = encodePackage(large);
  const hash = median(await timesOf(30, 5, () => createHash('sha256').update(bytes).digest('hex')));
  const rules = median(await timesOf(30, 5, () => publishRules(large)));
  const smallRules = median(await timesOf(500, 100, () => publishRules(small)));
  return [
    atLeast(
      'package-10mb',
      'canonicalize, validate, digest 10 MiB: of raw SHA-256',
      (hash / rules) * 100,
      25,
      '%',
    ),
    atMost('package-9kb', 'canonicalize, validate, digest 9 KiB', smallRules, 0.3, 'ms'),
  ];
}

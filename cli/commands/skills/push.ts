import { resolve } from 'node:path';
import type { Skill } from '../../../shared/contracts/skill.ts';
import { ApiError } from '../../client/client-errors.ts';
import type { Client } from '../../client/create-client.ts';
import { command } from '../../command.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { type CheckedFolder, checkPackageFolder } from '../../package-folder/check-package-folder.ts';
import { problemLine } from '../../report-error.ts';
import type { Session } from '../../session.ts';
import { formatBytes } from '../../terminal/format.ts';
import { details } from '../../terminal/table.ts';

type ValidFolder = Extract<CheckedFolder, { kind: 'valid' }>;

export const pushSkill = command({
  name: 'push',
  description: 'Publish a folder as the new revision of a skill; the name is the one in SKILL.md',
  examples: [
    'cognition skills push examples/skills/ticket-analysis',
    'cognition skills push . --dry-run      # checks, sends nothing',
    'cognition skills push . --disabled     # publishes, but no run may use it yet',
  ],
  args: {
    dir: { type: 'positional', required: true, description: 'Folder that holds SKILL.md' },
    'dry-run': { type: 'boolean', description: 'Check the folder and show its digest; send nothing' },
    disabled: { type: 'boolean', description: 'Publish it disabled; without, `enabled` stays as it is' },
  },
  run: async ({ args, session }) => {
    const folder = await checkPackageFolder(resolve(session.io.cwd, args.dir));
    if (folder.ignored.length > 0) session.output.note(`left out: ${folder.ignored.join(', ')}`);
    if (folder.kind === 'invalid') return showProblems(folder, args.dir, session);
    if (args['dry-run'] === true) showDryRun(folder, session);
    else await publish(folder, args.disabled === true, session);
    return EXIT.success;
  },
});

function showProblems(
  folder: Extract<CheckedFolder, { kind: 'invalid' }>,
  dir: string,
  session: Session,
): number {
  const count = folder.total === 1 ? '1 problem' : `${folder.total} problems`;
  const message = `${dir} is not a valid package: ${count}`;
  const unlisted = folder.total - folder.problems.length;
  session.output.error({ error: { code: 'invalid_package', message, problems: folder.problems } }, [
    [{ text: 'cognition: ', style: 'red' }, message, { text: ' [invalid_package]', style: 'dim' }],
    ...folder.problems.map(problemLine),
    ...(unlisted > 0 ? [`  and ${unlisted} more`] : []),
  ]);
  return EXIT.failure;
}

function showDryRun({ checked, ignored }: ValidFolder, session: Session): void {
  const { name, description, digest, file_count, size_bytes, warnings } = checked;
  const document = { name, description, digest, file_count, size_bytes, warnings, ignored, published: false };
  session.output.result(document, () => [
    ...details([
      ['name', { text: name, style: 'bold' }],
      ['digest', digest],
      ['files', `${file_count}, ${formatBytes(size_bytes)}`],
      ['published', 'no, this was a dry run'],
    ]),
    ...warnings.map(problemLine),
  ]);
}

async function publish(folder: ValidFolder, disabled: boolean, session: Session): Promise<void> {
  const { client } = await session.connect();
  const before = await currentSkill(client, folder.name);
  const { value: skill, created } = await client.putSkill(folder.name, {
    files: folder.files,
    ...(disabled ? { enabled: false } : {}),
  });
  if (skill.digest !== folder.checked.digest) {
    throw new CliFailure(
      'invalid_package',
      `the server stored ${skill.digest}, but the folder is ${folder.checked.digest}`,
      { fix: 'make sure that CLI and server are of the same version, then push again' },
    );
  }
  const outcome = created ? 'created' : before?.revision === skill.revision ? 'unchanged' : 'updated';
  session.output.result({ ...skill, outcome, ignored: folder.ignored }, () => [
    ...details([
      ['skill', [skill.name, outcome].join(', ')],
      ['revision', skill.revision],
      ['digest', skill.digest],
      ['files', `${skill.file_count}, ${formatBytes(skill.size_bytes)}`],
      ['enabled', skill.enabled ? undefined : 'no; run `cognition skills enable` when it is ready'],
    ]),
    ...skill.warnings.map(problemLine),
  ]);
}

async function currentSkill(client: Client, name: string): Promise<Skill | undefined> {
  try {
    return (await client.getSkill(name)).value;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

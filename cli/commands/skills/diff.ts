import type { SkillDiff } from '../../../shared/contracts/skill.ts';
import type { Client } from '../../client/create-client.ts';
import { command } from '../../command.ts';
import { CliFailure } from '../../failure.ts';
import type { Line } from '../../terminal/output.ts';

export const diffSkill = command({
  name: 'diff',
  description: 'Compare two revisions of a skill',
  examples: ['cognition skills diff ticket-analysis', 'cognition skills diff ticket-analysis FROM_ID TO_ID'],
  args: {
    name: { type: 'positional', required: true, description: 'Name of the skill' },
    from: {
      type: 'positional',
      required: false,
      description: 'Revision; default: the one before the current',
    },
    to: { type: 'positional', required: false, description: 'Revision; default: the current' },
  },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const from = args.from ?? (await previousRevision(client, args.name));
    const diff = await client.diffSkill(args.name, from, args.to);
    session.output.result(diff, () => diffLines(diff));
    return 0;
  },
});

async function previousRevision(client: Client, name: string): Promise<string> {
  const { value: skill } = await client.getSkill(name);
  const { items } = await client.listSkillRevisions(name, { limit: 200 });
  const current = items.findIndex(({ revision }) => revision === skill.revision);
  const previous = items[current + 1];
  if (current !== -1 && previous !== undefined) return previous.revision;
  throw new CliFailure('invalid_file', `${name} has no revision before the current one`, {
    fix: `name one: \`cognition skills revisions ${name}\` lists them`,
  });
}

const MARKS = { added: 'A', removed: 'D', changed: 'M' } as const;

function diffLines(diff: SkillDiff): Line[] {
  if (diff.files.length === 0) return ['no differences'];
  return diff.files.flatMap((file): Line[] => [
    [
      { text: `${MARKS[file.change]} `, style: 'bold' },
      { text: file.path, style: 'bold' },
    ],
    ...(file.diff_omitted === undefined ? [] : [`  ${file.diff_omitted}`]),
    ...(file.diff ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map(diffLine),
  ]);
}

function diffLine(line: string): Line {
  if (line.startsWith('+')) return { text: line, style: 'green' };
  if (line.startsWith('-')) return { text: line, style: 'red' };
  if (line.startsWith('@@')) return { text: line, style: 'cyan' };
  return line;
}

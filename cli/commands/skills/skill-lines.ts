import type { Revision, Skill } from '../../../shared/contracts/skill.ts';
import { problemLine } from '../../report-error.ts';
import { formatBytes, formatStatus, formatTime } from '../../terminal/format.ts';
import type { Line } from '../../terminal/output.ts';
import { details } from '../../terminal/table.ts';

/** A skill, or a revision of one, in full. */
export function skillLines(skill: Skill | Revision): Line[] {
  const live = 'enabled' in skill ? skill : undefined;
  return [
    ...details([
      ['name', { text: skill.name, style: 'bold' }],
      ['description', skill.description],
      ['enabled', live === undefined ? undefined : formatStatus(live.enabled ? 'yes' : 'no')],
      ['revision', skill.revision],
      ['digest', skill.digest],
      ['files', `${skill.file_count}, ${formatBytes(skill.size_bytes)}`],
      ['validation', formatStatus(skill.validation_status)],
      ['created', formatTime(skill.created_at)],
      ['updated', live === undefined ? undefined : formatTime(live.updated_at)],
    ]),
    ...skill.warnings.map(problemLine),
  ];
}

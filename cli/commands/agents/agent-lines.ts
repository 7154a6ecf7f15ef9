import type { Agent } from '../../../shared/contracts/agent.ts';
import { formatTime } from '../../terminal/format.ts';
import type { Line } from '../../terminal/output.ts';
import { details } from '../../terminal/table.ts';

export function agentLines(agent: Agent): Line[] {
  const subagents = agent.subagents.map(({ name, skills }) => `${name} (${skills?.join(', ') ?? 'all'})`);
  return details([
    ['name', { text: agent.name, style: 'bold' }],
    ['description', agent.description === '' ? undefined : agent.description],
    ['skills', agent.skills.length === 0 ? 'none' : agent.skills.join(', ')],
    ['subagents', subagents.length === 0 ? undefined : subagents.join('; ')],
    ['sandbox profile', agent.sandbox_profile],
    ['model', agent.model],
    ['revision', agent.revision],
    ['definition digest', agent.definition_digest],
    ['updated', formatTime(agent.updated_at)],
  ]);
}

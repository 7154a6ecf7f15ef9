/** Scopes with what a run needs, and requests for runs. */
import type { Api } from './api.ts';
import { freshApi } from './scopes.ts';
import { skillFiles } from './skill-files.ts';

/** A scope with one skill `t1` of these files and an agent `agent` that attaches it. */
export async function scopeWithSkill(
  files: Record<string, string> = {},
  api: Api = freshApi(),
): Promise<Api> {
  await api.publish('t1', skillFiles('t1', files));
  await api.putAgent('agent', { skills: ['t1'] });
  return api;
}

/** A request for a run of a script of the skill `t1`. */
export const scriptRun = (path: string, rest: Record<string, unknown> = {}): Record<string, unknown> => ({
  agent: 'agent',
  command: { skill: 't1', script: path },
  ...rest,
});

/** A request for a run of a shell line. */
export const shellRun = (line: string, rest: Record<string, unknown> = {}): Record<string, unknown> => ({
  agent: 'agent',
  command: { argv: ['sh', '-c', line] },
  ...rest,
});

/** A scope with an agent that attaches nothing. */
export async function scopeWithAgent(api: Api = freshApi()): Promise<Api> {
  await api.putAgent('agent', {});
  return api;
}

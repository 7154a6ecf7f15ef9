import type { AcceptedFinding } from './accepted-findings.ts';
import type { Finding } from './findings.ts';

export interface Judgement {
  readonly unaccepted: readonly Finding[];
  /** Entries that no finding needs. */
  readonly unused: readonly AcceptedFinding[];
}

export function judgeFindings(findings: readonly Finding[], accepted: readonly AcceptedFinding[]): Judgement {
  const covers = (entry: AcceptedFinding, { tool, rule, where }: Finding): boolean =>
    entry.tool === tool && entry.rule === rule && (entry.where?.test(where) ?? true);
  return {
    unaccepted: findings.filter((finding) => !accepted.some((entry) => covers(entry, finding))),
    unused: accepted.filter((entry) => !findings.some((finding) => covers(entry, finding))),
  };
}

/**
 * The life of a run as data; docs/runs.md has the drawing and a test compares the two. Every write of a status goes
 * through `assertTransition` and a conditional update, so a late step cannot revive a run that has ended.
 */
import type { RunStatus } from '../contracts/run.ts';

const END = ['failed', 'timed_out', 'cancelled'] as const;

export const RUN_TRANSITIONS: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  queued: ['pinned', ...END],
  pinned: ['launching', ...END],
  launching: ['materializing', ...END],
  materializing: ['running', ...END],
  running: ['collecting', ...END],
  collecting: ['succeeded', ...END],
  succeeded: [],
  failed: [],
  timed_out: [],
  cancelled: [],
};

export type TransitionResult = { kind: 'move' } | { kind: 'same' } | { kind: 'refused'; reason: string };

/** `same` makes a step that runs twice harmless. */
export function checkTransition(from: RunStatus, to: RunStatus): TransitionResult {
  if (from === to) return { kind: 'same' };
  if (RUN_TRANSITIONS[from].includes(to)) return { kind: 'move' };
  return { kind: 'refused', reason: `a run that is ${from} cannot become ${to}` };
}

export function isFinalStatus(status: RunStatus): boolean {
  return RUN_TRANSITIONS[status].length === 0;
}

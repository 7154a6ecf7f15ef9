import { LIMITS } from '../../../../shared/contracts/limits.ts';

/**
 * How a run boundary is bounded by the life of an invocation. A call of Execute or AwaitSandbox follows for most of the
 * minute that its function has, because each further call is a transition of the machine; what is left is for a daemon
 * that does not answer (10 s) and for a busy table. A task on Fargate takes half a minute to start, and an account may
 * describe tasks 20 times a second.
 */
export const DEPLOYED_BOUNDS = {
  executeBudgetMs: 45_000,
  awaitBudgetMs: 50_000,
  awaitFirstPollMs: 500,
  awaitPollMs: 2_000,
  startDeadlineMs: LIMITS.launchTimeoutSeconds * 1_000,
  startPollMs: 2_000,
  startsAtOnce: 10,
} as const;

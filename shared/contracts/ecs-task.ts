/** Names that the task definitions, the provisioner and local Fargate agree on. */

/** The one container of a sandbox task. */
export const SANDBOX_CONTAINER = 'sandboxd';

/** `startedBy` of every task of ours. */
export const SANDBOX_STARTED_BY = 'cognition';

export const SANDBOX_FAMILY_PREFIX = 'cognition-sandbox-';

/** The task definition family of a sandbox profile. */
export const sandboxFamily = (profile: string): string => `${SANDBOX_FAMILY_PREFIX}${profile}`;

/** Tags of a task. The last two are absent from a pooled sandbox, which belongs to nobody. */
export const SANDBOX_TAGS = {
  sandboxId: 'cognition:sandbox_id',
  fingerprint: 'cognition:fingerprint',
  runId: 'cognition:run_id',
} as const;

/** In an ENI attachment's details, where a task listens on another port than SANDBOX_PORT: local Fargate only. */
export const SANDBOX_PORT_DETAIL = 'cognitionSandboxPort';

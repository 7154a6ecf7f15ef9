/** Results of services, made through the real schemas. */
import { type Agent, agentSchema } from '../../shared/contracts/agent.ts';
import { type Run, runSchema } from '../../shared/contracts/run.ts';
import { type Skill, skillSchema } from '../../shared/contracts/skill.ts';
import type { Versioned } from '../../shared/services/commit-with.ts';

export const ID = '01KB0000000000000000000000';
const AT = '2026-11-30T12:00:00.000Z';
const DIGEST = `sha256:${'a'.repeat(64)}`;

export const sampleSkill = (name = 'ticket-analysis', etag = 'e1'): Versioned<Skill> => ({
  etag,
  value: skillSchema.parse({
    name,
    description: 'Reads tickets.',
    revision: ID,
    digest: DIGEST,
    file_count: 1,
    size_bytes: 10,
    validation_status: 'valid',
    warnings: [],
    enabled: true,
    created_at: AT,
    updated_at: AT,
  }),
});

export const sampleAgent = (name = 'triage', etag = 'a1'): Versioned<Agent> => ({
  etag,
  value: agentSchema.parse({
    name,
    revision: ID,
    definition_digest: DIGEST,
    scope_key: 'a'.repeat(52),
    created_at: AT,
    updated_at: AT,
  }),
});

export const sampleRun = (runId = ID): Run =>
  runSchema.parse({
    run_id: runId,
    agent: 'triage',
    status: 'queued',
    stage: 'queue',
    cancel_requested: false,
    exit_code: null,
    signal: null,
    stdout: '',
    stdout_truncated: false,
    stderr: '',
    stderr_truncated: false,
    failure: null,
    warnings: [],
    manifest_digest: null,
    artifact_count: 0,
    timings: {
      queued_at: AT,
      pinned_at: null,
      sandbox_ready_at: null,
      sealed_at: null,
      started_at: null,
      exited_at: null,
      finished_at: null,
    },
  });

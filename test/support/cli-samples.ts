/** Things the API answers with, each through its real schema. */
import { createHash } from 'node:crypto';
import { agentSchema } from '../../shared/contracts/agent.ts';
import { eventSchema, type RunEvent } from '../../shared/contracts/event.ts';
import { type Run, runSchema } from '../../shared/contracts/run.ts';
import { skillSchema } from '../../shared/contracts/skill.ts';

export const RUN_ID = '01JDXAMP1E0000000000000RVN';
export const REVISION = '01JDXAMP1E0000000000000001';
export const ARTIFACT_ID = '01JDXAMP1E0000000000000ART';
export const DIGEST = `sha256:${'a'.repeat(64)}`;
const TIME = '2026-11-30T12:00:00Z';

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

export const sampleSkill = (changes: Record<string, unknown> = {}) =>
  skillSchema.parse({
    name: 'hello',
    description: 'Says hello.',
    revision: REVISION,
    digest: DIGEST,
    file_count: 2,
    size_bytes: 120,
    validation_status: 'valid',
    warnings: [],
    enabled: true,
    created_at: TIME,
    updated_at: TIME,
    ...changes,
  });

export const sampleAgent = (changes: Record<string, unknown> = {}) =>
  agentSchema.parse({
    name: 'helper',
    description: '',
    skills: ['hello'],
    subagents: [],
    sandbox_profile: 'default',
    revision: REVISION,
    definition_digest: DIGEST,
    scope_key: 'a'.repeat(52),
    created_at: TIME,
    updated_at: TIME,
    ...changes,
  });

export const sampleRun = (changes: Record<string, unknown> = {}): Run =>
  runSchema.parse({
    run_id: RUN_ID,
    agent: 'helper',
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
      queued_at: TIME,
      pinned_at: null,
      sandbox_ready_at: null,
      sealed_at: null,
      started_at: null,
      exited_at: null,
      finished_at: null,
    },
    ...changes,
  });

/** Numbered from 1. */
export const sampleEvents = (...events: [RunEvent['type'], RunEvent['stage'], RunEvent['data']?][]) =>
  events.map(([type, stage, data], index) =>
    eventSchema.parse({ sequence: index + 1, type, at: TIME, stage, data: data ?? {} }),
  );

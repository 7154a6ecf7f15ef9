/**
 * Keys of the one table. A partition belongs to one scope fingerprint, or to the run boundary itself
 * (active runs, sandbox pools). No raw scope value is ever part of a key.
 */
import type { RowKey } from '../ports/table-store.ts';

/** Each list over all scopes is spread over this many partitions, so that none takes the writes of everybody. */
const LIST_SHARDS = 8;

const shardOf = (id: string): number => {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.charCodeAt(0)) >>> 0;
  return sum % LIST_SHARDS;
};
const partitionOf = (list: string, id: string): string => `${list}#${shardOf(id)}`;
const partitionsOf = (list: string): readonly string[] =>
  Array.from({ length: LIST_SHARDS }, (_, shard) => `${list}#${shard}`);

export const KEYS = {
  skills: (fingerprint: string) => `${fingerprint}#skill`,
  skill: (fingerprint: string, name: string): RowKey => ({ pk: `${fingerprint}#skill`, sk: name }),
  revisions: (fingerprint: string, skillId: string) => `${fingerprint}#revision#${skillId}`,
  revision: (fingerprint: string, skillId: string, revision: string): RowKey => ({
    pk: `${fingerprint}#revision#${skillId}`,
    sk: revision,
  }),
  /** Skills that were deleted and whose revisions the collector has yet to remove. */
  deletedSkills: () => partitionsOf('deleted-skills'),
  deletedSkill: (fingerprint: string, skillId: string): RowKey => ({
    pk: partitionOf('deleted-skills', skillId),
    sk: `${fingerprint}#${skillId}`,
  }),

  objects: (fingerprint: string, digest: string) => `${fingerprint}#object#${digest}`,
  object: (fingerprint: string, digest: string): RowKey => ({
    pk: `${fingerprint}#object#${digest}`,
    sk: 'state',
  }),
  /** Who needs the object: every revision and every run, each under a key of its own. */
  REFERENCE_PREFIX: 'ref#',
  revisionReference: (fingerprint: string, digest: string, skillId: string, revision: string): RowKey => ({
    pk: `${fingerprint}#object#${digest}`,
    sk: `ref#revision#${skillId}#${revision}`,
  }),
  runReference: (fingerprint: string, digest: string, runId: string): RowKey => ({
    pk: `${fingerprint}#object#${digest}`,
    sk: `ref#run#${runId}`,
  }),
  /** Every object row is listed here, so that the collector needs no scan. */
  objectIndex: () => partitionsOf('objects'),
  objectIndexEntry: (fingerprint: string, digest: string): RowKey => ({
    pk: partitionOf('objects', digest),
    sk: `${fingerprint}#${digest}`,
  }),

  agents: (fingerprint: string) => `${fingerprint}#agent`,
  agent: (fingerprint: string, name: string): RowKey => ({ pk: `${fingerprint}#agent`, sk: name }),

  runs: (fingerprint: string) => `${fingerprint}#run`,
  run: (fingerprint: string, runId: string): RowKey => ({ pk: `${fingerprint}#run`, sk: runId }),
  runParts: (fingerprint: string, runId: string) => `${fingerprint}#run#${runId}`,
  manifest: (fingerprint: string, runId: string): RowKey => ({
    pk: `${fingerprint}#run#${runId}`,
    sk: 'manifest',
  }),
  sandbox: (fingerprint: string, runId: string): RowKey => ({
    pk: `${fingerprint}#run#${runId}`,
    sk: 'sandbox',
  }),
  EVENT_PREFIX: 'event#',
  event: (fingerprint: string, runId: string, sequence: number): RowKey => ({
    pk: `${fingerprint}#run#${runId}`,
    sk: `event#${String(sequence).padStart(10, '0')}`,
  }),
  ARTIFACT_PREFIX: 'artifact#',
  artifact: (fingerprint: string, runId: string, path: string): RowKey => ({
    pk: `${fingerprint}#run#${runId}`,
    sk: `artifact#${path}`,
  }),
  activeRuns: () => partitionsOf('active'),
  activeRun: (runId: string): RowKey => ({ pk: partitionOf('active', runId), sk: runId }),
  slots: (fingerprint: string) => `${fingerprint}#slot`,
  slot: (fingerprint: string, slot: number): RowKey => ({
    pk: `${fingerprint}#slot`,
    sk: String(slot).padStart(6, '0'),
  }),

  inputArtifact: (fingerprint: string, artifactId: string): RowKey => ({
    pk: `${fingerprint}#input`,
    sk: artifactId,
  }),
  idempotency: (fingerprint: string, keyHash: string): RowKey => ({
    pk: `${fingerprint}#idempotency`,
    sk: keyHash,
  }),

  pools: (profile: string, imageIdentity: string) => `pool#${profile}#${imageIdentity}`,
  pooled: (profile: string, imageIdentity: string, sandboxId: string): RowKey => ({
    pk: `pool#${profile}#${imageIdentity}`,
    sk: sandboxId,
  }),
  /** Whose turn it is to do what only one at a time does, and how far a pass came that could not end. */
  maintenanceLease: (name: string): RowKey => ({ pk: 'maintenance', sk: `lease#${name}` }),
  maintenanceBookmark: (name: string): RowKey => ({ pk: 'maintenance', sk: `bookmark#${name}` }),

  sandboxKey: (sandboxId: string): RowKey => ({ pk: `sandbox-key#${sandboxId}`, sk: 'key' }),

  /** Chunked bytes: packages of `config_registry`, stdin, kept stdout and stderr. */
  blob: (owner: string) => `blob#${owner}`,
} as const;

/** Object-store keys. Package bytes are found by scope and digest alone. */
export const OBJECT_KEYS = {
  package: (fingerprint: string, digest: string) => `packages/${fingerprint}/${digest.replace(':', '-')}`,
  runArtifact: (fingerprint: string, runId: string, artifactId: string) =>
    `artifacts/${fingerprint}/${runId}/${artifactId}`,
  input: (fingerprint: string, artifactId: string) => `inputs/${fingerprint}/${artifactId}`,
} as const;

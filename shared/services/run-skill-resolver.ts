import type { Agent } from '../contracts/agent.ts';
import { LIMITS } from '../contracts/limits.ts';
import type { Manifest, PinnedPackage } from '../contracts/manifest.ts';
import { type RunReferenceRow, runReferenceRowSchema } from '../contracts/rows.ts';
import type { CreateRun, InputArtifact } from '../contracts/run.ts';
import type { SandboxProfile } from '../contracts/sandbox-profile.ts';
import type { RunRef } from '../contracts/workflow.ts';
import { CognitionError } from '../domain/cognition-error.ts';
import { canonicalJson, manifestDigest } from '../domain/manifest-digest.ts';
import { KEYS } from '../domain/row-keys.ts';
import { sha256Hex } from '../domain/sha256.ts';
import type { SandboxProvisioner } from '../ports/sandbox-provisioner.ts';
import type { PackageBackend } from '../ports/skill-package-store.ts';
import type { TableStore, Write } from '../ports/table-store.ts';
import type { PackageReader } from './package-reader.ts';
import type { AgentRecords } from './records/agent-records.ts';
import type { ObjectRecords } from './records/object-records.ts';
import type { SkillRecords } from './records/skill-records.ts';

export interface ResolvedPackage extends PinnedPackage {
  readonly skill_id: string;
}

export interface ResolvedAgent {
  readonly agent: Agent;
  readonly profile: SandboxProfile;
  /** In the order of the agent's skills. */
  readonly packages: readonly ResolvedPackage[];
}

/** Turns the names of an agent into exact revisions, once a run, and pins them. */
export interface RunSkillResolver {
  /**
   * The agent of this exact scope with the current revision of each of its skills, which all must be enabled; the
   * command's script must be in its package.
   * @throws CognitionError `agent_not_found`, `skill_not_found`, `skill_disabled`, `script_not_found`,
   *   `invalid_request` for a sandbox profile that this deployment does not have.
   */
  resolve(fingerprint: string, request: Pick<CreateRun, 'agent' | 'command'>): Promise<ResolvedAgent>;
  /** Nothing secret is in it: args, env values and stdin only as hashes. */
  manifest(
    fingerprint: string,
    resolved: ResolvedAgent,
    request: CreateRun,
    inputs: Manifest['inputs'],
  ): Promise<{ manifest: Manifest; manifest_digest: string }>;
  /** One reference a digest, under the run's own keys. */
  references(run: RunRef, packages: readonly ResolvedPackage[], expiresAt: number): Write[];
  /**
   * After the references are stored: what they name must still be there and not be collected. The collector marks
   * first and looks for references second, so one of the two always sees the other.
   * @throws CognitionError `package_unavailable`, with the references dropped.
   */
  verifyPinned(run: RunRef, manifest: Manifest): Promise<void>;
}

export interface RunSkillResolverDeps {
  readonly table: TableStore;
  readonly agents: AgentRecords;
  readonly skills: SkillRecords;
  readonly objects: ObjectRecords;
  readonly packages: PackageReader;
  readonly backend: PackageBackend;
  readonly provisioner: SandboxProvisioner;
  readonly profiles: readonly SandboxProfile[];
}

export function createRunSkillResolver(deps: RunSkillResolverDeps): RunSkillResolver {
  return {
    resolve: (fingerprint, request) => resolve(deps, fingerprint, request),
    async manifest(fingerprint, resolved, request, inputs) {
      const manifest = await buildManifest(deps, fingerprint, resolved, request, inputs);
      return { manifest, manifest_digest: manifestDigest(manifest) };
    },
    references: (run, packages, expiresAt) =>
      packages.map(({ digest, skill_id, revision }) => ({
        kind: 'put',
        key: KEYS.runReference(run.fingerprint, digest, run.run_id),
        data: { skill_id, revision } satisfies RunReferenceRow,
        expires_at: expiresAt,
      })),
    verifyPinned: (run, manifest) => verifyPinned(deps, run, manifest),
  };
}

async function resolve(
  deps: RunSkillResolverDeps,
  fingerprint: string,
  { agent: agentName, command }: Pick<CreateRun, 'agent' | 'command'>,
): Promise<ResolvedAgent> {
  const agent = (await deps.agents.get(fingerprint, agentName))?.value;
  if (agent === undefined) {
    throw new CognitionError('agent_not_found', `there is no agent "${agentName}" in this scope`);
  }
  const profile = deps.profiles.find(({ name }) => name === agent.sandbox_profile);
  if (profile === undefined) {
    const message = `the agent "${agent.name}" names the sandbox profile "${agent.sandbox_profile}", which this deployment does not have`;
    throw new CognitionError('invalid_request', message, { errors: [{ pointer: '/agent', message }] });
  }
  const packages = await Promise.all(
    agent.skills.map((name) => currentPackage(deps, fingerprint, agent.name, name)),
  );
  if (packages.length > LIMITS.packagesPerManifest) {
    throw new CognitionError(
      'invalid_request',
      `a run takes at most ${LIMITS.packagesPerManifest} packages; the agent "${agent.name}" attaches ${packages.length}`,
    );
  }
  if ('skill' in command) await requireScript(deps, fingerprint, agent, packages, command);
  return { agent, profile, packages };
}

async function currentPackage(
  { skills }: RunSkillResolverDeps,
  fingerprint: string,
  agent: string,
  name: string,
): Promise<ResolvedPackage> {
  const skill = (await skills.get(fingerprint, name))?.row;
  if (skill === undefined) {
    throw new CognitionError(
      'skill_not_found',
      `the agent "${agent}" attaches the skill "${name}", which is not in this scope; publish it or detach it`,
    );
  }
  if (!skill.enabled) {
    throw new CognitionError(
      'skill_disabled',
      `the agent "${agent}" attaches the skill "${name}", which is disabled; enable it or detach it`,
    );
  }
  const { revision, digest, size_bytes, skill_id } = skill;
  return { name, revision, digest, size_bytes, skill_id };
}

async function requireScript(
  deps: RunSkillResolverDeps,
  fingerprint: string,
  agent: Agent,
  packages: readonly ResolvedPackage[],
  command: { readonly skill: string; readonly script: string },
): Promise<void> {
  const pinned = packages.find(({ name }) => name === command.skill);
  if (pinned === undefined) {
    throw new CognitionError(
      'skill_not_found',
      `the command names the skill "${command.skill}", which is not attached to the agent "${agent.name}"`,
    );
  }
  const files = await deps.packages.index(fingerprint, pinned.digest);
  if (files.some(({ path }) => path === command.script)) return;
  throw new CognitionError(
    'script_not_found',
    `the package of the skill "${command.skill}" has no file ${JSON.stringify(command.script)}; name it by its path in the package, such as scripts/run.sh`,
  );
}

async function buildManifest(
  { backend, provisioner }: RunSkillResolverDeps,
  fingerprint: string,
  { agent, profile, packages }: ResolvedAgent,
  request: CreateRun,
  inputs: Manifest['inputs'],
): Promise<Manifest> {
  const everything = packages.map(({ name }) => name);
  return {
    version: 1,
    scope_fingerprint: fingerprint,
    agent: { name: agent.name, revision: agent.revision, definition_digest: agent.definition_digest },
    packages: packages.map(({ name, revision, digest, size_bytes }) => ({
      name,
      revision,
      digest,
      size_bytes,
    })),
    subagents: agent.subagents.map(({ name, skills }) => ({ name, packages: [...(skills ?? everything)] })),
    sandbox: {
      profile: profile.name,
      image_identity: await provisioner.imageIdentity(profile),
      egress_aliases: [...profile.egress_aliases],
      isolation: provisioner.isolation,
    },
    package_backend: backend,
    model: agent.model ?? null,
    command: redactedCommand(request),
    inputs,
    outputs: request.outputs ?? null,
    timeout_seconds: request.timeout_seconds,
    caps: {
      stream_bytes: LIMITS.streamBytes,
      output_files: LIMITS.outputFiles,
      output_bytes: LIMITS.outputBytes,
    },
  };
}

/** Also computed again before the command is started: what runs is what was pinned. */
export function redactedCommand({ command, env, stdin }: CreateRun): Manifest['command'] {
  const called = 'skill' in command ? command : { skill: null, script: null, args: command.argv };
  return {
    skill: called.skill,
    script: called.script,
    args_sha256: sha256Hex(canonicalJson(called.args)),
    env_sha256: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, sha256Hex(value)])),
    stdin_sha256: stdin === undefined ? null : sha256Hex(stdin),
  };
}

/** Inputs as the manifest names them. */
export function pinnedInputs(
  request: Pick<CreateRun, 'inputs'>,
  artifacts: readonly InputArtifact[],
): Manifest['inputs'] {
  const byId = new Map(artifacts.map((artifact) => [artifact.artifact_id, artifact]));
  return request.inputs.flatMap(({ artifact_id, path }) => {
    const artifact = byId.get(artifact_id);
    return artifact === undefined
      ? []
      : [{ artifact_id, path, sha256: artifact.sha256, size_bytes: artifact.size_bytes }];
  });
}

async function verifyPinned(deps: RunSkillResolverDeps, run: RunRef, manifest: Manifest): Promise<void> {
  const digests = [...new Set(manifest.packages.map(({ digest }) => digest))];
  const alive = await Promise.all(digests.map((digest) => isPinnable(deps, run, digest)));
  const lost = manifest.packages.find(({ digest }) => alive[digests.indexOf(digest)] !== true);
  if (lost === undefined) return;
  await deps.table.transact(
    digests.map((digest) => ({
      kind: 'delete',
      key: KEYS.runReference(run.fingerprint, digest, run.run_id),
    })),
  );
  throw new CognitionError(
    'package_unavailable',
    `the package of the skill "${lost.name}" (revision ${lost.revision}) was removed while the run was being pinned; start the run again`,
  );
}

async function isPinnable(
  { table, skills, objects }: RunSkillResolverDeps,
  { fingerprint, run_id }: RunRef,
  digest: string,
): Promise<boolean> {
  const reference = await table.get(KEYS.runReference(fingerprint, digest, run_id));
  if (reference === undefined) return false;
  const { skill_id, revision } = runReferenceRowSchema.parse(reference.data);
  const [row, object] = await Promise.all([
    skills.getRevision(fingerprint, skill_id, revision),
    objects.get(fingerprint, digest),
  ]);
  return row !== undefined && object?.row.state === 'live';
}

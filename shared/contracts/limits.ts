/**
 * Every limit of the product in one place. Sizes are bytes, durations milliseconds unless the name
 * says otherwise. Refusals quote these numbers; docs/limits.md is checked against them by a test.
 */
const KiB = 1024;
const MiB = 1024 * KiB;

export const LIMITS = {
  /** Encoded request body: what Lambda's 6 MB event leaves after base64. */
  requestBodyBytes: 4 * MiB,
  /** Request body after `Content-Encoding: gzip`: a 16 MiB package with JSON escapes. */
  decodedBodyBytes: 24 * MiB,
  /** Response body; anything larger is answered with a `download_url`. */
  responseBodyBytes: 4 * MiB,
  /** Values, members included, that a JSON body may have: schemas take microseconds for each. */
  jsonValues: 100_000,
  jsonDepth: 64,
  packageBytes: 16 * MiB,
  packageFiles: 2_000,
  /** `config_registry` keeps packages in the table, in chunks. */
  configRegistryPackageBytes: 4 * MiB,
  pathBytes: 512,
  pathSegmentBytes: 255,
  /** The YAML between the two `---` lines of SKILL.md, and how deep its collections nest. */
  frontmatterBytes: 64 * KiB,
  frontmatterDepth: 32,
  skillNameLength: 64,
  descriptionLength: 1_024,
  skillsPerAgent: 20,
  subagentsPerAgent: 10,
  packagesPerManifest: 40,
  instructionsBytes: 64 * KiB,
  args: 64,
  argsBytes: 32 * KiB,
  stdinBytes: 1 * MiB,
  envNames: 32,
  envValueBytes: 4 * KiB,
  inputs: 32,
  inputBytes: 64 * MiB,
  outputGlobs: 32,
  /** Kept of each of stdout and stderr. */
  streamBytes: 256 * KiB,
  outputFiles: 256,
  outputBytes: 64 * MiB,
  /** Directory entries a collector looks at before it gives up. */
  outputEntries: 4_096,
  commandTimeoutSeconds: 60,
  commandTimeoutSecondsMax: 3_600,
  launchTimeoutSeconds: 180,
  scopeRefLength: 512,
  scopeEntries: 16,
  listLimit: 50,
  listLimitMax: 200,
  eventWaitSeconds: 20,
  /** Text carried by one command.output event. */
  eventOutputBytes: 32 * KiB,
  /** Files above this size are compared by hash only. */
  diffFileBytes: 256 * KiB,
  runRetentionSeconds: 30 * 86_400,
  inputRetentionSeconds: 7 * 86_400,
  unreferencedPackageSeconds: 86_400,
  idempotencySeconds: 86_400,
  downloadUrlSeconds: 60,
  clockSkewSeconds: 300,
} as const;

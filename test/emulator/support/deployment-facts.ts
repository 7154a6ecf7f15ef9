/** What tests are told of the deployment that they run against. */
import * as z from 'zod';

export const deploymentFactsSchema = z.object({
  emulator: z.object({ endpoint: z.string(), region: z.string() }),
  credentials: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
  account: z.string(),
  deployment: z.string(),
  /** URL of the stage as it can be called here. */
  api: z.string(),
  local_fargate: z.object({ endpoint: z.string(), image_identities: z.record(z.string(), z.string()) }),
  proxy: z.string(),
  table: z.string(),
  artifacts_bucket: z.string(),
  packages_bucket: z.string(),
  state_machine_arn: z.string(),
  cluster: z.string(),
  /** Folder with the code of each function, as it was deployed. */
  bundles: z.record(z.string(), z.string()),
  /** How the deployment was asked for, to repeat it. */
  settings: z.record(z.string(), z.string()),
  /** Bound to one scope; absent where the emulator has no roles. */
  role: z.object({ arn: z.string(), unique_id: z.string() }).optional(),
  /** Folder for templates and the like. */
  folder: z.string(),
  /** What the emulator can do of what AWS does. */
  capabilities: z.object({
    /** Step Functions sees the name of a function's error. */
    error_names: z.boolean(),
    /** API Gateway names the caller of a role's session. */
    caller_identity: z.boolean(),
  }),
  timings: z.record(z.string(), z.number()),
});
export type DeploymentFacts = z.infer<typeof deploymentFactsSchema>;

/** Environment variable with the file that has them, for the processes of tests. */
export const FACTS_FILE_VARIABLE = 'EMULATOR_DEPLOYMENT_FACTS';

/**
 * What a local server leaves for the CLI in `<config dir>/local.json` (mode 0600) while it runs: where it
 * listens, and where its key lies. The key itself is in a credentials file of its own, also 0600.
 */
import * as z from 'zod';

/** Below the config directory: $COGNITION_CONFIG_DIR, else $XDG_CONFIG_HOME/cognition, else ~/.config/cognition. */
export const LOCAL_ENDPOINT_FILE = 'local.json';

export const localEndpointSchema = z.strictObject({
  /** Origin without a path, e.g. http://127.0.0.1:8787. */
  endpoint: z.url({ protocol: /^https?$/ }),
  /** The Region that signatures name. */
  region: z.string().min(1).max(64),
  /** Absolute path of an AWS-format shared credentials file. */
  credentials_file: z.string().min(1).max(4_096),
  /** The profile in that file. */
  profile: z.string().min(1).max(128),
  /** Process id of the server, for `cognition doctor`. */
  pid: z.int().positive(),
});
export type LocalEndpoint = z.infer<typeof localEndpointSchema>;

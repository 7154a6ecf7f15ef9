import { createHttpSandboxClient } from '../../../shared/adapters/sandbox/http-sandbox-client.ts';
import type { SandboxClient } from '../../../shared/ports/sandbox-client.ts';
import { functionPart, NO_VARIABLES } from './function-part.ts';

/** For a function in the subnets from which sandboxes are reached. */
export const sandboxClientPart = functionPart(
  NO_VARIABLES,
  (_values, { clock, ids }): SandboxClient => createHttpSandboxClient({ clock, ids }),
);

import type { SandboxProfile } from '../../../shared/contracts/sandbox-profile.ts';
import type { CommandLimits } from './command-driver.ts';

/** Programs such as Node reserve far more address space than they use. */
const ADDRESS_SPACE_BYTES = 3 * 1024 ** 3;

export const commandLimits = (profile: SandboxProfile): CommandLimits => ({
  max_processes: profile.max_processes,
  max_open_files: profile.max_open_files,
  file_bytes: profile.workspace_bytes,
  memory_bytes: profile.memory_bytes + ADDRESS_SPACE_BYTES,
});

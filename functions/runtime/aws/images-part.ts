import { FUNCTION_ENVIRONMENT } from '../../../shared/contracts/function-environment.ts';
import { CognitionError } from '../../../shared/domain/cognition-error.ts';
import type { SandboxProvisioner } from '../../../shared/ports/sandbox-provisioner.ts';
import { absentProvisioner } from './absent-ports.ts';
import { functionPart } from './function-part.ts';

/** For a function that pins images and touches no task. */
export const imagesPart = functionPart(
  FUNCTION_ENVIRONMENT.images,
  ({ COGNITION_IMAGE_IDENTITIES: identities }): SandboxProvisioner => ({
    ...absentProvisioner,
    imageIdentity: async ({ name }) => {
      const identity = Object.hasOwn(identities, name) ? identities[name] : undefined;
      if (identity !== undefined) return identity;
      throw new CognitionError('sandbox_unavailable', `sandbox profile ${name} has no image here; deploy it`);
    },
  }),
);

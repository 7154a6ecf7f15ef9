import { createS3ObjectStore } from '../../../shared/adapters/aws/s3-object-store.ts';
import { FUNCTION_ENVIRONMENT } from '../../../shared/contracts/function-environment.ts';
import type { ObjectStore } from '../../../shared/ports/object-store.ts';
import { functionPart } from './function-part.ts';
import { s3Client } from './s3-client.ts';

/** Artifacts of runs and their inputs. */
export const objectsPart = functionPart(
  FUNCTION_ENVIRONMENT.artifacts,
  ({ COGNITION_ARTIFACTS_BUCKET: bucket }, { random }): ObjectStore =>
    createS3ObjectStore({ client: s3Client(), bucket, random }),
);

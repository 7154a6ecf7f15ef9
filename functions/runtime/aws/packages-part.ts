import * as z from 'zod';
import { createS3ObjectStore } from '../../../shared/adapters/aws/s3-object-store.ts';
import { createConfigRegistryPackageStore } from '../../../shared/adapters/config-registry/config-registry-package-store.ts';
import { createObjectPackageStore } from '../../../shared/adapters/object-package-store.ts';
import { FUNCTION_ENVIRONMENT } from '../../../shared/contracts/function-environment.ts';
import type { SkillPackageStore } from '../../../shared/ports/skill-package-store.ts';
import type { TableStore } from '../../../shared/ports/table-store.ts';
import { functionPart } from './function-part.ts';
import { s3Client } from './s3-client.ts';

const { packages, base } = FUNCTION_ENVIRONMENT;
const backend = base.pick({ COGNITION_SKILLS_BACKEND: true });
const variables = z.object({ ...backend.shape, ...packages.shape });

/** The backend that the operator chose; one of them keeps packages in the table. */
export const packagesPart = functionPart(
  variables.refine(
    ({ COGNITION_SKILLS_BACKEND, COGNITION_SKILLS_S3_BUCKET }) =>
      COGNITION_SKILLS_BACKEND !== 's3' || COGNITION_SKILLS_S3_BUCKET !== undefined,
    { path: ['COGNITION_SKILLS_S3_BUCKET'], message: 'is missing' },
  ),
  (values, { random }) =>
    (table: TableStore): SkillPackageStore => {
      const { COGNITION_SKILLS_S3_BUCKET: bucket, COGNITION_SKILLS_S3_PREFIX: prefix } = values;
      if (values.COGNITION_SKILLS_BACKEND === 'config_registry' || bucket === undefined) {
        return createConfigRegistryPackageStore({ table });
      }
      const client = s3Client(values.COGNITION_SKILLS_S3_REGION);
      const objects = createS3ObjectStore({ client, bucket, prefix, random });
      return createObjectPackageStore({ objects, backend: 's3' });
    },
);

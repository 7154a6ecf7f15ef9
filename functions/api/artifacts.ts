/** /artifacts: binary inputs of runs. */

import * as z from 'zod';
import { idSchema } from '../../shared/contracts/names.ts';
import type { InputArtifact } from '../../shared/contracts/run.ts';
import { apiHandler } from '../runtime/api-handler.ts';
import { answerOnce } from '../runtime/idempotency.ts';
import { invalidRequest } from '../runtime/invalid-request.ts';
import { existing, noBody, noQuery, operation } from '../runtime/operation.ts';
import { bytesOrDownload, json } from '../runtime/responses.ts';
import { services } from '../runtime/services.ts';

const createArtifact = operation({
  query: noQuery,
  format: 'bytes',
  body: z.instanceof(Uint8Array),
  handle: (request) => {
    const contentType = keptContentType(request.contentType);
    return answerOnce<InputArtifact>(
      request,
      (commitWith) => services().inputs.create(request.fingerprint, request.body, contentType, commitWith),
      (artifact) => json(201, artifact, { location: `artifacts/${artifact.artifact_id}` }),
    );
  },
});

/** Given back as a header later, so it has to be one. */
function keptContentType(contentType = 'application/octet-stream'): string {
  if (/^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(contentType)) return contentType;
  throw invalidRequest('Content-Type takes at most 255 printable ASCII characters');
}

const getArtifact = operation({
  query: noQuery,
  ...noBody,
  handle: async ({ fingerprint, params }) => {
    const artifactId = existing(params, 'artifactId', idSchema, 'artifact');
    return bytesOrDownload(await services().inputs.get(fingerprint, artifactId));
  },
});

export const handler = apiHandler('artifacts', { createArtifact, getArtifact });

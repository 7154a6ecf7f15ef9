import type * as z from 'zod';
import { type createRunSchema, inputArtifactSchema, runSchema } from '../../shared/contracts/run.ts';
import { artifactListSchema, eventListSchema, pinnedManifestSchema, runPageSchema } from './answers.ts';
import { type Caller, type PageRequest, pageQuery } from './caller.ts';

export interface EventsRequest {
  readonly after?: number;
  /** How long the server may hold the answer back until there is an event. */
  readonly waitSeconds?: number;
  readonly limit?: number;
  readonly signal?: AbortSignal | undefined;
}

export function runsClient(caller: Caller) {
  const at = (runId: string) => ({ parameters: { runId } });
  return {
    createRun: (request: z.input<typeof createRunSchema>) =>
      caller.json('createRun', runSchema, { json: request }),
    listRuns: (page: PageRequest = {}) => caller.json('listRuns', runPageSchema, { query: pageQuery(page) }),
    getRun: (runId: string) => caller.json('getRun', runSchema, at(runId)),
    getRunManifest: (runId: string) => caller.json('getRunManifest', pinnedManifestSchema, at(runId)),
    listRunEvents: (runId: string, request: EventsRequest = {}) =>
      caller.json('listRunEvents', eventListSchema, {
        ...at(runId),
        query: { after: request.after, wait_seconds: request.waitSeconds, limit: request.limit },
        waitMs: (request.waitSeconds ?? 0) * 1000,
        signal: request.signal,
      }),
    getRunArtifacts: (runId: string) => caller.json('getRunArtifacts', artifactListSchema, at(runId)),
    /** The bytes of one artifact. @param sha256 as the list of artifacts gives it */
    getRunArtifact: (runId: string, path: string, sha256?: string) =>
      caller.bytes('getRunArtifacts', { ...at(runId), query: { path } }, sha256),
    cancelRun: (runId: string) => caller.json('cancelRun', runSchema, at(runId)),
    createArtifact: (bytes: Uint8Array, contentType: string) =>
      caller.json('createArtifact', inputArtifactSchema, { raw: { bytes, contentType } }),
    /** @param sha256 as createArtifact answered it */
    getArtifact: (artifactId: string, sha256?: string) =>
      caller.bytes('getArtifact', { parameters: { artifactId } }, sha256),
  };
}

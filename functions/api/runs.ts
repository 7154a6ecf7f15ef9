/** /runs: start, follow, fetch, cancel. */
import * as z from 'zod';
import { idSchema } from '../../shared/contracts/names.ts';
import {
  artifactQuerySchema,
  createRunSchema,
  eventsQuerySchema,
  type Run,
  runListQuerySchema,
} from '../../shared/contracts/run.ts';
import { apiHandler } from '../runtime/api-handler.ts';
import { answerOnce } from '../runtime/idempotency.ts';
import { existing, noBody, noQuery, operation } from '../runtime/operation.ts';
import { bytesOrDownload, json } from '../runtime/responses.ts';
import { services } from '../runtime/services.ts';

type Params = Readonly<Record<string, string>>;

const runId = (params: Params): string => existing(params, 'runId', idSchema, 'run');

const createRun = operation({
  query: noQuery,
  format: 'json',
  body: createRunSchema,
  handle: (request) =>
    answerOnce<Run>(
      request,
      (commitWith) => services().runs.create(request.fingerprint, request.body, commitWith),
      (run) => json(202, run, { location: `runs/${run.run_id}` }),
    ),
});

const listRuns = operation({
  query: runListQuerySchema,
  ...noBody,
  handle: async ({ fingerprint, query }) => json(200, await services().runs.list(fingerprint, query)),
});

const getRun = operation({
  query: noQuery,
  ...noBody,
  handle: async ({ fingerprint, params }) => json(200, await services().runs.get(fingerprint, runId(params))),
});

const getRunManifest = operation({
  query: noQuery,
  ...noBody,
  handle: async ({ fingerprint, params }) =>
    json(200, await services().runs.getManifest(fingerprint, runId(params))),
});

const listRunEvents = operation({
  query: eventsQuerySchema,
  ...noBody,
  handle: async ({ fingerprint, params, query, clientGone }) => {
    const signal = clientGone === undefined ? {} : { signal: clientGone };
    return json(200, await services().runs.events(fingerprint, runId(params), { ...query, ...signal }));
  },
});

const getRunArtifacts = operation({
  query: artifactQuerySchema,
  ...noBody,
  handle: async ({ fingerprint, params, query: { path } }) => {
    const run = runId(params);
    if (path === undefined)
      return json(200, { items: await services().runs.listArtifacts(fingerprint, run) });
    return bytesOrDownload(await services().runs.getArtifact(fingerprint, run, path));
  },
});

/** An empty object is what many clients send with a POST that says nothing. */
const cancelRun = operation({
  query: noQuery,
  format: 'json-or-none',
  body: z.strictObject({}),
  handle: async ({ fingerprint, params }) =>
    json(202, await services().runs.cancel(fingerprint, runId(params))),
});

export const handler = apiHandler('runs', {
  createRun,
  listRuns,
  getRun,
  getRunManifest,
  listRunEvents,
  getRunArtifacts,
  cancelRun,
});

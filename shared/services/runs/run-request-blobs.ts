import { runRequestSchema } from '../../contracts/rows.ts';
import type { CreateRun } from '../../contracts/run.ts';
import type { RunRef } from '../../contracts/workflow.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import { KEYS } from '../../domain/row-keys.ts';
import type { TableStore, Write } from '../../ports/table-store.ts';
import { blobWrites, createBlobRows } from '../blob-rows.ts';
import { readAll } from '../records/read-all.ts';

/**
 * The request of a run until it ends: args, env and stdin are kept nowhere else. Stdin lies beside the JSON, because
 * escaped into it it could be six times as long; so both always fit into the transaction that creates the run.
 */
export interface RunRequestBlobs {
  writes(run: RunRef, request: CreateRun, expiresAt: number): Write[];
  /** @throws CognitionError `run_interrupted` when the run has ended meanwhile. */
  read(run: RunRef): Promise<CreateRun>;
  deletes(run: RunRef): Promise<Write[]>;
}

const requestOwner = ({ fingerprint, run_id }: RunRef): string => `run-request#${fingerprint}#${run_id}`;
const stdinOwner = ({ fingerprint, run_id }: RunRef): string => `run-stdin#${fingerprint}#${run_id}`;

export function createRunRequestBlobs(table: TableStore): RunRequestBlobs {
  const blobs = createBlobRows({ table });
  return {
    writes(run, { stdin, ...request }, expires_at) {
      const json = Buffer.from(JSON.stringify(request), 'utf8');
      const stdinWrites =
        stdin === undefined ? [] : blobWrites(stdinOwner(run), Buffer.from(stdin, 'utf8'), { expires_at });
      return [...blobWrites(requestOwner(run), json, { expires_at }), ...stdinWrites];
    },
    async read(run) {
      const [json, stdin] = await Promise.all([blobs.get(requestOwner(run)), blobs.get(stdinOwner(run))]);
      if (json === undefined) {
        throw new CognitionError(
          'run_interrupted',
          'the request of the run is gone, because the run has ended',
        );
      }
      const request = runRequestSchema.parse(JSON.parse(Buffer.from(json).toString('utf8')));
      return stdin === undefined ? request : { ...request, stdin: Buffer.from(stdin).toString('utf8') };
    },
    async deletes(run) {
      const owners = [requestOwner(run), stdinOwner(run)];
      const rows = await Promise.all(owners.map((owner) => readAll(table, KEYS.blob(owner))));
      return rows.flat().map(({ pk, sk }): Write => ({ kind: 'delete', key: { pk, sk } }));
    },
  };
}

import { CognitionError } from '../../domain/cognition-error.ts';

/** Callers learn that nothing was stored; where the server keeps its data is for the log alone. */
export function storageFull(where: string, cause: unknown): CognitionError {
  return new CognitionError('storage_full', 'the server has no space left; nothing was stored', {
    cause: new Error(where, { cause }),
  });
}

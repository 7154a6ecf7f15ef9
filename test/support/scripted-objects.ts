/** The objects of S3 over a scripted wire. */
import { S3Client } from '@aws-sdk/client-s3';
import { OBJECT_CLIENT_OPTIONS } from '../../shared/adapters/aws/client-options.ts';
import { createS3ObjectStore } from '../../shared/adapters/aws/s3-object-store.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import type { ObjectStore, PutObject } from '../../shared/ports/object-store.ts';
import { answer, type ScriptedHttp, type Step, scriptedHttp } from './scripted-http.ts';

interface ScriptedObjects {
  readonly objects: ObjectStore;
  readonly wire: ScriptedHttp;
}

/** The SDK tries nothing again. */
export function objectsOver(
  steps: readonly Step[],
  more: { prefix?: string; timeout_ms?: number } = {},
): ScriptedObjects {
  const wire = scriptedHttp(...steps);
  const options = { ...OBJECT_CLIENT_OPTIONS, ...wire.options, maxAttempts: 1 };
  const client = new S3Client(options);
  const objects = createS3ObjectStore({ client, bucket: 'skills-bucket', random: () => 0, ...more });
  return { objects, wire };
}

export const object = (key: string): PutObject => ({
  key,
  bytes: Buffer.from('bytes'),
  sha256: sha256Hex('bytes'),
});
export const refusal = (status: number, code: string) =>
  answer(
    status,
    `<Error><Code>${code}</Code><Message>arn:aws:s3:::secret for 123456789012</Message></Error>`,
    {
      'content-type': 'application/xml',
    },
  );
export const found = (etag: string) =>
  answer(200, '', { 'content-length': '7', 'last-modified': 'Mon, 02 Nov 2026 10:00:00 GMT', etag });
export const methodsOf = ({ requests }: ScriptedHttp): string[] => requests.map(({ method }) => method);

/** The operation's name of a call on the wire. */
const S3_OPERATIONS: Readonly<Record<string, string>> = {
  GET: 'GetObject',
  HEAD: 'HeadObject',
  PUT: 'PutObject',
  DELETE: 'DeleteObject',
  POST: 'DeleteObjects',
};

/** @param target the header of AWS JSON; S3 has none, and its client repeats the name in the query. */
export function operationOf(method: string, path: string, target: string | string[] | undefined): string {
  if (typeof target === 'string') return target.slice(target.lastIndexOf('.') + 1);
  const { searchParams } = new URL(path, 'http://s3');
  const named = searchParams.get('x-id');
  if (named !== null) return named;
  return searchParams.has('list-type') ? 'ListObjectsV2' : (S3_OPERATIONS[method] ?? method);
}

/** Refusals of requests and the checks that make them: schemas, single headers. */
import type * as z from 'zod';
import { sizeText } from '../../shared/contracts/size-text.ts';
import { CognitionError } from '../../shared/domain/cognition-error.ts';

export interface RequestFault {
  /** A JSON pointer into the body, or `/name` of a query parameter. */
  readonly pointer: string;
  readonly message: string;
}

/** As many faults as an answer lists; a hostile body has millions. */
const FAULTS_LISTED = 50;
const POINTER_LENGTH = 256;

export function invalidRequest(detail: string, faults: readonly RequestFault[] = []): CognitionError {
  return faults.length === 0
    ? new CognitionError('invalid_request', detail)
    : new CognitionError('invalid_request', detail, { errors: faults.slice(0, FAULTS_LISTED) });
}

export function jsonPointer(path: readonly PropertyKey[]): string {
  const pointer = path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  const shown = pointer.length > POINTER_LENGTH ? `${pointer.slice(0, POINTER_LENGTH)}…` : pointer;
  return shown.toWellFormed();
}

/**
 * @param what the part of the request, e.g. `the body`.
 * @throws CognitionError `invalid_request` with a pointer for each fault.
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues.flatMap((issue) => faultsOf(issue, []));
  const [first, ...more] = faults;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  const place = first === undefined || first.pointer === '' ? what : `${first.pointer} of ${what}`;
  throw invalidRequest(`${place}: ${first?.message ?? 'not valid'}${others}`, faults);
}

function faultsOf(issue: z.core.$ZodIssue, prefix: readonly PropertyKey[]): RequestFault[] {
  const path = [...prefix, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      pointer: jsonPointer([...path, key]),
      message: unknownField(key, path),
    }));
  }
  if (issue.code === 'invalid_union') {
    // The alternative with the fewest faults is what the caller most likely meant.
    const closest = issue.errors.toSorted((a, b) => a.length - b.length)[0] ?? [];
    if (closest.length > 0) return closest.flatMap((inner) => faultsOf(inner, path));
  }
  return [{ pointer: jsonPointer(path), message: issue.message.replace(/^Invalid input: /, '') }];
}

const unknownField = (key: string, path: readonly PropertyKey[]): string =>
  path.length === 0 && namesScope(key) ? SCOPE_IN_PATH_ONLY : 'unknown field; remove it';

/** A scope is taken from the path alone, where the signature and IAM policies cover it. */
export const SCOPE_IN_PATH_ONLY = 'the scope is named by the path alone; remove it here';

export const namesScope = (name: string): boolean =>
  /(^|[^a-z0-9])(scopes?|scope_?ref)([^a-z0-9]|$)/i.test(name);

/** The one value of a header, undefined when absent. */
export function singleHeader(
  headers: ReadonlyMap<string, readonly string[]>,
  name: string,
): string | undefined {
  const values = headers.get(name) ?? [];
  if (values.length > 1) throw invalidRequest(`the header ${name} is given more than once; send it once`);
  return values[0];
}

export function tooLarge(what: string, limit: number, fix: string): CognitionError {
  return new CognitionError('body_too_large', `${what} is over ${sizeText(limit)}; ${fix}`);
}

export const ENCODED_BODY_FIX = 'send less, or the same with Content-Encoding: gzip';

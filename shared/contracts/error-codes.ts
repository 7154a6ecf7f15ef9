/**
 * The stable codes of the product. Each maps once to an HTTP status and a title; docs/errors.md has cause
 * and fix for each. Package problems (`path_*`, `frontmatter_*`) appear inside `problems` of an
 * `invalid_package` answer.
 */
import * as z from 'zod';

export const ERROR_CODES = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  body_too_large: { status: 413, title: 'The body is too large' },
  invalid_package: { status: 422, title: 'The package is not valid' },
  access_denied: { status: 403, title: 'The request is not signed by a known principal' },
  scope_not_allowed: { status: 403, title: 'This principal may not assert this scope' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'The resource has no such method' },
  agent_not_found: { status: 404, title: 'No such agent in this scope' },
  agent_exists: { status: 409, title: 'The agent exists already' },
  skill_exists: { status: 409, title: 'The skill exists already' },
  skill_not_found: { status: 404, title: 'No such skill in this scope' },
  skill_disabled: { status: 409, title: 'The skill is disabled' },
  precondition_failed: { status: 412, title: 'The precondition does not hold' },
  idempotency_mismatch: { status: 409, title: 'The idempotency key was used with another request' },
  conflict: { status: 409, title: 'Too many writers at once' },
  quota_exceeded: { status: 429, title: 'The quota of the scope is used up' },
  too_many_requests: { status: 429, title: 'Too many requests at once' },
  script_not_found: { status: 422, title: 'No such script in the package' },
  script_failed: { status: 422, title: 'The script exited with an error' },
  run_timed_out: { status: 422, title: 'The command passed its deadline' },
  run_cancelled: { status: 409, title: 'The run was cancelled' },
  run_interrupted: { status: 503, title: 'The sandbox was lost while the run needed it' },
  package_unavailable: { status: 503, title: 'A pinned package cannot be read' },
  digest_mismatch: { status: 500, title: 'A package is not what its digest says' },
  materialization_failed: { status: 500, title: 'The sandbox refused a package' },
  sandbox_unavailable: { status: 503, title: 'No sandbox could be started' },
  collection_failed: { status: 500, title: 'The outputs could not be collected' },
  egress_denied: { status: 403, title: 'The sandbox profile allows no such egress' },
  unavailable: { status: 503, title: 'Busy for the moment' },
  storage_full: { status: 507, title: 'The storage is full' },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export const errorCodeSchema = z.custom<ErrorCode>(
  (value) => typeof value === 'string' && Object.hasOwn(ERROR_CODES, value),
  'not an error code of this product',
);

/** One code for each reason to refuse or warn about a file of a package. */
export const PACKAGE_PROBLEM_CODES = [
  'path_empty',
  'path_absolute',
  'path_empty_segment',
  'path_dot_segment',
  'path_backslash',
  'path_control_character',
  'path_drive_letter',
  'path_too_long',
  'path_segment_too_long',
  'path_lone_surrogate',
  'path_duplicate',
  'path_case_collision',
  'path_file_is_directory',
  'path_reserved',
  'path_symlink',
  'content_not_text',
  'content_lone_surrogate',
  'content_not_utf8',
  'package_too_large',
  'package_too_many_files',
  'package_not_canonical',
  'frontmatter_no_skill_md',
  'frontmatter_missing',
  'frontmatter_unclosed',
  'frontmatter_yaml',
  'frontmatter_duplicate_key',
  'frontmatter_alias',
  'frontmatter_tag',
  'frontmatter_not_a_map',
  'frontmatter_name_missing',
  'frontmatter_name_not_string',
  'frontmatter_name_invalid',
  'frontmatter_name_mismatch',
  'frontmatter_description_missing',
  'frontmatter_description_not_string',
  'frontmatter_description_empty',
  'frontmatter_description_too_long',
  'frontmatter_control_character',
] as const;

export const PACKAGE_WARNING_CODES = [
  'frontmatter_unknown_key',
  'frontmatter_allowed_tools_list',
  'frontmatter_metadata_not_strings',
  'frontmatter_invisible_character',
] as const;

export const packageProblemSchema = z.object({
  code: z.enum([...PACKAGE_PROBLEM_CODES, ...PACKAGE_WARNING_CODES]),
  path: z.string().optional(),
  /** From 1. */
  line: z.int().positive().optional(),
  column: z.int().positive().optional(),
  message: z.string(),
});
export type PackageProblem = z.infer<typeof packageProblemSchema>;

/** RFC 9457, the body of every error answer. */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: errorCodeSchema,
  request_id: z.string().optional(),
  problems: z.array(packageProblemSchema).optional(),
  /** For invalid_request: where in the request, as a JSON pointer. */
  errors: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
});
export type Problem = z.infer<typeof problemSchema>;

/** What the tools say of templates, in one form. */
import * as z from 'zod';

export interface Finding {
  readonly tool: 'cfn-lint' | 'checkov';
  readonly rule: string;
  /** `<file>:<type>.<logical id>`, or the path to it. */
  readonly where: string;
  readonly message: string;
}

const cfnLintSchema = z.array(
  z.object({
    Filename: z.string(),
    Level: z.string(),
    Location: z.object({ Path: z.array(z.union([z.string(), z.int()])).nullish() }),
    Message: z.string(),
    Rule: z.object({ Id: z.string() }),
  }),
);

const nameOf = (file: string): string => file.replace(/^.*\//, '');

/** @throws Error when it is not the JSON that cfn-lint writes. */
export const cfnLintFindings = (output: string): Finding[] =>
  cfnLintSchema.parse(JSON.parse(output)).map(({ Filename, Location, Message, Rule }) => ({
    tool: 'cfn-lint',
    rule: Rule.Id,
    where: `${nameOf(Filename)}:${(Location.Path ?? []).join('/')}`,
    message: Message,
  }));

const checkovSchema = z.object({
  results: z.object({
    failed_checks: z.array(
      z.object({
        check_id: z.string(),
        check_name: z.string(),
        file_path: z.string(),
        resource: z.string(),
      }),
    ),
  }),
  summary: z.object({ passed: z.int().positive(), parsing_errors: z.literal(0) }),
});

/** @throws Error when it is not the JSON that checkov writes, when it read nothing, or could not read something. */
export const checkovFindings = (output: string): Finding[] =>
  checkovSchema.parse(JSON.parse(output)).results.failed_checks.map((check) => ({
    tool: 'checkov',
    rule: check.check_id,
    where: `${nameOf(check.file_path)}:${check.resource}`,
    message: check.check_name,
  }));

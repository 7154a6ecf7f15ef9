import { describe, expect, it } from 'vitest';
import { ACCEPTED_FINDINGS } from '../guards/accepted-findings.ts';
import { cfnLintFindings, checkovFindings, type Finding } from '../guards/findings.ts';
import { judgeFindings } from '../guards/judge-findings.ts';

const found = (more: Partial<Finding> = {}): Finding => ({
  tool: 'checkov',
  rule: 'CKV_AWS_18',
  where: 'production-storage.json:AWS::S3::Bucket.AccessLogs',
  message: 'Ensure the S3 bucket has access logging enabled',
  ...more,
});
const ACCEPTED = [{ tool: 'checkov', rule: 'CKV_AWS_18', where: /AccessLogs/, reason: 'It is.' }] as const;

const checkov = (failed: readonly unknown[], summary = { passed: 3, parsing_errors: 0 }): string =>
  JSON.stringify({ results: { failed_checks: failed }, summary });

describe('findings of templates', () => {
  it('pass with a reason', () => {
    expect(judgeFindings([found()], ACCEPTED)).toEqual({ unaccepted: [], unused: [] });
  });

  it.each([
    ['of another rule', { rule: 'CKV_AWS_21' }],
    ['of another resource', { where: 'production-storage.json:AWS::S3::Bucket.Artifacts' }],
    ['of another tool', { tool: 'cfn-lint' as const }],
  ])('fail without one: %s', (_what, more) => {
    const finding = found(more);

    expect(judgeFindings([found(), finding], ACCEPTED).unaccepted).toEqual([finding]);
  });

  it('fail with a reason that nothing needs', () => {
    expect(judgeFindings([], ACCEPTED).unused).toEqual(ACCEPTED);
  });

  it('are read from what cfn-lint writes', () => {
    const output = JSON.stringify([
      {
        Filename: '/tmp/x/production-api.json',
        Level: 'Error',
        Location: { Path: ['Resources', 'Api', 'DependsOn', 0] },
        Message: 'no such type',
        Rule: { Id: 'E3006' },
      },
    ]);

    expect(cfnLintFindings(output)).toEqual([
      {
        tool: 'cfn-lint',
        rule: 'E3006',
        where: 'production-api.json:Resources/Api/DependsOn/0',
        message: 'no such type',
      },
    ]);
  });

  it('are read from what checkov writes', () => {
    const failed = {
      check_id: 'CKV_AWS_18',
      check_name: 'logs',
      file_path: '/production-storage.json',
      resource: 'AWS::S3::Bucket.X',
    };

    expect(checkovFindings(checkov([failed]))).toEqual([
      {
        tool: 'checkov',
        rule: 'CKV_AWS_18',
        where: 'production-storage.json:AWS::S3::Bucket.X',
        message: 'logs',
      },
    ]);
  });

  it.each([
    ['nothing', () => cfnLintFindings('')],
    ['a crash of cfn-lint', () => cfnLintFindings('Traceback (most recent call last):')],
    ['no templates', () => checkovFindings(checkov([], { passed: 0, parsing_errors: 0 }))],
    [
      'a template that checkov cannot read',
      () => checkovFindings(checkov([], { passed: 3, parsing_errors: 1 })),
    ],
    ['another form', () => checkovFindings('[]')],
  ])('are never taken from %s', (_what, read) => {
    expect(read).toThrow();
  });

  it('are accepted with reasons in whole sentences', () => {
    for (const { rule, reason } of ACCEPTED_FINDINGS) expect(reason, rule).toMatch(/^[A-Z][^\n]{30,}\.$/);
  });
});

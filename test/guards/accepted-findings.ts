/**
 * Findings of cfn-lint and checkov that are as they should be. A finding that is not here fails `npm run guards`, and so
 * does an entry that no finding needs. Reasons for rules of cdk-nag are where the constructs are made.
 */
import type { Finding } from './findings.ts';

export interface AcceptedFinding extends Pick<Finding, 'tool' | 'rule'> {
  /** What `where` of the finding must match; default anywhere. */
  readonly where?: RegExp;
  readonly reason: string;
}

const DEAD_LETTERS =
  'API Gateway and Step Functions see a failure themselves; what EventBridge calls has a queue, or a next round.';

export const ACCEPTED_FINDINGS: readonly AcceptedFinding[] = [
  {
    tool: 'cfn-lint',
    rule: 'W3005',
    reason:
      'The CDK writes dependencies on roles out, so that a function comes after the policy of its role.',
  },
  { tool: 'checkov', rule: 'CKV_AWS_116', where: /AWS::Lambda::Function/, reason: DEAD_LETTERS },
  {
    tool: 'checkov',
    rule: 'CKV_AWS_115',
    where: /AWS::Lambda::Function/,
    reason:
      'A fixed share for each function would leave some waiting while others idle; throttles have an alarm.',
  },
  {
    tool: 'checkov',
    rule: 'CKV_AWS_117',
    where: /AWS::Lambda::Function/,
    reason:
      'A function that reaches no sandbox calls AWS only; inside it would need an endpoint for each service.',
  },
  {
    tool: 'checkov',
    rule: 'CKV_AWS_173',
    where: /AWS::Lambda::Function/,
    reason: 'Variables hold names of resources and no secret; Lambda encrypts them with its own key.',
  },
  {
    tool: 'checkov',
    rule: 'CKV_AWS_111',
    where: /AWS::IAM::Policy\.Function/,
    reason:
      'Interfaces that Lambda makes, and ECS calls on one cluster: each has its reason in the test of policies.',
  },
  {
    tool: 'checkov',
    rule: 'CKV_AWS_27',
    where: /AWS::SQS::Queue/,
    reason: 'Queues are encrypted with the key of SQS, which needs no policy for who delivers dead letters.',
  },
  {
    tool: 'checkov',
    rule: 'CKV_AWS_18',
    where: /AWS::S3::Bucket\.AccessLogs/,
    reason: 'It is the bucket of access logs: logging into itself would never end.',
  },
  {
    tool: 'checkov',
    rule: 'CKV_AWS_73',
    where: /AWS::ApiGateway::Stage/,
    reason: 'A trace holds the path of the request, and with it the scope.',
  },
  {
    tool: 'checkov',
    rule: 'CKV_AWS_120',
    where: /AWS::ApiGateway::Stage/,
    reason: 'Answers differ by caller and scope and must be fresh: they are not cached.',
  },
  {
    tool: 'checkov',
    rule: 'CKV_AWS_192',
    where: /AWS::WAFv2::WebACL/,
    reason: 'Nothing behind the API runs Java, and skills about Java may name what the rule looks for.',
  },
];

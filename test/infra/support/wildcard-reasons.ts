/** Why a statement that allows something names more than one resource. The test of policies fails on one without a reason. */

export interface WildcardReason {
  /** All actions that a statement may have to be explained by it. */
  readonly actions: readonly string[];
  /** The whole resource, as `textOf` writes it. */
  readonly resource: RegExp;
  readonly reason: string;
}

/** `${…}` stands for a value known at deployment only. */
export const WILDCARD_REASONS: readonly WildcardReason[] = [
  {
    actions: [
      'logs:CreateLogDelivery',
      'logs:DeleteLogDelivery',
      'logs:DescribeLogGroups',
      'logs:DescribeResourcePolicies',
      'logs:GetLogDelivery',
      'logs:ListLogDeliveries',
      'logs:PutResourcePolicy',
      'logs:UpdateLogDelivery',
      'xray:GetSamplingRules',
      'xray:GetSamplingTargets',
      'xray:PutTelemetryRecords',
      'xray:PutTraceSegments',
    ],
    resource: /^\*$/,
    reason:
      'How Step Functions sets up the delivery of its log, and sends traces: neither has resources to name.',
  },
];

import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Rules of cdk-nag that a construct does not follow, each with the reason why not. A test fails on one that is not needed. */
export function acknowledge(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  Validations.of(construct).acknowledge(...Object.entries(reasons).map(([id, reason]) => ({ id, reason })));
}

/** For a role of this project. */
export const OWN_INLINE_POLICY = {
  'NIST.800.53.R5-IAMNoInlinePolicy':
    'The policy is made for this one role, lives and ends with it, and can be attached to nobody else.',
};

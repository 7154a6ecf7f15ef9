import { FUNCTION_ENVIRONMENT } from '../../../shared/contracts/function-environment.ts';
import { functionPart } from './function-part.ts';

export const runsAtOncePart = functionPart(
  FUNCTION_ENVIRONMENT.quotas,
  ({ COGNITION_RUNS_AT_ONCE }) => COGNITION_RUNS_AT_ONCE,
);

export const poolSizePart = functionPart(
  FUNCTION_ENVIRONMENT.pool,
  ({ COGNITION_SANDBOX_POOL_SIZE }) => COGNITION_SANDBOX_POOL_SIZE,
);

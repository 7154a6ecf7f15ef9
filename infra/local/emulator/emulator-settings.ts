/** The settings of a deployment to an emulator with local Fargate, as an operator would write them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScopeBinding } from '../../../shared/contracts/scope.ts';
import type { LocalFargateProcess } from './start-local-fargate.ts';

export interface EmulatorSettingsOptions {
  readonly account: string;
  readonly region: string;
  readonly fargate: Pick<LocalFargateProcess, 'endpoint' | 'image_identities'>;
  /** Gets the file of bindings. */
  readonly folder: string;
  /** Beside that of the unsafe caller, who may assert any tenant. */
  readonly bindings?: readonly ScopeBinding[];
}

/** Whom an emulator's API Gateway, which names no caller, is taken to have let in. */
const BUILDER = 'AROAEMULATORBUILDER';
/** More than a machine can send: an emulator may throttle as the stage says. */
const UNTHROTTLED = { COGNITION_API_RATE: '10000', COGNITION_API_BURST: '5000' } as const;

export function emulatorSettings(options: EmulatorSettingsOptions): Record<string, string> {
  const { account, region, fargate, folder } = options;
  const file = join(folder, 'scope-bindings.json');
  const builder: ScopeBinding = {
    account_id: account,
    role_id: BUILDER,
    scopes: [{ tenant: '*' }, { tenant: '*', project: '*' }, { tenant: '*', project: '*', user: '*' }],
  };
  writeFileSync(file, JSON.stringify([builder, ...(options.bindings ?? [])]));
  // No image is started: what a manifest pins is what local Fargate runs.
  const digest = fargate.image_identities.default ?? `sha256:${'0'.repeat(64)}`;
  return {
    COGNITION_ENVIRONMENT: 'development',
    COGNITION_SCOPE_BINDINGS: file,
    COGNITION_UNSAFE_CALLER: `${account}/${BUILDER}`,
    COGNITION_SANDBOX_IMAGE: `${account}.dkr.ecr.${region}.amazonaws.com/cognition-sandbox@${digest}`,
    COGNITION_ENDPOINT_URL_ECS: fargate.endpoint,
    ...UNTHROTTLED,
  };
}

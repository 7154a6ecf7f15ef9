import { join } from 'node:path';

/** The one setting of whoever starts the demo that it keeps: without it nothing runs where no sandbox can be had. */
const KEPT = 'COGNITION_UNSAFE_NO_ISOLATION';

/**
 * For the server and the commands of the demo. An endpoint or a port that is set for daily work must not lead the
 * demo to publish there.
 */
export function demoEnvironment(env: NodeJS.ProcessEnv, folder: string) {
  const others = Object.entries(env).filter(([name]) => name === KEPT || !name.startsWith('COGNITION_'));
  return {
    ...Object.fromEntries(others),
    COGNITION_PORT: '0',
    COGNITION_LOG_LEVEL: 'error',
    COGNITION_DATA_DIR: join(folder, 'data'),
    COGNITION_CONFIG_DIR: join(folder, 'config'),
    COGNITION_SCOPE: 'tenant=acme',
  };
}

/** `npm run local`: the standalone server for daily work. */
import { powertoolsLogger } from '../../functions/runtime/powertools-logger.ts';
import { InvalidSettings, parseSettings } from '../../shared/contracts/settings.ts';
import { isCognitionError } from '../../shared/domain/cognition-error.ts';
import { configFolder, openLocalIdentity } from './local-identity.ts';
import { startStandalone } from './standalone.ts';

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

async function main(): Promise<void> {
  const { settings, warnings } = parseSettings(process.env);
  const logger = powertoolsLogger({ service: 'cognition-local', level: logLevel(settings.log_level) });
  const identity = openLocalIdentity(configFolder(process.env));
  const server = await startStandalone(settings, identity, logger);
  identity.announce(server.endpoint);
  for (const text of [...warnings, ...server.warnings]) logger.warn('standalone.warning', { warning: text });
  say(`listening on ${server.endpoint}, data in ${settings.data_dir}`);
  say('try, in another terminal:');
  say('  npx cognition scope use tenant=acme');
  say('  npx cognition doctor');
  say('  npx cognition skills push examples/skills/ticket-analysis');

  let ending = false;
  const end = (): void => {
    if (ending) process.exit(1);
    ending = true;
    identity.withdraw();
    void server.close().then(() => process.exit(0));
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
}

const logLevel = (level: 'debug' | 'info' | 'warn' | 'error') => {
  const levels = { debug: 'INFO', info: 'INFO', warn: 'WARN', error: 'ERROR' } as const;
  return levels[level];
};

try {
  await main();
} catch (error) {
  const known = error instanceof InvalidSettings || isCognitionError(error);
  process.stderr.write(
    `cognition: ${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exit(1);
}

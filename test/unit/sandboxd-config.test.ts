import { expect, test } from 'vitest';
import { readDaemonConfig } from '../../functions/sandboxd/daemon-config.ts';
import { SANDBOX_ENV, SANDBOX_PORT } from '../../shared/contracts/daemon.ts';

const ENV = {
  [SANDBOX_ENV.sandboxId]: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  [SANDBOX_ENV.publicKey]: 'a key',
  [SANDBOX_ENV.profile]: '{"name":"default"}',
};

test('the entry point of an image says what form it is, and it listens on the production port', () => {
  const config = readDaemonConfig(ENV, ['container']);

  expect(config).toMatchObject({ form: 'container', root: '', transport: { port: SANDBOX_PORT } });
});

test('whoever starts a task of an image cannot make it another form', () => {
  const env = { ...ENV, COGNITION_SANDBOX_FORM: 'unsafe', COGNITION_SANDBOX_ROOT: '/tmp/x' };

  expect(readDaemonConfig(env, ['container'])).toMatchObject({ form: 'container', root: '' });
});

test.each([
  ['a command of its own', ['container', 'sleep', 'infinity']],
  ['another form', ['unsafe']],
  ['the form twice', ['container', 'container']],
])('%s is refused', (_, args) => {
  expect(() => readDaemonConfig(ENV, args)).toThrow('the arguments');
});

test('no image is made of a variable alone', () => {
  expect(() => readDaemonConfig({ ...ENV, COGNITION_SANDBOX_FORM: 'container' }, [])).toThrow(
    'COGNITION_SANDBOX_FORM',
  );
});

test('everything that is missing is named at once', () => {
  const read = () => readDaemonConfig({}, ['container']);

  expect(read).toThrow(SANDBOX_ENV.sandboxId);
  expect(read).toThrow(SANDBOX_ENV.publicKey);
  expect(read).toThrow(SANDBOX_ENV.profile);
});

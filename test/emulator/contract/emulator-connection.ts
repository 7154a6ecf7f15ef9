import { inject } from 'vitest';

/** For clients of the SDK; an emulator takes any credentials. */
export const emulatorConnection = () => ({
  ...inject('emulator'),
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});

import { inject } from 'vitest';

/** For clients of the SDK; an emulator takes any credentials. `endpoint` is another way to it. */
export const emulatorConnection = (endpoint = inject('emulator').endpoint) => ({
  endpoint,
  region: inject('emulator').region,
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});

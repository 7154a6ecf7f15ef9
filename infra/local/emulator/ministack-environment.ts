import { join } from 'node:path';
import { openPythonEnvironment } from '../python-environment.ts';

/** @returns the Python that has the emulator. */
export const openMinistackEnvironment = (): string =>
  join(
    openPythonEnvironment({
      requirements: 'test/emulator/requirements.txt',
      name: 'emulator',
      otherwise: 'or set AWS_ENDPOINT_URL to an emulator that runs',
    }),
    'python3',
  );

import { describe, expect, it } from 'vitest';
import { demoEnvironment } from '../../infra/local/demo-environment.ts';

describe('the environment of the demo', () => {
  it('leads nowhere but to its own server, whatever is set for daily work', () => {
    const daily = {
      PATH: '/bin',
      COGNITION_ENDPOINT: 'https://abc.execute-api.eu-west-1.amazonaws.com/prod',
      COGNITION_PORT: '8787',
      COGNITION_SCOPE: 'tenant=real',
      COGNITION_SKILLS_BACKEND: 's3',
      COGNITION_UNSAFE_NO_ISOLATION: '1',
    };

    expect(demoEnvironment(daily, '/demo')).toEqual({
      PATH: '/bin',
      COGNITION_UNSAFE_NO_ISOLATION: '1',
      COGNITION_PORT: '0',
      COGNITION_LOG_LEVEL: 'error',
      COGNITION_DATA_DIR: '/demo/data',
      COGNITION_CONFIG_DIR: '/demo/config',
      COGNITION_SCOPE: 'tenant=acme',
    });
  });
});

import { describe, expect, it, vi } from 'vitest';
import { powertoolsLogger } from '../../functions/runtime/powertools-logger.ts';
import { requestLogger } from '../../functions/runtime/request-logger.ts';

describe('the logger of the functions', () => {
  it('writes JSON lines in which requests that overlap keep their own context', () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const logger = powertoolsLogger({ service: 'skills' });
    const [first, second] = ['a', 'b'].map((id) => requestLogger(logger, { request_id: id }));

    first?.info('one', { status: 200 });
    second?.info('two');
    first?.info('three');

    const lines = write.mock.calls.map(([line]) => JSON.parse(String(line)));
    write.mockRestore();
    expect(lines).toMatchObject([
      { level: 'INFO', service: 'skills', message: 'one', request_id: 'a', status: 200 },
      { message: 'two', request_id: 'b' },
      { message: 'three', request_id: 'a' },
    ]);
    expect(lines[1]).not.toHaveProperty('status');
  });

  it('below its level it writes nothing', () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);

    powertoolsLogger({ service: 'skills', level: 'ERROR' }).info('quiet');

    expect(write).not.toHaveBeenCalled();
    write.mockRestore();
  });
});

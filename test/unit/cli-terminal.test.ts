import { describe, expect, it } from 'vitest';
import { renderLine } from '../../cli/terminal/output.ts';
import { safeJson, sanitizeLine, sanitizeText } from '../../cli/terminal/sanitize.ts';
import { table } from '../../cli/terminal/table.ts';
import { startFakeApi } from '../support/cli-fake-api.ts';
import { runCli } from '../support/cli-io.ts';
import { sampleSkill } from '../support/cli-samples.ts';

const HOSTILE = [
  ['a colour', 'a\u001b[31mred\u001b[0m', 'ared'],
  ['a title change', 'a\u001b]0;owned\u0007b', 'ab'],
  ['a clipboard write', 'a\u001b]52;c;aGk=\u001b\\b', 'ab'],
  ['an 8-bit CSI', 'a\u009b2Jb', 'ab'],
  ['a carriage return that overwrites', 'failed\rok', 'failed ok'],
  ['a forged line', 'a\ncognition: all is well', 'a cognition: all is well'],
  ['a line separator', 'a\u2028b', 'a b'],
  ['a direction override', 'a\u202egpj.exe', 'agpj.exe'],
  ['a bell and a backspace', 'a\u0007\bb', 'ab'],
] as const;

describe('text of others in our lines', () => {
  it.each(HOSTILE)('loses %s', (_case, text, expected) => {
    expect(sanitizeLine(text)).toBe(expected);
    expect(renderLine([{ text, style: 'bold' }], false)).toBe(expected);
  });

  it('keeps line breaks and tabs where several lines are shown', () => {
    expect(sanitizeText('a\tb\n\u001b[2Jc\n')).toBe('a\tb\nc\n');
  });

  it('cannot move what stands beside it in a table', () => {
    const lines = table(['A', 'B'], [['x\u001b[9Cy', 'z']]).map((line) => renderLine(line, false));

    expect(lines).toEqual(['A   B', 'xy  z']);
  });

  it('is escaped in JSON and still reads the same', () => {
    const value = { text: 'a\u009b2J\u202eb\u2028c' };

    const json = safeJson(value);

    expect(json).not.toMatch(/[\u0080-\u009f\u202e\u2028]/);
    expect(JSON.parse(json)).toEqual(value);
  });

  it('shows a description without its control sequences', async () => {
    const description = 'nice\u001b]0;owned\u0007\u001b[2J\nenabled  no';
    const api = await startFakeApi({
      getSkill: () => ({ json: sampleSkill({ description }), headers: { etag: '"e"' } }),
    });

    const result = await runCli(['skills', 'show', 'hello', '--endpoint', api.url, '--scope', 'tenant=a'], {
      tty: true,
    });

    expect(result.code).toBe(0);
    expect(result.stdout).not.toContain('\u001b]');
    expect(result.stdout).not.toContain('[2J');
    expect(result.stdout).toContain('nice enabled  no');
  });
});

describe('colours', () => {
  const show = async (env: Record<string, string>, tty: boolean) => {
    const api = await startFakeApi({
      getSkill: () => ({ json: sampleSkill(), headers: { etag: '"e"' } }),
    });
    const argv = ['skills', 'show', 'hello', '--endpoint', api.url, '--scope', 'tenant=a'];
    const result = await runCli(argv, { env, tty });
    expect(result.code).toBe(0);
    return result;
  };

  it('are on for a terminal', async () => {
    expect((await show({}, true)).stdout).toContain('\u001b[');
  });

  it.each([
    ['NO_COLOR is set', { NO_COLOR: 'yes' }, true],
    ['the terminal is dumb', { TERM: 'dumb' }, true],
    ['it is no terminal', {}, false],
  ])('are off where %s', async (_case, env, tty) => {
    expect((await show(env, tty)).stdout).not.toContain('\u001b');
  });
});

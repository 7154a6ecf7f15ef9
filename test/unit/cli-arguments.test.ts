import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli-io.ts';

describe('arguments of the CLI', () => {
  it.each([
    ['an unknown option', ['skills', 'show', 'hello', '--revison', 'x'], "Unknown option '--revison'"],
    ['a missing argument', ['skills', 'show'], 'NAME is missing'],
    ['one argument too many', ['skills', 'show', 'a', 'b'], '"b" is one argument too many'],
    ['an option given twice', ['runs', 'list', '--limit', '3', '--limit', '4'], '--limit is given 2 times'],
    [
      'an option without its value',
      ['skills', 'show', 'a', '--revision'],
      "'--revision <value>' argument missing",
    ],
    [
      'arguments after -- where none are taken',
      ['skills', 'list', '--', 'x'],
      'nothing is expected after `--`',
    ],
    ['an unknown command', ['skills', 'psh'], '"psh" is not a command of `cognition skills`'],
    ['a command called like a property of objects', ['constructor'], '"constructor" is not a command'],
    ['--script without --skill', ['run', 'a', '--script', 'x'], '--script needs --skill'],
    ['a limit that is no number', ['runs', 'list', '--limit', 'many'], '--limit is a number from 1 to 200'],
    ['a scope that is no list of key=value', ['scope', 'use', 'tenant'], '"tenant" is not key=value'],
    ['a scope with a key twice', ['scope', 'encode', 'a=1,a=2'], 'names "a" twice'],
    ['a scope value that no scope may have', ['scope', 'encode', 'a=b/c'], '"a" is not a scope entry'],
    ['an endpoint that is no URL', ['skills', 'list', '--endpoint', 'here'], '--endpoint is not a URL'],
    [
      'plain http to another machine',
      ['skills', 'list', '--endpoint', 'http://example.com'],
      'plain http to another machine',
    ],
  ])('refuses %s with exit code 2 and one line', async (_case, argv, message) => {
    const result = await runCli([...argv], { env: { COGNITION_SCOPE: 'tenant=a' } });

    expect(result.code).toBe(2);
    expect(result.stderr).toContain(message);
    expect(result.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(result.stdout).toBe('');
  });

  it('prints an error as one JSON document on stderr with --json', async () => {
    const result = await runCli(['skills', 'show', '--json']);

    expect(result.code).toBe(2);
    expect(result.stdout).toBe('');
    expect(JSON.parse(result.stderr)).toEqual({
      error: { code: 'usage', message: 'NAME is missing', fix: 'add --help to see what is expected' },
    });
  });

  it('does not take --json after -- for its own', async () => {
    const result = await runCli(['run', 'a', '--timeout', '0', '--', '--json'], {
      env: { COGNITION_ENDPOINT: 'http://127.0.0.1:9', AWS_REGION: 'r', COGNITION_SCOPE: 'tenant=a' },
    });

    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/^cognition: --timeout is a number/);
  });

  it('understands common options before the command too', async () => {
    const result = await runCli(['--scope', 'tenant=a', '--json', 'scope', 'show']);

    expect(result.code).toBe(0);
    expect(result.json()).toMatchObject({ scope: { tenant: 'a' }, source: '--scope' });
  });

  it('explains itself with examples and exit codes', async () => {
    const result = await runCli(['--help']);

    expect(result.code).toBe(0);
    expect(result.stdout).toContain('FIRST STEPS');
    expect(result.stdout).toContain('EXIT CODES');
    expect(result.stdout).not.toContain('\u001b');
  });

  it.each([
    ['skills', 'push'],
    ['agents', 'put'],
    ['run'],
    ['artifacts', 'get'],
    ['scope', 'use'],
    ['doctor'],
  ])('has help with examples for %s %s', async (...path) => {
    const result = await runCli([...path, '--help']);

    expect(result.code).toBe(0);
    expect(result.stdout).toContain('EXAMPLES');
    expect(result.stdout).toContain('--json');
  });

  it('shows the help of a group that was called without a command as a mistake', async () => {
    const result = await runCli(['skills']);

    expect(result.code).toBe(2);
    expect(result.stdout).toBe('');
    expect(result.stderr).toContain('push');
  });
});

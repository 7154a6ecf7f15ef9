import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configFolder, openLocalIdentity } from '../../infra/local/local-identity.ts';
import { openStores } from '../../infra/local/open-stores.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import { InvalidSettings, parseSettings } from '../../shared/contracts/settings.ts';
import { temporaryFolder } from '../support/cli-io.ts';

const keyIn = (folder: string): string =>
  /^aws_access_key_id = (\S+)$/m.exec(readFileSync(join(folder, 'local-credentials'), 'utf8'))?.[1] ?? '';

const open = (data: string) => {
  const { settings } = parseSettings({ COGNITION_DATA_DIR: data });
  return openStores(settings, {
    clock: systemClock,
    ids: createUlidIds(),
    endpoint: () => 'http://127.0.0.1',
  });
};

describe('the identity of a local server', () => {
  it('keeps its key over restarts, in a file that nobody else can read', () => {
    const folder = temporaryFolder().path;

    openLocalIdentity(folder);
    const key = keyIn(folder);
    const again = openLocalIdentity(folder);

    expect(again.credentials(key)).toBeDefined();
    expect(statSync(join(folder, 'local-credentials')).mode & 0o777).toBe(0o600);
  });

  it('makes a new key where others could have read the one that is there', () => {
    const folder = temporaryFolder().path;
    openLocalIdentity(folder);
    const leaked = keyIn(folder);
    chmodSync(join(folder, 'local-credentials'), 0o644);

    const identity = openLocalIdentity(folder);

    expect(identity.credentials(leaked)).toBeUndefined();
    expect(identity.credentials(keyIn(folder))).toBeDefined();
    expect(statSync(join(folder, 'local-credentials')).mode & 0o777).toBe(0o600);
  });

  it('takes no key through a link, and leaves what the link points to alone', () => {
    const folder = temporaryFolder().path;
    const elsewhere = temporaryFolder().path;
    openLocalIdentity(elsewhere);
    const planted = keyIn(elsewhere);
    symlinkSync(join(elsewhere, 'local-credentials'), join(folder, 'local-credentials'));

    const identity = openLocalIdentity(folder);

    expect(identity.credentials(planted)).toBeUndefined();
    expect(keyIn(folder)).not.toBe(planted);
    expect(keyIn(elsewhere)).toBe(planted);
  });

  it('says where its key is so that it is found from any folder', () => {
    const folder = temporaryFolder().path;
    const config = configFolder({ COGNITION_CONFIG_DIR: relative(process.cwd(), folder) });

    openLocalIdentity(config).announce('http://127.0.0.1:1');

    const local = JSON.parse(readFileSync(join(folder, 'local.json'), 'utf8'));
    expect(local.credentials_file).toBe(join(folder, 'local-credentials'));
  });

  it('takes its note away, but not the one of a server that came after it', () => {
    const folder = temporaryFolder().path;
    const file = join(folder, 'local.json');
    const identity = openLocalIdentity(folder);
    identity.announce('http://127.0.0.1:1');
    const own = readFileSync(file, 'utf8');
    writeFileSync(file, own.replace(`"pid": ${process.pid}`, '"pid": 1'));

    identity.withdraw();
    const others = existsSync(file);
    identity.announce('http://127.0.0.1:1');
    identity.withdraw();

    expect(others).toBe(true);
    expect(existsSync(file)).toBe(false);
  });

  it('refuses a config folder that cannot be one, by the name of the setting', () => {
    const file = join(temporaryFolder().path, 'file');
    writeFileSync(file, '');

    expect(() => openLocalIdentity(file)).toThrow(InvalidSettings);
    expect(() => openLocalIdentity(file)).toThrow(/COGNITION_CONFIG_DIR: .*file cannot be used/);
  });
});

describe('the data folder of a local server', () => {
  it('is refused by the name of the setting where it cannot be one', () => {
    const file = join(temporaryFolder().path, 'file');
    writeFileSync(file, '');

    expect(() => open(file)).toThrow(/COGNITION_DATA_DIR: .*file cannot be used/);
  });

  it('gets a new download secret where a crash has left an empty one, with which no server would start', () => {
    const data = join(temporaryFolder().path, 'data');
    mkdirSync(data);
    writeFileSync(join(data, 'download-secret'), '', { mode: 0o600 });

    open(data).table.close();

    expect(readFileSync(join(data, 'download-secret'))).toHaveLength(32);
  });
});

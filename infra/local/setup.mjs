/**
 * Everything `npm test`, `npm run demo` and the others need, from a fresh clone: dependencies (with Node 24
 * among them), bubblewrap and python3. Plain JavaScript for Node 18, which is all a machine must bring.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const say = (text) => process.stderr.write(`setup: ${text}\n`);
const fail = (text) => {
  say(text);
  process.exit(1);
};

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], ...options });
  return error === undefined && status === 0;
}

/** Installs when the lock file is not the one that was installed last. */
function installDependencies() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const stamp = join(root, 'node_modules', '.installed-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  say('installing dependencies');
  if (!run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])) fail('`npm ci` failed; see above');
  writeFileSync(stamp, lock);
}

/** Tools in Python live in environments of their own; the Python that makes these may be anywhere. */
function lacksEnvironments() {
  const check = ['-c', 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))'];
  const pythons = ['python3', '/usr/bin/python3'];
  return pythons.every((python) => spawnSync(python, check, { stdio: 'ignore' }).status !== 0);
}

/** /usr is what a sandbox sees, so a program elsewhere does not count. */
function installSystemPackages() {
  if (process.platform !== 'linux') {
    say(`${process.platform}: the registry works here, runs need Linux`);
    return;
  }
  const wanted = [
    ['bubblewrap', '/usr/bin/bwrap'],
    ['python3', '/usr/bin/python3'],
    // What the library that the bench compares with needs.
    ...(process.argv.includes('--bench')
      ? [
          ['socat', '/usr/bin/socat'],
          ['ripgrep', '/usr/bin/rg'],
        ]
      : []),
  ].flatMap(([name, path]) => (existsSync(path) ? [] : [name]));
  if (process.argv.includes('--python') && lacksEnvironments()) wanted.push('python3-venv');
  if (wanted.length === 0) return;
  const command = `apt-get install --yes --no-install-recommends ${wanted.join(' ')}`;
  const prefix = process.getuid() === 0 ? [] : ['sudo', '-n'];
  say(`installing ${wanted.join(' and ')} from the system's packages`);
  const quiet = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  const apt = (...args) => {
    const [program, ...rest] = [...prefix, 'apt-get', '-qq', ...args];
    return run(program, rest, quiet);
  };
  const install = () => apt('install', '--yes', '--no-install-recommends', ...wanted);
  if (!existsSync('/usr/bin/apt-get') || !(install() || (apt('update') && install()))) {
    fail(`please install ${wanted.join(' and ')} and try again, e.g. \`sudo ${command}\``);
  }
}

installDependencies();
installSystemPackages();
if (!run(join(root, 'node_modules', '.bin', 'node'), [join(root, 'infra', 'local', 'build.ts')])) {
  fail('the bundles could not be built; see above');
}

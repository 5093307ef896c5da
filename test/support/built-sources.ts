import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

/** The build empties dist; only the client is built before this one. */
const FIRST_BUILT = 'dist/main.js';
const SOURCES = 'src';
/** The pages, the fly that they bundle, the brain of a tab, the server for agents, and the client that commands import. */
const CLIENT_SOURCES = [
  'clients/pages',
  'clients/fly/src',
  'clients/tab',
  'clients/mcp',
  'clients/typescript/src',
];
/** Sources of the only built files that the specs beside the sources use. */
const KERNEL_SOURCES = [
  'src/engine/simulation/kernel',
  'src/engine/simulation/rewiring/kernel',
  'src/engine/stimulus/kernel',
];

/**
 * Jest calls this before all tests. Services, workers and commands of tests come from dist/, and a test of an old build
 * beside new sources is meaningless.
 */
export default function refuseOldBuild({
  rootDir,
  testPathPatterns: { patterns },
}: {
  readonly rootDir: string;
  readonly testPathPatterns: { readonly patterns: readonly string[] };
}): void {
  const besideSources = resolve(rootDir, SOURCES) + sep;
  const isBeside =
    patterns.length > 0 && patterns.every((each) => resolve(rootDir, each).startsWith(besideSources));
  const fault = buildFault(rootDir, isBeside ? KERNEL_SOURCES : [SOURCES, ...CLIENT_SOURCES]);
  if (fault === null) return;
  const error = new Error(fault);
  // The stack of this check helps nobody.
  error.stack = fault;
  throw error;
}

/**
 * @param root of a checkout
 * @param sources folders in it whose files the build has to be newer than
 * @returns the fault of the build, null if there is none
 */
export function buildFault(root: string, sources: readonly string[]): string | null {
  const built = join(root, FIRST_BUILT);
  if (!existsSync(built)) return 'Nothing was built yet: npm run build does it.';
  const builtAtMs = statSync(built).mtimeMs;
  const files = sources.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const newer = files.find((name) => {
    if (name.endsWith('.spec.ts')) return false;
    const file = statSync(join(root, name));
    return file.isFile() && file.mtimeMs > builtAtMs;
  });
  return newer === undefined ? null : `${newer} is newer than the build under test: run npm run build.`;
}

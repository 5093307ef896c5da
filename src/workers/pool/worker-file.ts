/**
 * Resolves a path to a built file. Tests run TypeScript sources, but threads and processes need the JavaScript in
 * `dist`.
 * @param from URL of the module that asks, in `src` or in `dist`
 */
export function builtFile(path: string, from: string): URL {
  const source = from.lastIndexOf('/src/');
  const isBuilt = !from.endsWith('.ts');
  return new URL(path, isBuilt ? from : `${from.slice(0, source)}/dist/${from.slice(source + 5)}`);
}

/** The module of the workers. */
export const WORKER_FILE = builtFile('./experiment.worker.js', import.meta.url);

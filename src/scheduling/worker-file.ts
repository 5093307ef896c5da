/**
 * A file as it is built. Tests run the sources, but threads and processes run plain JavaScript, so from a source file the
 * way leads to what was built from it.
 * @param from the URL of the file that asks
 */
export function builtFile(path: string, from: string): URL {
  const source = from.lastIndexOf('/src/');
  const isBuilt = !from.endsWith('.ts');
  return new URL(path, isBuilt ? from : `${from.slice(0, source)}/dist/${from.slice(source + 5)}`);
}

/** The worker. */
export const WORKER_FILE = builtFile('./experiment.worker.js', import.meta.url);

/**
 * The worker as it is built. Tests run the sources, but a worker thread runs plain JavaScript, so from a
 * source file the way leads to what was built from it.
 */
export const WORKER_FILE = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/pool/experiment.worker.js' : './experiment.worker.js',
  import.meta.url,
);

import { WORKER_FILE } from '../pool/worker-file.js';

/** Where the workers' file is; tests give another, because they run the sources and workers run what is built. */
export class WorkerFile {
  constructor(readonly url: URL = WORKER_FILE) {}
}

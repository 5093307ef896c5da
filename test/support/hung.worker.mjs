/** A worker whose thread ends only after somebody has opened the FIFO that workerData names. */
import { openSync, writeFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

export default () => {
  writeFileSync(`${workerData.fifo}.begun`, '');
  openSync(workerData.fifo, 'r');
};

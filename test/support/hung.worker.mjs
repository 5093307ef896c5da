/** A worker whose thread ends only after somebody has opened the FIFO that HUNG_FIFO names. */
import { openSync, writeFileSync } from 'node:fs';

const { HUNG_FIFO } = process.env;

export default () => {
  writeFileSync(`${HUNG_FIFO}.begun`, '');
  openSync(HUNG_FIFO, 'r');
};

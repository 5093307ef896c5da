/** One contract for a brain that a service computes, and for one in this program. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeContract, describeGoldens, serveBrain } from '../support/brain-contract.js';
import { NODE, SERVICE } from '../support/brain-places.js';
import { connectomeFile } from '../support/connectomes.js';
import { describeLocal } from '../support/local-brain-contract.js';

jest.setTimeout(300_000);

let folder: string;
let file: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'local-brain-'));
  file = await connectomeFile('default');
});
afterAll(() => rmSync(folder, { recursive: true }));

const http = serveBrain('default');
describeContract(SERVICE, http, () => http().url);
describeContract(NODE, http, () => file);
describeGoldens(NODE, (measured) => measured);
describeLocal(NODE, () => file, {
  missing: () => join(folder, 'missing.connectome'),
  damaged: () => {
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1]! ^= 1;
    const damaged = join(folder, 'damaged.connectome');
    writeFileSync(damaged, bytes);
    return damaged;
  },
});

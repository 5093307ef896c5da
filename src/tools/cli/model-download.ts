/** npm run model:download downloads the tables of a data set, for model:compile. */
import { join } from 'node:path';
import { connectionTable, datasetNames, DEFAULT_DATASET, filesOf, readDataset } from '../compiler/dataset.js';
import { downloadTables, MANIFEST_FILE, readManifest } from '../compiler/download.js';
import { address, defineCommand, flag, text } from './command.js';
import { writeAtomically } from './atomic-file.js';

export const command = defineCommand({
  name: 'model:download',
  summary: 'Downloads the tables of a data set. Existing files are kept, unfinished ones are completed.',
  options: {
    dataset: text('NAME', `Data set: ${datasetNames().join(', ')}.`, { default: DEFAULT_DATASET }),
    synapses: text('NAME', 'Table of synapses, if a data set has several; by default its own.'),
    out: text('DIR', 'Directory for the tables.', { required: true }),
    'base-url': address('Base URL of the tables; set it to use a mirror.'),
    'allow-changed': flag('Take files that are not the published ones; the manifest records it.'),
    manifest: text(
      'FILE',
      'Check the tables against the SHA-256 in this manifest.json of an earlier download.',
    ),
  },
  async run(options, _, { print, progress }) {
    const { out, manifest, 'allow-changed': allowChanged } = options;
    const dataset = readDataset(options.dataset);
    const published = filesOf(dataset, connectionTable(dataset, options.synapses));
    print(dataset.notice);
    const expected = manifest === undefined ? published : await readManifest(manifest, published);
    const baseUrl = options['base-url'] ?? dataset.base_url;
    const note = (sentence: string) => progress.note(sentence);
    const files = await downloadTables({ dir: out, baseUrl, files: expected, allowChanged, progress, note });
    const record = { dataset: options.dataset, baseUrl, files };
    await writeAtomically(join(out, MANIFEST_FILE), `${JSON.stringify(record, null, 2)}\n`);
    print(files.map((each) => `${each.sha256}  ${each.file} (${each.bytes} bytes)\n`).join(''));
    for (const { unpack } of published)
      if (unpack !== undefined) print(`Unpack it: cd ${out} && ${unpack}\n`);
  },
});

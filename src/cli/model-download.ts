/** npm run model:download: fetches the tables from which model:compile makes the measured wiring. */
import { join } from 'node:path';
import { downloadTables, MANIFEST_FILE, readManifest, TABLES_URL } from '../compiler/download.js';
import { address, defineCommand, directory, file } from './command.js';
import { writeWhole } from './write-whole.js';

const LICENCE = `The tables are data of the FlyWire Consortium, release 783, under CC BY-NC 4.0
(https://creativecommons.org/licenses/by-nc/4.0/): not for commercial use. Cite
  Dorkenwald et al. 2024, doi:10.1038/s41586-024-07558-y
  Schlegel et al. 2024, doi:10.1038/s41586-024-07686-5
  Eckstein, Bates et al. 2024, doi:10.1016/j.cell.2024.03.016 (transmitters)
`;

export const command = defineCommand({
  name: 'model:download',
  summary: 'Downloads the five Codex tables of release 783. Existing files are kept.',
  options: {
    out: directory('Directory for the tables.', { required: true }),
    'base-url': address('Base URL of the tables; set it to use a mirror.', { default: TABLES_URL }),
    manifest: file('Check the tables against the SHA-256 in this manifest.json of an earlier download.'),
  },
  async run({ out, 'base-url': baseUrl, manifest }, _, { print, progress }) {
    print(LICENCE);
    const expected = manifest === undefined ? undefined : await readManifest(manifest);
    const note = (sentence: string) => progress.note(sentence);
    const files = await downloadTables({ dir: out, baseUrl, progress, note, expected });
    await writeWhole(join(out, MANIFEST_FILE), `${JSON.stringify({ baseUrl, files }, null, 2)}\n`);
    print(files.map((each) => `${each.sha256}  ${each.file} (${each.bytes} bytes)\n`).join(''));
  },
});

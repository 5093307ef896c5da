/** npm run model:inspect: checks the digest of a connectome file and reports its content. */
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { openConnectome } from '../connectome/format.js';
import { runCommand } from './command.js';
import { reportOf, reportText } from './connectome-report.js';
import { servedFile } from './served-file.js';

await runCommand({
  name: 'model:inspect',
  summary: 'Checks a connectome file and prints a summary of its content.',
  options: {
    json: { type: 'boolean', help: 'Print JSON.' },
  },
  positionals: {
    name: 'FILE',
    help: 'Connectome file, by default CONNECTOME_FILE.',
    minimum: 0,
    maximum: 1,
  },
  async run({ json }, [path]) {
    const file = await readConnectomeFile(path ?? (await servedFile()));
    const report = reportOf(openConnectome(file), file.byteLength);
    process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  },
});

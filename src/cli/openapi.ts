import { API_DESCRIPTIONS, assembleApplication } from '../application.js';
import { readEnvironment } from '../config/environment.js';
import { CodedError, describeValue } from '../errors.js';
import { describeApi } from '../openapi/openapi-document.js';
import { runCommand } from './command.js';
import { writeWhole } from './write-whole.js';

await runCommand({
  name: 'openapi',
  summary: 'Writes the OpenAPI description of a version of the API to a file.',
  options: {
    api: { type: 'string', value: 'N', help: 'Version of the API.', default: '1' },
    out: { type: 'string', value: 'FILE', help: 'File to write.', default: 'openapi.json' },
  },
  async run({ api, out }) {
    const description = API_DESCRIPTIONS.find(({ version }) => version === api);
    if (description === undefined) {
      const versions = API_DESCRIPTIONS.map(({ version }) => version).join(' or ');
      throw new CodedError('USAGE', `--api must be ${versions}, got ${describeValue(api)}.`);
    }
    const app = await assembleApplication(readEnvironment({ LOG_LEVEL: 'error' }));
    await writeWhole(out, `${JSON.stringify(describeApi(app, description), null, 2)}\n`);
    process.stdout.write(`${out}\n`);
  },
});

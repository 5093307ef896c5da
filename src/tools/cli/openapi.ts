/** npm run openapi writes the OpenAPI description of a version of the API. */
import { API_DESCRIPTIONS, assembleApplication } from '../../service/application.js';
import { readEnvironment } from '../../service/config/environment.js';
import { describeApi } from '../../service/api/openapi/openapi-document.js';
import { choice, defineCommand, text } from './command.js';
import { writeAtomically } from './atomic-file.js';

const VERSIONS = API_DESCRIPTIONS.map(({ version }) => version);

export const command = defineCommand({
  name: 'openapi',
  summary: 'Writes the OpenAPI description of a version of the API to a file.',
  options: {
    api: choice(VERSIONS, 'Version of the API.', { value: 'N', default: '1' }),
    out: text('FILE', 'File to write.', { default: 'openapi.json' }),
  },
  async run({ api, out }, _, { print }) {
    const description = API_DESCRIPTIONS.find(({ version }) => version === api)!;
    const app = await assembleApplication(readEnvironment({ LOG_LEVEL: 'error' }));
    await writeAtomically(out, `${JSON.stringify(describeApi(app, description), null, 2)}\n`);
    print(`${out}\n`);
  },
});

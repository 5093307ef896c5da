import { assembleApplication } from '../application.js';
import { readEnvironment } from '../config/environment.js';
import { DESCRIPTION_OF_V1 } from '../answers/v1/api/version-description.js';
import { describeApi } from '../openapi/openapi-document.js';
import { runCommand } from './command.js';
import { writeWhole } from './write-whole.js';

await runCommand({
  name: 'openapi',
  summary: 'Writes the OpenAPI description of the service to a file.',
  options: {
    out: { type: 'string', value: 'FILE', help: 'File to write.', default: 'openapi.json' },
  },
  async run({ out }) {
    const app = await assembleApplication(readEnvironment({ LOG_LEVEL: 'error' }));
    await writeWhole(out, `${JSON.stringify(describeApi(app, DESCRIPTION_OF_V1), null, 2)}\n`);
    process.stdout.write(`${out}\n`);
  },
});

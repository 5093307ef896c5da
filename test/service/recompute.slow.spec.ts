/**
 * A client can compute `id` and `digest` itself, in another language and with nothing but docs/guide: its
 * example is run as it stands there, only for other requests.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { codeAt } from '../support/guide-examples.js';
import { describeWith } from '../support/requirements.js';
import { startReadyService, type Service } from '../support/service.js';

const REQUEST_OF_THE_GUIDE = '{"stimulus": "touch", "intensity": 1.5}';

describeWith(['python'], 'id and digest, computed by hashlib as the guide says', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startReadyService();
  });
  afterAll(() => service.stop());

  it.each([
    '{}',
    '{"stimulus": "loom", "duration_ms": 200, "intensity": 2, "seed": 4294967295}',
    '{"stimulus": "none", "duration_ms": 50, "seed": 0}',
    // Numbers that languages write in different ways.
    '{"intensity": 0}',
    '{"intensity": 1e-7}',
    '{"intensity": 0.00001}',
    '{"intensity": 5e-324}',
    '{"intensity": 0.30000000000000004}',
    '{"intensity": 1.9999999999999998}',
    '{"intensity": 1.0}',
  ])('are those of %s', async (request) => {
    const code = codeAt(service.url, 'check').replace(REQUEST_OF_THE_GUIDE, request);
    expect(code).toContain(request);
    expect(code).toContain(service.url);
    const { stdout } = await promisify(execFile)('python3', ['-c', code]);
    expect(stdout).toBe('id True\ndigest True\n');
  });
});

/**
 * A client can compute `id` and `digest` itself, in another language and with nothing but docs/guide.md: its
 * example is run as it stands there, only for other requests.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describeWith } from '../support/requirements.js';
import { startReadyService, type Service } from '../support/service.js';

const REQUEST_OF_THE_GUIDE = '{"stimulus": "touch", "intensity": 1.5}';
const [, EXAMPLE] = /<!-- example: check -->\n+```python\n([^]*?)\n```/.exec(
  readFileSync('docs/guide.md', 'utf8'),
)!;

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
    const code = EXAMPLE!
      .replace(REQUEST_OF_THE_GUIDE, request)
      .replace('http://localhost:8080', service.url);
    expect(code).toContain(request);
    expect(code).toContain(service.url);
    const { stdout } = await promisify(execFile)('python3', ['-c', code]);
    expect(stdout).toBe('id True\ndigest True\n');
  });
});

/** A change that breaks generated clients is in the changelog. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const FILES = ['openapi.json', 'openapi-v2.json', 'released-interface.json', 'CHANGELOG.md'];

/** A document whose type nobody has declared. */
type Parsed = ReturnType<typeof JSON.parse>;

/** Compares the files of a folder with the release that it has; the lines on what the changelog lacks. */
function unnamedIn(folder: string, ...options: string[]): string {
  const script = resolve('scripts/released-interface.mjs');
  return spawnSync(process.execPath, [script, ...options], { cwd: folder, encoding: 'utf8' }).stderr;
}

it('names each operation and component that differs from the last release', () => {
  expect(unnamedIn('.')).toBe('');
});

describe('if the interface differs from that of the last release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'released-interface-'));
  const file = (name: string) => join(folder, name);
  const rewrite = (name: string, change: (text: string) => string) =>
    writeFileSync(file(name), change(readFileSync(resolve(name), 'utf8')));
  const withLine = (line: string) => () => `## Unreleased\n\n${line}\n\n## 1.0.0\n\n- \`stepSession\`\n`;
  const changed = (change: (document: Parsed) => void) =>
    rewrite('openapi-v2.json', (text) => {
      const document = JSON.parse(text);
      change(document);
      return JSON.stringify(document);
    });

  beforeAll(() => {
    for (const name of FILES) cpSync(resolve(name), file(name));
    rewrite('CHANGELOG.md', withLine('- Nothing.'));
    expect(unnamedIn(folder, '--release')).toBe('');
    expect(unnamedIn(folder)).toBe('');
  });

  const STEPS = '/api/v2/sessions/{session}/steps';
  it.each<[string, string, string, (document: Parsed) => void]>([
    ['an operationId', 'stepSession', 'was removed', ({ paths }) => (paths[STEPS].post.operationId = 'step')],
    ['a new status', 'stepSession', '+402', ({ paths }) => (paths[STEPS].post.responses['402'] = {})],
    ['a lost status', 'stepSession', '-409', ({ paths }) => delete paths[STEPS].post.responses['409']],
    [
      'a required member',
      'StepAnswer',
      '+more',
      ({ components }) => components.schemas.StepAnswer.required.push('more'),
    ],
    [
      'a member within a component',
      'ExperimentProgress',
      'progress.trials',
      ({ components }) => components.schemas.ExperimentProgress.properties.progress.required.pop(),
    ],
    ['a removed component', 'Wiring', 'was removed', ({ components }) => delete components.schemas.Wiring],
  ])('%s needs a line', (_, name, text, change) => {
    changed(change);
    rewrite('CHANGELOG.md', withLine('- Nothing.'));
    const told = unnamedIn(folder);
    expect(told).toContain(`openapi-v2.json, ${name}: `);
    expect(told).toContain(text);
    expect(told).toContain(`Write a line with \`${name}\` in CHANGELOG.md, section Unreleased`);
    rewrite('CHANGELOG.md', withLine(`- OpenAPI: \`${name}\` is another.`));
    expect(unnamedIn(folder)).toBe('');
  });

  it('what is new needs none', () => {
    changed(({ paths, components }) => {
      paths['/api/v2/new'] = { get: { operationId: 'getNew', responses: { 200: {} } } };
      components.schemas.New = { type: 'object', required: ['a'] };
    });
    rewrite('CHANGELOG.md', withLine('- Nothing.'));
    expect(unnamedIn(folder)).toBe('');
  });
});

/** `--lines` of npm run experiment: a made-up list, through to the order list and the report. */
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { experiment, file, inDirectory, screenFile } from '../../../../test/support/experiment-command.js';

const LIST = `line,driver,type,source
SS1,split,S_sugar,"Nobody 2026, doi:10.1000/182: CC BY 4.0"
SS2,split,S_sugar; C_walk ;elsewhere,
SS3,split,,"Not used"
SS1,split,S_sugar,
`;
const written = (name: string, content: string | Buffer) => {
  writeFileSync(inDirectory(name), content);
  return inDirectory(name);
};

it('end the ranking of a screen and stand in its report', async () => {
  const html = inDirectory('order.html');
  const list = written('lines.csv', LIST);
  const { status, stdout } = await experiment([screenFile, '--lines', list, '--html', html]);
  expect(status).toBe(0);
  const [, listed] = /\nDriver lines\n((?: {2}.*\n)+)/.exec(stdout)!;
  const byType = new Map(
    listed!
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/ {2,}/) as [string, string]),
  );
  expect(byType.get('S_sugar')).toBe('SS1, SS2 (+2)');
  expect(byType.get('C_walk')).toBe('SS2 (+2)');
  expect([...byType.values()].filter((text) => text === 'none')).toHaveLength(byType.size - 2);
  // The order is that of the ranking.
  const ranked = [...stdout.matchAll(/^ {2}(S_\w+|C_\w+) +[\d.]+ ±/gm)].map(([, type]) => type);
  expect([...byType.keys()]).toEqual(ranked);
  expect(Math.max(...stdout.split('\n').map((line) => [...line].length))).toBeLessThanOrEqual(80);

  const report = readFileSync(html, 'utf8');
  expect(report).toContain('<th scope="col">Driver lines</th>');
  const rows = [...report.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row]) =>
    [...row!.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell),
  );
  const linesOf = (silenced: string) => rows.filter(([first]) => first === silenced).map((row) => row.at(-1));
  expect(linesOf('S_sugar')).toEqual(['SS1, SS2 (+2)']);
  expect(linesOf('nothing silenced')).toEqual(['–']);
  expect(report).toContain(
    '<li>Nobody 2026, doi:<a href="https://doi.org/10.1000/182">10.1000/182</a>: CC BY 4.0</li>',
  );
  expect(report).not.toContain('Not used');
});

it('change nothing else, and may be gzipped', async () => {
  const list = written('lines.csv.gz', gzipSync(LIST));
  const [plain, listed] = await Promise.all([
    experiment([file, '--json']),
    experiment([file, '--json', '--lines', list]),
  ]);
  expect(listed.stdout).toBe(plain.stdout);
  const { stdout } = await experiment([file, '--lines', list]);
  // The reports have no groups by type.
  expect(stdout).toContain('\nDriver lines\n  No row has a cell type.\n');
});

it.each([
  ['no column', 'name,type\nSS1,LC4\n', 'lines.csv, line 1: expected a column line, found the columns'],
  ['no name', 'line,type\n ,LC4\n', 'lines.csv, line 2: expected line to be the name of a line, found " "'],
  ['no type', 'line,type\nSS1,;\n', 'lines.csv: expected a row with a type, found none.'],
])('are refused before any trial if the list has %s', async (_, content, message) => {
  const { status, stdout, stderr } = await experiment([screenFile, '--lines', written('lines.csv', content)]);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toContain(message);
});

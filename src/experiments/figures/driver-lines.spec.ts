/** Driver lines of cell types, against a second implementation of docs/guide/driver-lines.md. */
import { PhiloxSequence } from '../../engine/stimulus/philox.js';
import type { GroupLabels } from '../kinds/groups.js';
import { DriverLines, type LabelledType, typesOfRow } from './driver-lines.js';

const SEED = 41;

/** Written only from "The lines of a row" of the guide. */
function textByHand(rows: readonly LabelledType[], type: string): string {
  const typesOf = (line: string) => new Set(rows.filter((row) => row.line === line).map((row) => row.type));
  const lines = rows.filter((row) => row.type === type).map((row) => row.line);
  const ranked = [...new Set(lines)]
    .sort()
    .map((line) => ({ line, size: typesOf(line).size }))
    .sort((a, b) => a.size - b.size);
  if (ranked.length === 0) return 'none';
  const texts = ranked.map(({ line, size }) => (size === 1 ? line : `${line} (+${size - 1})`));
  return texts.length <= 3
    ? texts.join(', ')
    : `${texts.slice(0, 3).join(', ')} and ${texts.length - 3} more`;
}

it('are those that the guide describes, on made-up lists', () => {
  const random = new PhiloxSequence(SEED, 0, 3);
  const seen = new Set<string>();
  for (let list = 0; list < 200; list++) {
    const [lines, types] = [1 + random.nextBelow(9), 1 + random.nextBelow(6)];
    const rows = Array.from({ length: 1 + random.nextBelow(25) }, () => ({
      line: `SS${random.nextBelow(lines)}`,
      type: `T${random.nextBelow(types)}`,
      source: '',
    }));
    const driverLines = new DriverLines(rows);
    for (let type = 0; type <= types; type++) {
      const text = textByHand(rows, `T${type}`);
      expect([SEED, list, driverLines.textFor([`T${type}`])]).toEqual([SEED, list, text]);
      seen.add(text.replace(/\d+/g, ''));
    }
  }
  expect([...seen]).toEqual(
    expect.arrayContaining(['none', 'SS', 'SS, SS', 'SS (+), SS (+), SS (+) and  more']),
  );
});

it('are sorted by code unit if they label as many types', () => {
  const rows = ['b', 'B', 'a', 'é'].map((line) => ({ line, type: 'LC4', source: `of ${line}` }));
  const driverLines = new DriverLines([...rows, rows[0]!]);
  expect(driverLines.textFor(['LC4'])).toBe('B, a, b and 1 more');
  expect(driverLines.textFor(['LC4', 'LC6'])).toBe('B, a, b and 1 more; none');
  expect(driverLines.textFor([])).toBe('');
  expect(driverLines.sources).toEqual(['of B', 'of a', 'of b', 'of é']);
});

describe('the cell types of a row', () => {
  const typeOf = (id: string) => (id === '7' ? 'LC6' : undefined);

  it.each<[string, Parameters<typeof typesOfRow>[0], GroupLabels, readonly string[]]>([
    ['a group of a report', {}, { type: 'LC4', side: 'left' }, ['LC4']],
    ['a neuron of a report', { seed: 1 }, { root_id: '7' }, ['LC6']],
    ['a side', {}, { side: 'left' }, []],
    ['neurons without a type', {}, { type: '' }, []],
    ['a neuron that the model lacks', {}, { root_id: '8' }, []],
    ['a group in turn, not the readout', { silence: { type: 'LC4' } }, { type: 'X' }, ['LC4']],
    ['a neuron in turn', { silence: { root_id: '7' } }, {}, ['LC6']],
    ['the baseline', { silence: null }, { type: 'X' }, []],
    ['two groups in turn', { silence: { type: 'B' }, 'inputs.a': { type: 'A' } }, {}, ['B', 'A']],
    ['the same group twice', { silence: { type: 'B' }, 'inputs.a': { type: 'B' } }, {}, ['B']],
  ])('are those of %s', (_, parameters, group, expected) => {
    expect(typesOfRow(parameters, group, typeOf)).toEqual(expected);
  });
});

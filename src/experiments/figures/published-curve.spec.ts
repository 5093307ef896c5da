import type { ExperimentHead } from '../document/result.js';
import type { Figure } from './figure.js';
import { withPublished } from './published-curve.js';

const FIGURE: Figure = {
  label: '',
  note: 'Own.',
  sections: [
    {
      smallestWidth: 1,
      panels: [
        {
          title: 'MN9 (Hz)',
          height: 1,
          x: { label: '', domain: [10, 150] },
          y: { label: '', domain: [0, 20] },
          marks: [],
          legend: [
            { label: 'left', paint: 0 },
            { label: 'right', paint: 1 },
          ],
        },
      ],
    },
  ],
};

const INPUT = { module: 'poisson', node_set: '@sugar', rate_hz: 1, delay_ms: 0, duration_ms: 1000 };
const REPORT = { type: 'rate', node_set: '@MN9', start_ms: 0, end_ms: 1000 };

function published(neurons: number, sides: Record<string, number>, more: object = {}, figure = FIGURE) {
  const experiment = {
    inputs: { sweet: INPUT },
    reports: { MN9: REPORT },
    duration_ms: 1000,
    silence: [],
    sweep: [{ set: 'inputs.sweet.rate_hz', values: [10, 150] }],
    ...more,
  };
  const head = { experiment, resolved: { 'inputs.sweet': { neurons, sides } } };
  const { sections, note } = withPublished(figure, head as unknown as ExperimentHead);
  const { marks, legend, y } = sections[0]!.panels[0]!;
  return { marks, note, entry: legend!.at(-1)!, y };
}

it.each([
  ['left', 1, 0],
  ['right', 0, 1],
])('has rings for both sides if the sugar neurons are the published ones, %s', (side, other, same) => {
  const { marks, entry, note } = published(20, { [side]: 20 });
  expect(entry).toMatchObject({ label: 'published', sample: 'ring' });
  const rings = marks as unknown as readonly { paint: number; points: readonly number[][] }[];
  const ringsOf = (paint: number) =>
    rings.find((ring) => ring.paint === paint)!.points.map(([x, hz]) => [x, hz]);
  // MN9 on the other side responds more. Doses above those of the axis are left out.
  expect(ringsOf(other)).toEqual([
    [10, 0],
    [50, 19.4],
    [100, 65.7],
    [150, 83.7],
  ]);
  expect(ringsOf(same)).toEqual([[100, 49.7]]);
  expect(note).toMatch(/^Own\. Rings are from Shiu et al\. 2024/);
});

it('has no rings for lines of controls', () => {
  const [section] = FIGURE.sections;
  const [panel] = section!.panels;
  const legend = panel!.legend!.flatMap((entry) => [
    entry,
    { ...entry, label: `${entry.label}, controls (n = 20)` },
  ]);
  const figure = { ...FIGURE, sections: [{ ...section!, panels: [{ ...panel!, legend }] }] };
  expect(published(20, { left: 20 }, {}, figure).marks).toHaveLength(2);
});

it.each([
  ['more neurons', 105, { left: 105 }],
  ['both sides', 21, { left: 10, right: 11 }],
])('has one grey line, and says why, for %s', (_, neurons, sides) => {
  const { marks, entry, note, y } = published(neurons, sides);
  expect(marks).toMatchObject([{ mark: 'line', paint: 'muted' }]);
  expect(entry).toMatchObject({ label: 'published for other sugar neurons', paint: 'muted' });
  expect(y).toMatchObject({ domain: [0, 83.7] });
  expect(note).toContain(`${neurons} sugar neurons on ${Object.keys(sides).join(' and ')}`);
});

it('does not speak of numbers that no panel shows', () => {
  const values = [1, 2];
  const others = { sweep: [{ set: 'inputs.sweet.rate_hz', values }] };
  const [section] = FIGURE.sections;
  const [panel] = section!.panels;
  // None of the published doses lies on this axis.
  const narrow = { ...panel!, x: { label: '', domain: [1, 2] as const } };
  const other = { ...panel!, title: 'LC4 (Hz)' };
  for (const neurons of [20, 105]) {
    for (const drawn of [narrow, other]) {
      const figure = { ...FIGURE, sections: [{ ...section!, panels: [drawn] }] };
      expect(published(neurons, { left: neurons }, others, figure)).toMatchObject({
        marks: [],
        note: 'Own.',
      });
    }
  }
});

it('leaves other experiments as they are', () => {
  expect(published(20, { left: 20 }, { silence: ['LC4'] }).marks).toEqual([]);
  for (const input of [
    { node_set: '@bitter' },
    { scale: 0.2 },
    { module: 'background' },
    { delay_ms: 100, duration_ms: 900 },
  ]) {
    expect(published(20, { left: 20 }, { inputs: { sweet: { ...INPUT, ...input } } }).marks).toEqual([]);
  }
  for (const report of [{ node_set: 'LC4' }, { type: 'latency' }, { end_ms: 500 }]) {
    expect(published(20, { left: 20 }, { reports: { MN9: { ...REPORT, ...report } } }).marks).toEqual([]);
  }
});

it('knows MN9 by its selector and not by the name of the report', () => {
  const [section] = FIGURE.sections;
  const panels = [{ ...section!.panels[0]!, title: 'motor (Hz)' }];
  const figure = { ...FIGURE, sections: [{ ...section!, panels }] };
  expect(published(20, { left: 20 }, { reports: { motor: REPORT } }, figure).marks).toHaveLength(2);
});

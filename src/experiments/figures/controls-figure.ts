/** The rate of a group among those of its controls: how often shuffled brains come as far. */
import { extent } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import type { RateGroup } from '../kinds/reports/rate.js';
import { groupSuffix, otherSettingsText } from './condition-labels.js';
import type { FigureKind } from './figure-kind.js';
import { counted, type Mark, type Panel, rounded } from './figure.js';

const BINS = 24;
const PANEL_PX = 90;
const MAX_PANELS = 12;

export function controlsFigure({ controls, trials }: ExperimentDocument): FigureKind {
  return {
    name: 'measured among controls',
    table: 'rates',
    draw({ conditions }) {
      const panels = conditions.flatMap(({ groups, parameters }) =>
        Object.entries(groups).flatMap(([report, all]) =>
          (all as readonly RateGroup[]).flatMap((group) => {
            const title = `${report} ${groupSuffix(group)}`.trim();
            return panelOf(
              group,
              [title, otherSettingsText(parameters, [])].filter(Boolean).join(', '),
              trials,
            );
          }),
        ),
      );
      if (panels.length === 0) return undefined;
      return {
        label: `Rates among those of controls: ${panels.map(({ title }) => title).join('; ')}.`,
        sections: [{ panels: panels.slice(0, MAX_PANELS), smallestWidth: 380, largestWidth: 840 }],
        note:
          `Bars count the controls (${controls?.count ?? 0} brains with shuffled ${String(controls?.shuffle).replaceAll('_', ' ')}) by their rate; the line is the rate measured. p is the ` +
          'share of controls as far from the mean of all as the measured rate, or further; q is corrected for the groups.' +
          (panels.length > MAX_PANELS
            ? ` The first ${MAX_PANELS} of ${panels.length} groups are drawn.`
            : ''),
      };
    },
  };
}

function panelOf({ control, rate_hz: rate }: RateGroup, name: string, trials: number): Panel[] {
  const values = (control?.values ?? []).filter((value) => value !== null);
  if (control === undefined || rate === null || values.length === 0) return [];
  const measured = rate.mean;
  const [low, high] = extent([...values, measured]) as [number, number];
  const bin = Math.max(high - low, 1) / BINS;
  const counts = new Uint32Array(BINS);
  for (const value of values) counts[Math.min(BINS - 1, Math.floor((value - low) / bin))]!++;
  const top = Math.max(...counts);
  const bars = [...counts].flatMap((count, at): Mark[] => {
    if (count === 0) return [];
    const [from, to] = [low + at * bin, low + (at + 1) * bin];
    const title = `${counted(count, 'control')} from ${rounded(from)} to ${rounded(to)} Hz`;
    return [{ mark: 'rect', name: 'controls', x: [from, to], y: [0, count], paint: 1, title }];
  });
  const share = (value: number | null) =>
    value === null ? 'not known' : String(Number(value.toPrecision(2)));
  const tested = `p ${share(control.p)}, q ${share(control.q)}`;
  return [
    {
      title: `${name}: ${rounded(measured)} Hz, ${tested}`,
      height: PANEL_PX,
      x: { label: 'Mean rate (Hz)', domain: [low, low + BINS * bin] },
      y: { label: 'Controls', domain: [0, top], hasGrid: true },
      marks: [
        ...bars,
        { mark: 'line', name: 'measured', points: [0, top].map((end) => [measured, end]), paint: 0 },
        { mark: 'dots', points: [[measured, top, `${name}: ${rounded(measured)} Hz, ${tested}`]], paint: 0 },
      ],
      legend: [
        { label: `measured, mean of n = ${counted(trials, 'trial')}`, paint: 0 },
        { label: `controls, n = ${values.length}`, paint: 1, sample: 'bar' },
      ],
    },
  ];
}

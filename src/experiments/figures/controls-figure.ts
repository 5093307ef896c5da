/** The figure of a group's rate among those of its controls, which are shuffled brains or other neurons. */
import { extent } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import { controlWords, rewiringOf } from '../kinds/controls.js';
import type { RateGroup } from '../kinds/reports/rate.js';
import { groupSuffix, otherSettingsText } from './condition-labels.js';
import { type FigureKind, type FoundCondition, sentences } from './figure-kind.js';
import { chanceText, counted, type Mark, type Panel, rounded } from './figure.js';

const BINS = 24;
const PANEL_PX = 90;
const MAX_PANELS = 12;

export function controlsFigure({ controls, trials }: ExperimentDocument): FigureKind {
  const isRewired = controls !== undefined && rewiringOf(controls) !== undefined;
  const subject = isRewired ? 'this wiring' : 'these neurons';
  return {
    name: `${subject} among controls`,
    table: 'rates',
    draw({ conditions }) {
      const panels = conditions.flatMap((condition) =>
        ratesIn(condition).flatMap(([report, group]) => {
          const title = `${report} ${groupSuffix(group)}`.trim();
          const beside = otherSettingsText(condition.parameters, []);
          return panelOf(group, [title, beside].filter(Boolean).join(', '), subject, trials);
        }),
      );
      if (panels.length === 0) return undefined;
      return {
        label: `Rates among those of controls: ${panels.map(({ title }) => title).join('; ')}.`,
        sections: [{ panels: panels.slice(0, MAX_PANELS), smallestWidth: 380, largestWidth: 840 }],
        note: sentences(
          `Bars count the controls (${controls && controlWords(controls)}) by their rate; the line is the rate with ${subject}.`,
          `p is the share of controls, with ${subject} among them, as far from the mean of all, or further; q is corrected for the groups.`,
          leastP(conditions),
          panels.length > MAX_PANELS && `The first ${MAX_PANELS} of ${panels.length} groups are drawn.`,
        ),
      };
    },
  };
}

function ratesIn({ groups }: FoundCondition): (readonly [report: string, group: RateGroup])[] {
  return Object.entries(groups).flatMap(([report, all]) =>
    (all as readonly RateGroup[]).map((group) => [report, group] as const),
  );
}

/** The p of a group if no control is as far: more controls could make it smaller. */
function leastP(conditions: readonly FoundCondition[]): string | false {
  for (const [, { control }] of conditions.flatMap(ratesIn)) {
    const least = 1 / (1 + (control?.values.length ?? 0));
    if (control?.p == null || control.p > least * (1 + Number.EPSILON)) continue;
    return `p ${chanceText(least)} is the smallest that ${counted(control.values.length, 'control')} allow.`;
  }
  return false;
}

function panelOf(
  { control, rate_hz: rate }: RateGroup,
  name: string,
  subject: string,
  trials: number,
): Panel[] {
  const values = (control?.values ?? []).filter((value) => value !== null);
  if (control === undefined || rate === null || values.length === 0) return [];
  const measuredHz = rate.mean;
  const [low, high] = extent([...values, measuredHz]) as [number, number];
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
  const areSilent = values.every((value) => value === 0);
  const title = `${name}: ${rounded(measuredHz)} Hz, p ${chanceText(control.p)}, q ${chanceText(control.q)}`;
  return [
    {
      title,
      height: PANEL_PX,
      x: { label: 'Mean rate (Hz)', domain: [low, low + BINS * bin] },
      y: { label: 'Controls', domain: [0, top], hasGrid: true },
      marks: [
        ...bars,
        { mark: 'line', name: 'own', points: [0, top].map((end) => [measuredHz, end]), paint: 0 },
        { mark: 'dots', points: [[measuredHz, top, title]], paint: 0 },
      ],
      legend: [
        { label: `${subject}, mean of n = ${counted(trials, 'trial')}`, paint: 0 },
        {
          label: `${areSilent ? 'all controls are silent' : 'controls'}, n = ${values.length}`,
          paint: 1,
          sample: 'bar',
        },
      ],
    },
  ];
}

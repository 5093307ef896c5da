/** The figure of a group's rate among those of its controls, which are shuffled brains or matched neurons. */
import { extent } from 'd3-array';
import { mapped } from '../../engine/mapped.js';
import type { ExperimentDocument } from '../document/document.js';
import { controlWords, rewiringOf } from '../kinds/controls.js';
import type { RateGroup } from '../kinds/reports/rate.js';
import { groupSuffix, namedValue, otherSettingsText, scopeOfQ, withType } from './condition-labels.js';
import { type FigureKind, type Findings, sentences } from './figure-kind.js';
import { chanceText, counted, type Mark, type Panel, rounded } from './figure.js';
import { highestFirst } from './measured-entries.js';

const BINS = 24;
const PANEL_PX = 90;
const MAX_PANELS = 12;

export function controlsFigure(experiment: ExperimentDocument): FigureKind {
  const { controls, trials } = experiment;
  const isRewired = controls !== undefined && rewiringOf(controls) !== undefined;
  const subject = isRewired ? 'this wiring' : 'these neurons';
  return {
    name: `${subject} among controls`,
    table: 'rates',
    draw(findings) {
      const { shown, all } = comparisonsOf(findings, MAX_PANELS);
      if (shown.length === 0) return undefined;
      const panels = shown.map((each) => panelOf(each, subject, trials));
      return {
        label: `Rates among those of controls: ${panels.map(({ title, numbers }) => `${title}: ${numbers}`).join('; ')}.`,
        sections: [{ panels, smallestWidth: 340, largestWidth: 840 }],
        note: sentences(
          `Bars count the controls (${controls && controlWords(controls)}) by their rate; the line is the rate with ${subject}.`,
          `p is the share of controls, with ${subject} among them, as far from the mean of all, or further.`,
          scopeOfQ(experiment),
          shown.some(({ control }) => control.incomplete.length > 0) &&
            'Controls that the limit on synaptic events stopped have no bar; p counts them as further.',
          shown.some(({ control }) => control.compared !== undefined) && 'Equal sets of neurons count once.',
          !isRewired && 'If too few neurons match, the answer says so with MATCH_WIDENED.',
          leastP(shown),
          all > shown.length &&
            `The ${shown.length} of ${all} groups with the lowest p are drawn; of equal p, those furthest from the mean of their controls.`,
        ),
      };
    },
  };
}

/** The groups that have controls; if they are more than `most`, those with the lowest p, then the furthest from their controls. */
export function comparisonsOf({ conditions, typeOf }: Pick<Findings, 'conditions' | 'typeOf'>, most: number) {
  const all = conditions.flatMap((condition) =>
    Object.entries(condition.groups).flatMap(([report, groups]) =>
      (groups as readonly RateGroup[]).flatMap((group) => {
        const { control, rate_hz: rate } = group;
        if (control === undefined || rate === null || control.values.every((value) => value === null))
          return [];
        return [{ report, condition, group, rate, control }];
      }),
    ),
  );
  const distance = ({ rate, control }: (typeof all)[number]) => Math.abs(rate.mean - (control.mean ?? 0));
  const ranked =
    all.length > most ? highestFirst(all, most, ({ control }) => -(control.p ?? 1), distance) : all;
  const shown = ranked.map(({ report, condition, group, rate, control }) => ({
    /** The report and labels of the group. */
    name: `${report} ${groupSuffix(withType(group, typeOf))}`.trim(),
    parameters: mapped(condition.parameters, (value) => namedValue(value, typeOf)),
    rate,
    control,
  }));
  return { shown, all: all.length };
}

/** A group in a condition, with its controls. */
type Comparison = ReturnType<typeof comparisonsOf>['shown'][number];

/** The p of a group if no control is as far: more controls could make it smaller. */
function leastP(shown: readonly Comparison[]): string | false {
  for (const { control } of shown) {
    const { compared = control.values.length } = control;
    const least = 1 / (1 + compared);
    if (control.p === null || control.p > least * (1 + Number.EPSILON)) continue;
    return `p ${chanceText(least)} is the smallest that ${counted(compared, 'control')} allow.`;
  }
  return false;
}

function panelOf({ name, parameters, rate, control }: Comparison, subject: string, trials: number): Panel {
  const values = control.values.filter((value) => value !== null);
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
  const title = [name, otherSettingsText(parameters, [])].filter(Boolean).join(', ');
  const numbers = `${rounded(measuredHz)} Hz, p ${chanceText(control.p)}, q ${chanceText(control.q)}`;
  return {
    title,
    numbers,
    height: PANEL_PX,
    x: { label: 'Mean rate (Hz)', domain: [low, low + BINS * bin] },
    y: { label: 'Controls', domain: [0, top], hasGrid: true },
    marks: [
      ...bars,
      { mark: 'line', name: 'own', points: [0, top].map((end) => [measuredHz, end]), paint: 0 },
      { mark: 'dots', points: [[measuredHz, top, `${title}: ${numbers}`]], paint: 0 },
    ],
    legend: [
      { label: `${subject}, mean of n = ${counted(trials, 'trial')}`, paint: 0 },
      {
        label: `${areSilent ? 'all controls are silent' : 'controls'}, n = ${values.length}`,
        paint: 1,
        sample: 'bar',
      },
    ],
  };
}

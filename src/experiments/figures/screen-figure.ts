/** The figures of a screen, which silences or stimulates groups in turn: changes from the baseline, and numbers. */
import { count, descending, max, sort } from 'd3-array';
import type { EachAxis } from '../kinds/axes/each.js';
import { rounded as nineDigits } from '../kinds/mean-sd.js';
import { editKindOf } from '../kinds/edit-kinds.js';
import { conditionLabel, groupLabel, namedValue, settingText, withType } from './condition-labels.js';
import {
  otherSettingsChoice,
  type Choice,
  type Chosen,
  type FigureKind,
  type Findings,
  sentences,
  wide,
} from './figure-kind.js';
import { counted, type LegendEntry, rounded } from './figure.js';
import {
  activityOf,
  changeOf,
  entriesOf,
  type Entry,
  findingsAt,
  groupsIn,
  MAX_ROWS,
  type Measured,
  sampleSize,
  SPREAD,
} from './measured-entries.js';
import { changeOfMean, halfInterval, type PairedDifference, pairedDifference } from './paired-difference.js';
import { type Bar, barsPanel, meanBar } from './panels.js';

const MAX_BARS = 40;
/** A note names this number of conditions at most. */
const MAX_NAMED = 5;
const LEVEL = 0.95;

/** A screen of changes of the network opens on paired differences, if there are trials to compare. */
export function screenFigures(axis: EachAxis, measure: Measured, trials: number): FigureKind[] {
  const screen = screenOf(axis, measure);
  const numbers = numbersFigure(screen);
  return screen.edited === undefined || trials < 2 ? [numbers] : [changesFigure(screen), numbers];
}

/** The rows and choices of both figures. */
function screenOf(axis: EachAxis, measure: Measured) {
  const edited = editKindOf(axis.as)?.groups;
  const choices = (findings: Findings, chosen: Chosen): readonly Choice[] => {
    // A report has no groups if this brain has none of its neurons.
    const values = measure.reports.filter((each) => groupsIn(findings.conditions[0], each).length > 0);
    const report: Choice = { name: 'report', label: 'Report', values, inFile: 3 };
    const ofReport = groupsIn(findings.conditions[0], chosen(report));
    const group = {
      name: 'group',
      label: 'Group',
      values: [...new Set(ofReport.map((each) => groupLabel(withType(each, findings.typeOf))))],
      inFile: 3,
    };
    return [report, group, otherSettingsChoice(findings, [axis.as])];
  };

  return {
    axis,
    measure,
    edited,
    choices,
    /** Ranks conditions: the baseline, then by the largest change or the strongest response. */
    ranked(findings: Findings, chosen: Chosen) {
      const [report, group, beside] = choices(findings, chosen).map(chosen) as [string, string, string];
      const at = groupsIn(findings.conditions[0], report).findIndex(
        (each) => groupLabel(withType(each, findings.typeOf)) === group,
      );
      const all = findingsAt(findings, [axis.as], chosen).conditions.flatMap((condition) => {
        const group = groupsIn(condition, report)[at];
        return group === undefined
          ? []
          : entriesOf({ report, condition, group }, measure, findings).slice(0, 1);
      });
      const baseline = all.find(({ condition }) => condition.parameters[axis.as] === null);
      const rank = ({ group, condition }: Entry) =>
        edited && baseline !== undefined
          ? changeOf(measure, baseline.group, group, condition.complete)
          : activityOf(measure, group);
      const others = all.filter((entry) => entry !== baseline).sort((a, b) => descending(rank(a), rank(b)));
      return { baseline, others, beside, what: group === 'all' ? report : `${report} ${group}` };
    },

    labelOf({ condition }: Entry, { typeOf }: Findings): string {
      return conditionLabel(axis.as, namedValue(condition.parameters[axis.as]!, typeOf));
    },
  };
}

type Screen = ReturnType<typeof screenOf>;

/**
 * Sentences about conditions that a figure does not show.
 * @param drawn number of those that it shows, of `all` with numbers to show
 * @param without those that have none
 */
function notDrawn(
  { measure, edited, labelOf }: Screen,
  drawn: number,
  all: number,
  without: readonly Entry[],
  findings: Findings,
): string {
  const done = edited?.done ?? 'stimulated';
  const named = (entries: readonly Entry[], sentence: string) => {
    const names = entries.slice(0, MAX_NAMED).map((entry) => labelOf(entry, findings));
    const others = entries.length > MAX_NAMED ? ' and others' : '';
    const groups = counted(entries.length, 'group');
    return entries.length > 0 && `${sentence} with ${groups} ${done}: ${names.join(', ')}${others}.`;
  };
  const stopped = without.filter(({ condition }) => !condition.complete);
  const [silent, few] = [true, false].map((isSilent) =>
    without.filter(({ condition, value }) => condition.complete && (value === null) === isSilent),
  ) as [Entry[], Entry[]];
  const { unchanged } = findings;
  return sentences(
    named(silent, `No trial has a ${measure.label.toLowerCase()}`),
    named(few, 'Fewer than two trials can be compared'),
    named(stopped, 'The limit on synaptic events stopped trials'),
    all > drawn && `${drawn} of ${all} groups are drawn; the table has all.`,
    unchanged > 0 &&
      `Conditions that were not run: ${unchanged}, as ${edited?.unchanged ?? 'their groups change nothing'}.`,
  );
}

function changesFigure(screen: Screen): FigureKind {
  const { measure, edited, axis } = screen;
  const none = settingText(axis.as, null);
  return {
    name: `change of ${measure.name}`,
    table: measure.table,
    choices: screen.choices,
    draw(findings, chosen) {
      const { baseline, others, beside, what } = screen.ranked(findings, chosen);
      const before = baseline?.value?.trials ?? [];
      const without: Entry[] = [];
      const paired = others.flatMap((entry) => {
        const difference = pairedDifference(entry.value?.trials ?? [], before);
        if (difference === undefined) without.push(entry);
        return difference === undefined ? [] : [{ label: screen.labelOf(entry, findings), ...difference }];
      });
      if (paired.length === 0) return undefined;
      const largest = sort(paired, ({ mean }) => -nineDigits(Math.abs(mean)));
      const bars = largest.slice(0, MAX_BARS).map((each) => {
        const note =
          each.pairs < before.length ? `, ${each.pairs} of ${counted(before.length, 'trial')}` : '';
        const half = halfInterval(each, 1 - (1 - LEVEL) / paired.length) ?? Infinity;
        return changeBar(each, note, Math.abs(each.mean) > half, measure.unit);
      });
      const label = `Change of ${measure.label.toLowerCase()} of ${what} (${measure.unit}), with a group ${edited!.done}`;
      return {
        label: `${label}; the table has the numbers.`,
        sections: [wide([barsPanel(beside, bars, label, [0], LEGEND_OF_CHANGES, 0)])],
        note: sentences(
          `Bars are mean differences from ${none}, trial by trial with the same input events; lines are 95 % intervals of Student’s t.`,
          `Bars in colour differ from 0 also if the intervals cover all ${counted(paired.length, 'group')} at once (Bonferroni).`,
          bars.some(({ spread }) => spread.length === 0) &&
            'Differences that are equal in all trials allow no interval.',
          bars.length > 1 && 'The largest change comes first.',
          notDrawn(screen, bars.length, paired.length, without, findings),
        ),
      };
    },
  };
}

/** The number of trials that have the number. */
function sizeOf(value: Entry['value']): number {
  return count(value?.trials ?? []);
}

const LEGEND_OF_CHANGES: readonly LegendEntry[] = [
  { label: 'lower, after correction', paint: 0, sample: 'bar' },
  { label: 'higher', paint: 1, sample: 'bar' },
  { label: 'not after correction', paint: 'muted', sample: 'bar' },
  { label: '95 % interval', paint: 'text' },
];

/**
 * @param among says how many trials are compared, unless these are all
 * @param survives true if its interval excludes 0 after correction
 */
function changeBar(
  { label, ...difference }: PairedDifference & { readonly label: string },
  among: string,
  survives: boolean,
  unit: string,
) {
  const { mean } = difference;
  const half = halfInterval(difference, LEVEL);
  const spread = half === undefined ? [] : [mean - half, mean + half];
  const note = `${signed(mean)} (${spread.map(signed).join(' to ') || 'no interval'}${among})`;
  return {
    label,
    note,
    title: `${label}: ${note} ${unit}${survives ? ', also after correction' : ''}`,
    name: survives ? 'bar survives' : 'bar',
    ends: [Math.min(0, mean), Math.max(0, mean)],
    spread,
    paint: !survives ? 'muted' : mean < 0 ? 0 : 1,
  } as const;
}

/** `+1.5`, `−0.3`, `0`. */
function signed(value: number): string {
  return `${value < 0 ? '−' : value > 0 ? '+' : ''}${rounded(Math.abs(value))}`;
}

function numbersFigure(screen: Screen): FigureKind {
  const { measure, edited, axis } = screen;
  const none = settingText(axis.as, null);
  return {
    ...measure,
    choices: screen.choices,
    rows(findings, chosen) {
      const { baseline, others } = screen.ranked(findings, chosen);
      const all = baseline === undefined ? others : [baseline, ...others];
      return { shown: all.slice(0, MAX_ROWS), all: all.length };
    },
    draw(findings, chosen) {
      const { baseline, others, beside, what } = screen.ranked(findings, chosen);
      const entries = others.filter(({ value }) => value !== null);
      const without = others.filter(({ value }) => value === null);
      if (entries.length === 0 && baseline?.value == null) return undefined;
      const shown = entries.slice(0, MAX_BARS);
      const most = max([...(baseline ? [baseline] : []), ...entries], ({ value }) => sizeOf(value)) ?? 0;
      const bars = [...(baseline?.value ? [baseline] : []), ...shown].map((entry): Bar => {
        const n = sizeOf(entry.value);
        const change = baseline?.value && changeOfMean(entry.value!, baseline.value);
        const paint = !baseline?.value ? 0 : !change ? 'muted' : change < 0 ? 0 : 1;
        const name = screen.labelOf(entry, findings);
        return { ...meanBar(name, entry.value!, measure.unit, n < most ? n : undefined, change ?? 0), paint };
      });
      // If no group has a number, there is only the bar of the baseline.
      const n = sampleSize((entries.length > 0 ? entries : [baseline!]).map(({ value }) => sizeOf(value)));
      const legend: LegendEntry[] =
        baseline?.value == null
          ? [{ label: `mean, ${n}`, paint: 0, sample: 'bar' }, SPREAD]
          : [
              { label: `lower than with ${none}, ${n}`, paint: 0, sample: 'bar' },
              { label: 'higher', paint: 1, sample: 'bar' },
              SPREAD,
              { label: none, paint: 'text', dash: '4 3' },
            ];
      const label = `${measure.label} of ${what} (${measure.unit}), with a group ${edited?.done ?? 'stimulated'}`;
      return {
        label: `${label}; the table has the numbers.`,
        sections: [wide([barsPanel(beside, bars, label, [0, 1], legend, baseline?.value?.mean)])],
        note: sentences(
          'Bars are means over the trials, with one population standard deviation.',
          !!baseline?.value &&
            [baseline, ...shown].some(({ value }) => sizeOf(value) < most) &&
            'Changes are those in the trials that have both numbers.',
          `The ${edited && baseline?.value ? 'largest change' : (measure.lowest ?? 'highest')} comes first.`,
          notDrawn(screen, shown.length, entries.length, without, findings),
        ),
      };
    },
  };
}

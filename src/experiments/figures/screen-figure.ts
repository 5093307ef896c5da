/** The figures of a screen, which silences or stimulates groups in turn: changes from the baseline, and numbers. */
import { count, descending, max, min, sort } from 'd3-array';
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
import { counted, type LegendEntry, type Mark, type Panel, rounded } from './figure.js';
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
import { changeOfMean, halfInterval, pairedDifference } from './paired-difference.js';
import { barsPanel, ROW_PX, type Bar } from './panels.js';

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
      const shown = largest.slice(0, MAX_BARS).map((each): Change => ({
        ...each,
        note: each.pairs < before.length ? `, ${each.pairs} of ${counted(before.length, 'trial')}` : '',
        half: halfInterval(each, LEVEL),
        survives: Math.abs(each.mean) > (halfInterval(each, 1 - (1 - LEVEL) / paired.length) ?? Infinity),
      }));
      const label = `Change of ${measure.label.toLowerCase()} of ${what} (${measure.unit}), with a group ${edited!.done}`;
      return {
        label: `${label}; the table has the numbers.`,
        sections: [wide([changesPanel(beside, shown, label, measure.unit)])],
        note: sentences(
          `Bars are mean differences from ${none}, trial by trial with the same input events; lines are 95 % intervals of Student’s t.`,
          `Bars in colour differ from 0 also if the intervals cover all ${counted(paired.length, 'group')} at once (Bonferroni).`,
          shown.some(({ half }) => half === undefined) &&
            'Differences that are equal in all trials allow no interval.',
          shown.length > 1 && 'The largest change comes first.',
          notDrawn(screen, shown.length, paired.length, without, findings),
        ),
      };
    },
  };
}

/** The number of trials that have the number. */
function sizeOf(value: Entry['value']): number {
  return count(value?.trials ?? []);
}

interface Change {
  readonly label: string;
  readonly mean: number;
  /** Number of trials that are compared, unless these are all. */
  readonly note: string;
  /** Half the width of its interval; undefined if it has none. */
  readonly half: number | undefined;
  /** True if its interval excludes 0 after correction. */
  readonly survives: boolean;
}

function changesPanel(title: string, changes: readonly Change[], label: string, unit: string): Panel {
  const endsOf = ({ mean, half }: Change) => (half === undefined ? [] : [mean - half, mean + half]);
  const textOf = (change: Change) =>
    `${signed(change.mean)} (${endsOf(change).map(signed).join(' to ') || 'no interval'}${change.note})`;
  const intervalOf = (change: Change, row: number): Mark => ({
    mark: 'line',
    points: endsOf(change).map((end) => [end, row + 0.5] as const),
    paint: 'text',
  });
  const marks = changes.flatMap((change, row): Mark[] => {
    const { mean, half, survives } = change;
    return [
      {
        mark: 'rect',
        name: survives ? 'bar survives' : 'bar',
        x: [Math.min(0, mean), Math.max(0, mean)],
        y: [row + 0.18, row + 0.82],
        paint: !survives ? 'muted' : mean < 0 ? 0 : 1,
        title: `${change.label}: ${textOf(change)} ${unit}${survives ? ', also after correction' : ''}`,
      },
      ...(half === undefined ? [] : [intervalOf(change, row)]),
    ];
  });
  const baseline = [0, changes.length].map((row) => [0, row] as const);
  const ends = [0, ...changes.flatMap((change) => [change.mean, ...endsOf(change)])];
  return {
    title,
    height: ROW_PX * changes.length,
    x: { label, domain: [min(ends)!, max(ends)!], hasGrid: true },
    y: { label: '', bands: changes.map((change) => ({ label: change.label, note: textOf(change) })) },
    marks: [...marks, { mark: 'line', name: 'baseline', points: baseline, paint: 'text', dash: '4 3' }],
    legend: [
      { label: 'lower, after correction', paint: 0, sample: 'bar' },
      { label: 'higher', paint: 1, sample: 'bar' },
      { label: 'not after correction', paint: 'muted', sample: 'bar' },
      { label: '95 % interval', paint: 'text' },
    ],
  };
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
      const barOf = (entry: Entry): Bar => {
        const { mean, sd } = entry.value!;
        const n = sizeOf(entry.value);
        const change = baseline?.value ? changeOfMean(entry.value!, baseline.value) : undefined;
        return { label: screen.labelOf(entry, findings), mean, sd, change, ...(n < most && { n }) };
      };
      const bars = [...(baseline?.value ? [baseline] : []), ...shown].map(barOf);
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
      const line = baseline?.value ? barOf(baseline) : undefined;
      return {
        label: `${label}; the table has the numbers.`,
        sections: [wide([barsPanel(beside, bars, line, label, measure.unit, legend)])],
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

/** Figures of numbers of groups: bars, curves, heat maps, screens. */
import { group as grouped, max, min } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import type { EachAxis } from '../kinds/axes/each.js';
import type { SetAxis } from '../kinds/axes/set.js';
import type { Measure } from '../kinds/report-kind.js';
import { parameterLabel } from './condition-labels.js';
import { type FigureKind, type FoundCondition, sentences, wide } from './figure-kind.js';
import { counted, MAX_SERIES, type LegendEntry } from './figure.js';
import { heatMapFigure } from './heat-map-figure.js';
import {
  entriesOf,
  highestOf,
  leftOut,
  type Measured,
  measuredIn,
  nameOf,
  rowsOf,
  sampleSize,
  seriesName,
  SPREAD,
  trialsOf,
  valueOf,
  withoutSilent,
} from './measured-entries.js';
import { barsPanel, curvesPanel, type Bar, type Series } from './panels.js';
import { screenFigures } from './screen-figure.js';
import { own } from '../../engine/own.js';

const MAX_BARS = 40;

export function measureFigures(experiment: ExperimentDocument, of: Measure): FigureKind[] {
  const measure = measuredIn(experiment, of);
  const axes = experiment.sweep ?? [];
  const each = axes.find((axis): axis is EachAxis => 'each' in axis);
  if (each !== undefined) return screenFigures(each, measure, experiment.trials);
  const sets = axes.filter((axis): axis is SetAxis => 'set' in axis);
  const [x, y] = sets.filter(({ values }) => values.length > 1);
  if (x !== undefined && y !== undefined) {
    const curvesOfMap = curvesFigure(x, { ...measure, name: `${measure.name} as curves` });
    return [heatMapFigure(x, y, measure), curvesOfMap];
  }
  const dose = x ?? sets[0];
  if (dose === undefined) return [groupsFigure(measure)];
  const inOrder = (a: FoundCondition, b: FoundCondition) => valueOf(a, dose) - valueOf(b, dose);
  return [
    {
      ...curvesFigure(dose, measure),
      rows: ({ conditions }) => rowsOf(measure, [...conditions].sort(inOrder)),
    },
  ];
}

/** Curves over a swept parameter: a series for each group and each value of the other axes. */
function curvesFigure(axis: SetAxis, measure: Measured): FigureKind {
  const { unit } = measure;
  const xLabel = parameterLabel(axis.set);
  return {
    ...measure,
    draw({ conditions }) {
      const all = measure.reports.map((report) => {
        const entries = entriesOf(report, measure, conditions).filter(({ value }) => value !== null);
        const named = grouped(entries, (entry) => seriesName(entry, [axis.set]));
        const series = Array.from(named, ([label, entriesOfLine]): Series => ({
          label,
          // Controls have the colour of the line that they belong to.
          likeLine: seriesName({ ...entriesOfLine[0]!, isOfControls: undefined }, [axis.set]),
          points: entriesOfLine
            .map(({ condition, value }) => ({
              x: valueOf(condition, axis),
              mean: value!.mean,
              sd: value!.sd,
            }))
            .sort((a, b) => a.x - b.x),
        }));
        const shown = mostChanging(series);
        return { report, entries, series: shown, all: series.length, highest: highestOf(entries) };
      });
      const { drawn, silent } = withoutSilent(all);
      const n = sampleSize(drawn.flatMap(({ entries }) => entries));
      const panels = drawn
        .filter(({ series }) => series.length > 0)
        .map(({ report, series }) =>
          curvesPanel(`${report} (${unit})`, series, xLabel, unit, { n, hasTickAtEachX: true }),
        );
      if (panels.length === 0) return undefined;
      return {
        label: `${panels.map(({ title }) => title).join(', ')} over ${xLabel}; the table has the numbers.`,
        sections: [{ panels, smallestWidth: 420, largestWidth: 840 }],
        note: sentences(
          'Lines are means over the trials, bands one population standard deviation.',
          ...drawn.map(({ series }) => equalSeries(series)),
          silent,
          ...drawn.map(
            ({ report, series: { length }, all: of }) =>
              of > length &&
              `Of ${report} the ${length} of ${of} lines that change most are drawn; the table has all.`,
          ),
        ),
      };
    },
  };
}

/** Selects as many lines as readers can tell apart: those that change most; of equal changes, the higher ones. Skips silent lines, unless all are. */
function mostChanging(series: readonly Series[]): readonly Series[] {
  if (series.length <= MAX_SERIES) return series;
  const ranked = series.map((each) => {
    const highest = max(each.points, ({ mean }) => mean) ?? 0;
    return { each, highest, change: highest - (min(each.points, ({ mean }) => mean) ?? 0) };
  });
  const active = ranked.filter(({ highest }) => highest > 0);
  const chosen = (active.length > 0 ? active : ranked)
    .sort((a, b) => b.change - a.change || b.highest - a.highest)
    .slice(0, MAX_SERIES)
    .map(({ each }) => each);
  return series.filter((each) => chosen.includes(each));
}

/** A note that names identical lines, if there are any. */
function equalSeries(series: readonly Series[]): string | false {
  const named = grouped(series, ({ points }) => JSON.stringify(points));
  const equal = [...named.values()].filter((alike) => alike.length > 1);
  return equal.map((alike) => `Equal: ${alike.map(({ label }) => label).join('; ')}.`).join(' ') || false;
}

function groupsFigure(measure: Measured): FigureKind {
  return {
    ...measure,
    rows: ({ conditions }) => rowsOf(measure, conditions.slice(0, 1)),
    draw({ conditions }) {
      const entries = measure.reports
        .flatMap((report) => entriesOf(report, measure, conditions.slice(0, 1)))
        .filter(({ value }) => value !== null);
      const maxTrials = max(entries, (entry) => (entry.isOfControls ? 0 : trialsOf(entry))) ?? 0;
      const bars = entries.map((entry): Bar => {
        const { mean, sd, trials } = entry.value!;
        const values = trials.filter((each) => each !== null);
        const n = values.length === maxTrials && !entry.isOfControls ? {} : { n: values.length };
        return { label: nameOf(entry.report, entry), mean, sd, trials: values, ...n };
      });
      // Controls stay beside their group even if they are silent.
      const activeGroups = new Set(entries.filter(({ value }) => value!.mean > 0).map(({ group }) => group));
      const active = bars.filter((_, at) => activeGroups.has(entries[at]!.group));
      const hasControls = measure.reports.some((report) =>
        own(conditions[0]?.groups, report)?.some((group) => 'control' in group),
      );
      const shown = (active.length === 0 ? bars : active).slice(0, MAX_BARS);
      if (shown.length === 0) return undefined;
      const silent = active.length === 0 ? 0 : bars.length - active.length;
      const label = `${measure.label} (${measure.unit})`;
      const legend: LegendEntry[] = [
        { label: `mean, n = ${counted(maxTrials, 'trial')}`, paint: 0, sample: 'bar' },
        SPREAD,
        { label: hasControls ? 'one trial, or control' : 'one trial', paint: 'text', sample: 'ring' },
      ];
      return {
        label: `${label}; the table has the numbers.`,
        sections: [wide([barsPanel('', shown, undefined, label, measure.unit, legend)])],
        note: sentences(
          'Bars are means over the trials, with one population standard deviation; each ring is a trial.',
          hasControls &&
            'Those of controls are means over the controls, and each of their rings is a control.',
          leftOut(silent, 'silent'),
          active.length > shown.length &&
            `${shown.length} of ${active.length} groups are drawn; the table has all.`,
        ),
      };
    },
  };
}

/** What can be drawn of an experiment, and how. */
import type { EachAxis, ExperimentDocument, SetAxis } from '../../../answers/v2/document.js';
import type { TableName } from '../../../answers/v2/formats/formats.js';
import type { ExperimentHead, ExperimentTotals } from '../../../answers/v2/result.js';
import { heatAxesOf, heatMapsOf, withoutSilent } from '../../../plot/heat-map.js';
import { besideText, groupLabel, groupSuffix, parameterLabel } from '../../../plot/condition-labels.js';
import { grouped } from '../dom.js';
import type { NeuronIndex } from '../service/neuron-labels.js';
import type { ConditionLine } from '../service/open-experiments.js';
import { type Bar, barsFigure } from './bars-figure.js';
import { curvesFigure } from './curves-figure.js';
import { MOST_SERIES, type Palette } from './figure.js';
import { heatMapFigure } from './heat-map-figure.js';
import { rasterFigure, type RasterPanel } from './raster-figure.js';
import {
  choicesBeside,
  columnsOf,
  doseSeries,
  eachAxisOf,
  groupNames,
  groupsOf,
  rankingOf,
  type RasterRows,
  rasterRows,
  rateReports,
  setAxisOf,
  tableReports,
  timeSeries,
} from './readings.js';

const MOST_BARS = 40;
/** Of a raster: with more a page becomes slow, and single spikes are not seen. */
const MOST_MARKS = 20_000;
/** With more rows a raster shows one trial at a time. */
const MOST_ROWS_OF_TRIALS = 120;
const ALL_TRIALS = 'all';

/** What an experiment has given so far; at least one condition. */
export interface Findings {
  readonly head: ExperimentHead;
  readonly conditions: readonly ConditionLine[];
  readonly totals: ExperimentTotals | undefined;
  /** Nothing while it is not known which neurons the ids are. */
  readonly neurons: NeuronIndex | undefined;
}

/** Something of a figure that its reader chooses; the first value unless another is chosen. */
export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
}

/** What the reader has chosen. */
export type Chosen = (choice: Choice) => string;

export interface Figure {
  readonly drawn: SVGSVGElement;
  readonly note: string;
}

export interface FigureKind {
  readonly name: string;
  /** Has the numbers of the figure. */
  readonly table: TableName;
  choices(findings: Findings, chosen: Chosen): readonly Choice[];
  /** @returns nothing where there is nothing to draw yet */
  draw(findings: Findings, chosen: Chosen, width: number, palette: Palette): Figure | undefined;
}

/** The first is the one that says most. */
export function figuresOf(experiment: ExperimentDocument): readonly FigureKind[] {
  const types = new Set(Object.values(experiment.reports).map(({ type }) => type));
  const hasRates = types.has('rate') || types.has('histogram');
  return [
    ...(hasRates ? rateFigures(experiment) : []),
    ...(types.has('histogram') ? [IN_TIME] : []),
    ...(types.has('spikes') || types.has('inputs') ? [raster(types.has('spikes'))] : []),
  ];
}

function rateFigures(experiment: ExperimentDocument): readonly FigureKind[] {
  const each = eachAxisOf(experiment);
  if (each !== undefined) return [screen(each)];
  const dose = setAxisOf(experiment);
  if (dose === undefined) return [GROUPS];
  const axes = heatAxesOf(experiment);
  return axes === undefined
    ? [curves(dose, 'mean rates')]
    : [heatMap(axes), curves(axes[0], 'mean rates as curves')];
}

function atChoice({ conditions }: Findings, shown: readonly string[]): Choice {
  return { name: 'beside', label: 'At', values: choicesBeside(conditions, shown) };
}

function heatMap(axes: readonly [SetAxis, SetAxis]): FigureKind {
  const shown = axes.map(({ set }) => set);
  return {
    name: 'mean rates',
    table: 'rates',
    choices: (findings) => [atChoice(findings, shown)],
    draw(findings, chosen, width, palette) {
      const { head, conditions } = findings;
      const beside = chosen(atChoice(findings, shown));
      const those = conditions.filter((condition) => besideText(condition.parameters, shown) === beside);
      const all = rateReports(head.experiment).map((report) => {
        const readings = those.map((condition) => ({
          parameters: condition.parameters,
          groups: groupsOf(condition, report),
        }));
        return heatMapsOf(report, axes, readings, groupSuffix);
      });
      const drawn = withoutSilent(all);
      const silent = all.filter((maps) => !drawn.includes(maps)).map(({ report }) => report);
      const omitted = drawn.reduce((sum, maps) => sum + maps.omitted, 0);
      const notes = [
        'Colours are means over the trials. Point at a cell, tap it or go there with the arrow keys for its rate and ' +
          'standard deviation.',
        ...(silent.length > 0 ? [`Silent: ${silent.join(', ')}.`] : []),
        ...(omitted > 0 ? [`${omitted} less active groups are left out; the table has them.`] : []),
      ];
      return { drawn: heatMapFigure(drawn, width, palette), note: notes.join(' ') };
    },
  };
}

function curves({ set: parameter }: SetAxis, name: string): FigureKind {
  return {
    name,
    table: 'rates',
    choices: () => [],
    draw({ head, conditions }, _, width, palette) {
      const all = rateReports(head.experiment).map((report) => ({
        report,
        series: doseSeries(conditions, parameter, report),
      }));
      const loud = all.filter(({ series }) =>
        series.some(({ points }) => points.some(({ mean }) => mean > 0)),
      );
      const silent = all.filter((panel) => !loud.includes(panel)).map(({ report }) => report);
      const panels = loud.length === 0 ? all.slice(0, 1) : loud;
      const isCut = panels.some(({ series }) => series.length > MOST_SERIES);
      const notes = [
        'Lines are means over the trials, bands one standard deviation.',
        ...(silent.length > 0 ? [`Silent: ${silent.join(', ')}.`] : []),
        ...(isCut ? [`Of each report the first ${MOST_SERIES} lines are drawn; the table has all.`] : []),
      ];
      return {
        drawn: curvesFigure(panels, parameterLabel(parameter), width, palette),
        note: notes.join(' '),
      };
    },
  };
}

function screen(axis: EachAxis): FigureKind {
  const reportChoice = ({ head }: Findings): Choice => ({
    name: 'report',
    label: 'Report',
    values: rateReports(head.experiment),
  });
  const groupChoice = ({ conditions }: Findings, report: string): Choice => ({
    name: 'group',
    label: 'Group',
    values: groupNames(conditions, report),
  });
  return {
    name: 'mean rates',
    table: 'rates',
    choices: (findings, chosen) => [
      reportChoice(findings),
      groupChoice(findings, chosen(reportChoice(findings))),
      atChoice(findings, [axis.as]),
    ],
    draw(findings, chosen, width, palette) {
      const { conditions, totals } = findings;
      const report = chosen(reportChoice(findings));
      const group = chosen(groupChoice(findings, report));
      const beside = chosen(atChoice(findings, [axis.as]));
      const { baseline, entries } = rankingOf(conditions, axis, beside, report, group);
      if (baseline === undefined && entries.length === 0) return undefined;
      const shown = entries.slice(0, MOST_BARS);
      const isLesion = axis.as === 'silence';
      const bars: Bar[] = [...(baseline === undefined ? [] : [{ label: 'none', ...baseline }]), ...shown];
      const what = group === 'all' ? report : `${report} ${group}`;
      const unchanged = totals?.unchanged.length ?? 0;
      const notes = [
        `Bars are means over the trials of ${what}, with one standard deviation; the dashed line is the rate without any. ` +
          (isLesion ? 'The largest change comes first.' : 'The highest rate comes first.'),
        ...(entries.length > shown.length
          ? [`${shown.length} of ${entries.length} groups are drawn; the table has all.`]
          : []),
        ...(unchanged > 0
          ? [
              `${unchanged} groups never spike without a lesion, so silencing them changes nothing: they were not run.`,
            ]
          : []),
      ];
      const label = `Rate of ${what} (Hz), ${isLesion ? 'with a group silenced' : 'with a group stimulated'}`;
      return { drawn: barsFigure(bars, baseline, label, width, palette), note: notes.join(' ') };
    },
  };
}

const GROUPS: FigureKind = {
  name: 'mean rates',
  table: 'rates',
  choices: () => [],
  draw({ head, conditions }, _, width, palette) {
    const bars = rateReports(head.experiment).flatMap((report) =>
      groupsOf(conditions[0]!, report).flatMap((group): Bar[] => {
        if (group.rate_hz === null) return [];
        const name = groupLabel(group);
        return [{ label: name === 'all' ? report : `${report} ${name}`, ...group.rate_hz }];
      }),
    );
    const loud = bars.filter(({ mean }) => mean > 0);
    const shown = (loud.length === 0 ? bars : loud).slice(0, MOST_BARS);
    if (shown.length === 0) return undefined;
    const silent = bars.length - loud.length;
    const notes = [
      'Bars are means over the trials, with one standard deviation; each ring is a trial.',
      ...(loud.length > 0 && silent > 0 ? [`${silent} silent groups are left out; the table has them.`] : []),
    ];
    return { drawn: barsFigure(shown, undefined, 'Rate (Hz)', width, palette), note: notes.join(' ') };
  },
};

const IN_TIME: FigureKind = {
  name: 'rates in time',
  table: 'histogram',
  choices: () => [],
  draw({ head, conditions }, _, width, palette) {
    const panels = Object.entries(head.experiment.reports)
      .filter(([, { type }]) => type === 'histogram')
      .map(([report, document]) => ({ report, series: timeSeries(conditions, report, document) }));
    const isCut = panels.some(({ series }) => series.length > MOST_SERIES);
    const note =
      'Mean rates over neurons and trials, in bins.' +
      (isCut ? ` Of each report the first ${MOST_SERIES} lines are drawn.` : '');
    return { drawn: curvesFigure(panels, 'Time (ms)', width, palette), note };
  },
};

function raster(hasSpikes: boolean): FigureKind {
  const trialChoice = ({ head: { experiment } }: Findings, condition: ConditionLine): Choice => {
    const neurons = tableReports(experiment).map(
      (report) => new Set(columnsOf(condition, report)?.root_id).size,
    );
    const trials = Array.from({ length: experiment.trials }, (_, trial) => String(trial));
    const isFew = Math.max(...neurons) * experiment.trials <= MOST_ROWS_OF_TRIALS;
    return {
      name: 'trial',
      label: 'Trial',
      values: isFew && trials.length > 1 ? [ALL_TRIALS, ...trials] : trials,
    };
  };
  const conditionOf = (findings: Findings, chosen: Chosen): ConditionLine => {
    const beside = chosen(atChoice(findings, []));
    return findings.conditions.find((condition) => besideText(condition.parameters, []) === beside)!;
  };
  return {
    name: hasSpikes ? 'spikes' : 'input events',
    table: hasSpikes ? 'spikes' : 'inputs',
    choices: (findings, chosen) => [
      atChoice(findings, []),
      trialChoice(findings, conditionOf(findings, chosen)),
    ],
    draw(findings, chosen, width, palette) {
      const { experiment } = findings.head;
      const condition = conditionOf(findings, chosen);
      const trial = chosen(trialChoice(findings, condition));
      const trials =
        trial === ALL_TRIALS ? Array.from({ length: experiment.trials }, (_, at) => at) : [Number(trial)];
      const shown = tableReports(experiment).flatMap((report) => {
        const columns = columnsOf(condition, report);
        if (columns === undefined) return [];
        const what = columns.input === undefined ? 'spikes' : 'input events';
        const rows = rasterRows(
          columns,
          trials,
          Object.keys(experiment.inputs),
          findings.neurons,
          MOST_MARKS,
        );
        return [{ report, what, rows, isCut: columns.truncated === true }];
      });
      const title = ({ report, what, rows }: { report: string; what: string; rows: RasterRows }): string =>
        `${report}: ${grouped(rows.events)} ${what} of ${grouped(rows.neurons)} ${rows.neurons === 1 ? 'neuron' : 'neurons'}`;
      const panels = shown.map((each): RasterPanel => ({ title: title(each), ...each.rows }));
      const durationMs =
        (condition.parameters['duration_ms'] as number | undefined) ?? experiment.duration_ms;
      const where = trial === ALL_TRIALS ? 'in all trials' : `in trial ${trial}`;
      const label = `${shown.map(title).join('; ')}, ${where}. The files have the time of each.`;
      const notes = [
        trial === ALL_TRIALS
          ? 'Each line is a spike or an input event; each neuron has a row for each trial, the first on top.'
          : 'Each line is a spike or an input event, each row a neuron. Neurons without any are left out.',
        ...shown
          .filter(({ rows: { events, drawn } }) => drawn < events)
          .map(
            ({ report, what, rows: { events } }) =>
              `Of the ${what} of “${report}” one in ${Math.ceil(events / MOST_MARKS)} is drawn.`,
          ),
        ...shown
          .filter(({ isCut }) => isCut)
          .map(
            ({ report, what }) =>
              `“${report}” has more ${what} than the service lists in this answer: ` +
              'later ones are missing here and in the files.',
          ),
      ];
      return { drawn: rasterFigure(panels, durationMs, label, width, palette), note: notes.join(' ') };
    },
  };
}

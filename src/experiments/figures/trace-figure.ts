/** Numbers of single neurons over time, such as membrane potentials: a line for each of the first neurons. */
import { extent, max } from 'd3-array';
import { STEPS_PER_MS } from '../../stimulus/protocol.js';
import type { ExperimentDocument } from '../document/document.js';
import type { Trace } from '../kinds/report-kind.js';
import { eventKindOf } from '../kinds/report-kinds.js';
import type { EventTable } from '../run/result.js';
import {
  conditionOf,
  otherSettingsChoice,
  type Choice,
  type FigureKind,
  type Findings,
} from './figure-kind.js';
import { DASHES, legendOfLines, MAX_SERIES, type Mark, type Panel } from './figure.js';
import { withStimulus } from './stimulus-panel.js';

const TRACE_PX = 190;
/** Points of a line at most: with more, none is seen by itself. */
const MAX_POINTS = 2000;

/** @param reports whose kind has a trace, at least one */
export function traceFigure(experiment: ExperimentDocument, reports: readonly string[]): FigureKind {
  const kindOfReport = (report: string) => eventKindOf(experiment.reports[report]!)!;
  const trials: Choice = {
    name: 'trial',
    label: 'Trial',
    values: Array.from({ length: experiment.trials }, (_, trial) => String(trial)),
    inFile: 1,
  };
  return {
    name: kindOfReport(reports[0]!).noun,
    table: experiment.reports[reports[0]!]!.type,
    choices: (findings) => [{ ...otherSettingsChoice(findings, []), inFile: 2 }, trials],
    draw(findings, chosen) {
      const condition = conditionOf(findings, chosen);
      const { tables } = condition;
      const trial = Number(chosen(trials));
      const panels = reports.flatMap((report) => {
        const table = tables[report];
        const own = table && panelOf(report, table, trial, kindOfReport(report).trace!, findings);
        return own ?? [];
      });
      if (panels.length === 0) return undefined;
      return {
        label: `${panels.map(({ title }) => title).join('; ')}, in trial ${trial}. The files have all numbers.`,
        sections: panels.map((panel) => withStimulus(panel, experiment, condition)),
        note: `Trial ${trial} of ${experiment.trials}, counted from 0. Each trace is a neuron; of each report the first ${MAX_SERIES} are drawn, with up to ${MAX_POINTS} samples.`,
      };
    },
  };
}

/** @returns nothing where the trial has no rows */
function panelOf(
  report: string,
  { trials, steps, neurons, columns }: EventTable,
  trial: number,
  { column: name, label, unit }: Trace,
  { labelOf, head }: Findings,
): Panel | undefined {
  const { start_ms: startMs, end_ms: endMs } = head.experiment.reports[report]!;
  const { values } = columns.find(({ column }) => column.name === name)!;
  const rows = Array.from(trials.keys()).filter((row) => trials[row] === trial);
  const shown = [...new Set(rows.map((row) => neurons[row]!))].slice(0, MAX_SERIES);
  const lines = shown.map((neuron) => {
    const points = rows
      .filter((row) => neurons[row] === neuron)
      .map((row) => [steps[row]! / STEPS_PER_MS, values[row]!] as const);
    const stride = Math.ceil(points.length / MAX_POINTS);
    return points.filter((_, at) => at % stride === 0);
  });
  if (lines.length === 0) return undefined;
  const points = lines.flat();
  const last = max(points, ([ms]) => ms)!;
  return {
    title: `${report}: ${label} (${unit})`,
    height: TRACE_PX,
    // The whole window: its ends may have no sample.
    x: { label: 'Time (ms)', domain: [startMs, Math.max(last, endMs ?? 0)] },
    y: { label: '', domain: extent(points, ([, height]) => height) as [number, number], hasGrid: true },
    marks: lines.map((points, paint): Mark => ({ mark: 'line', points, paint, dash: DASHES[paint]! })),
    legend: legendOfLines(shown.map(labelOf)),
  };
}

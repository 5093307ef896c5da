/** The figure of numbers over time, such as membrane potentials: a panel for each of a few neurons. */
import { extent, max } from 'd3-array';
import { STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import type { ExperimentDocument } from '../document/document.js';
import type { ReferenceLine, Trace } from '../kinds/report-kind.js';
import { eventKindOf } from '../kinds/report-kinds.js';
import type { EventTable } from '../kinds/result-rows.js';
import {
  conditionOf,
  otherSettingsChoice,
  type FigureKind,
  type Findings,
  type FoundCondition,
  numbersUnder,
  sentences,
  trialChoice,
} from './figure-kind.js';
import { type Mark, type Panel } from './figure.js';
import { highestFirst } from './measured-entries.js';
import { withStimulus } from './stimulus-panel.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { own } from '../../engine/own.js';

const TRACE_PX = 96;
/** Maximum number of panels of a report. */
const MAX_TRACES = 6;
/** Maximum number of points of a line. More could not be told apart. */
const MAX_POINTS = 2000;

/** @param reports at least one; their kinds have a trace */
export function traceFigure(experiment: ExperimentDocument, reports: readonly string[]): FigureKind {
  const kindOfReport = (report: string) => eventKindOf(experiment.reports[report]!)!;
  const trials = trialChoice(experiment.trials);
  return {
    name: kindOfReport(reports[0]!).noun,
    table: experiment.reports[reports[0]!]!.type,
    choices: (findings) => [{ ...otherSettingsChoice(findings, []), inFile: 2 }, trials],
    draw(findings, chosen) {
      const condition = conditionOf(findings, chosen);
      const { tables } = condition;
      const trial = Number(chosen(trials));
      const spikes = spikesOf(experiment, condition, trial);
      const constants = { ...experiment.constants, ...numbersUnder('constants.', condition) };
      const drawn = reports.flatMap((report) => {
        const table = own(tables, report);
        const { trace } = kindOfReport(report);
        if (table === undefined || trace === undefined) return [];
        const lines = trace.linesWith?.(constants) ?? [];
        const traced = tracesOf(report, table, trial, trace, lines, { ...findings, spikes });
        return traced.panels.length === 0 ? [] : [traced];
      });
      if (drawn.length === 0) return undefined;
      const titles = drawn.flatMap(({ panels }) => panels.map(({ title }) => title));
      return {
        label: `${titles.join('; ')}, in trial ${trial}. The files have all numbers.`,
        sections: drawn.map(({ panels }) => withStimulus(panels, experiment, condition)),
        note: sentences(
          `Trial ${trial} of ${experiment.trials}, counted from 0. Each panel is a neuron.`,
          ...drawn.map(({ note }) => note),
          spikes.size > 0 && 'Dots mark the spikes of neurons in reports of spikes.',
        ),
      };
    },
  };
}

/** Times in ms by neuron, of all spikes of a trial that reports list. */
function spikesOf({ reports }: ExperimentDocument, { tables }: FoundCondition, trial: number) {
  const spikes = new Map<number, number[]>();
  for (const [report, { trials, steps, neurons }] of Object.entries(tables)) {
    if (own(reports, report)?.type !== 'spikes') continue;
    trials.forEach((each, row) => {
      if (each !== trial) return;
      getOrInsert(spikes, neurons[row]!, () => []).push(steps[row]! / STEPS_PER_MS);
    });
  }
  return spikes;
}

/** A panel for each of a few neurons, with a note on what is left out; no panel if the trial has no rows. */
function tracesOf(
  report: string,
  { trials, steps, neurons, columns }: EventTable,
  trial: number,
  { column: name, label, unit }: Trace,
  lines: readonly ReferenceLine[],
  { labelOf, head, spikes }: Findings & { readonly spikes: ReadonlyMap<number, readonly number[]> },
): { readonly panels: readonly Panel[]; readonly note: string } {
  const { start_ms: startMs, end_ms: endMs } = head.experiment.reports[report]!;
  const { values } = columns.find(({ column }) => column.name === name)!;
  const rows = Array.from(trials.keys()).filter((row) => trials[row] === trial);
  const all = [...new Set(rows.map((row) => neurons[row]!))];
  // Selects of too many neurons those with the most spikes, else the first ones, and keeps their order.
  const chosen = highestFirst(all, MAX_TRACES, (neuron) => spikes.get(neuron)?.length ?? 0);
  const shown = all.filter((neuron) => chosen.includes(neuron));
  // Every neuron has the same number of samples.
  const stride = Math.ceil(rows.length / all.length / MAX_POINTS);
  const last = (max(rows, (row) => steps[row]!) ?? 0) / STEPS_PER_MS;
  const panels = shown.map((neuron, at): Panel => {
    const samples = rows
      .filter((row) => neurons[row] === neuron)
      .map((row) => [steps[row]! / STEPS_PER_MS, values[row]!] as const);
    const points = samples.filter((_, sample) => sample % stride === 0);
    const x = [startMs, Math.max(last, endMs ?? 0)] as const;
    const heights = [...points.map(([, height]) => height), ...lines.map(({ at: height }) => height)];
    const [low, high] = extent(heights) as [number, number];
    const references = lines.map(({ at: height, dash }): Mark => {
      return { mark: 'line', name: 'reference', points: x.map((ms) => [ms, height]), paint: 'muted', dash };
    });
    return {
      title: `${report}: ${labelOf(neuron)}, ${label.toLowerCase()} (${unit})`,
      height: TRACE_PX,
      // Shows the whole window, although its ends may have no sample.
      x: { label: 'Time (ms)', domain: x },
      y: { label: '', domain: [low, high], hasGrid: true },
      marks: [
        ...references,
        { mark: 'line', points, paint: 0 },
        {
          mark: 'dots',
          points: (spikes.get(neuron) ?? []).map((ms) => [ms, high, `spike at ${ms} ms`]),
          paint: 0,
        },
      ],
      ...(at === shown.length - 1 && {
        legend: lines.map((line) => ({
          label: `${line.label} ${line.at} ${unit}`,
          paint: 'muted',
          dash: line.dash,
        })),
      }),
    };
  });
  return { panels, note: leftOutNote(report, all, shown, spikes, stride) };
}

function leftOutNote(
  report: string,
  all: readonly number[],
  { length }: readonly number[],
  spikes: ReadonlyMap<number, readonly number[]>,
  stride: number,
): string {
  const which = all.some((neuron) => spikes.has(neuron)) ? 'those with the most spikes' : 'the first ones';
  return sentences(
    all.length > length &&
      `Of the ${all.length} neurons of “${report}” ${length} are drawn, ${which}; the table has all.`,
    stride > 1 && `Of the samples of “${report}” one in ${stride} is drawn.`,
  );
}

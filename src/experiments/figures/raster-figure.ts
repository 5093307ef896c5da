/** The raster figure: a stroke for each event of a neuron, over time. */
import { extent } from 'd3-array';
import { STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import type { ExperimentDocument } from '../document/document.js';
import { eventKindOf } from '../kinds/report-kinds.js';
import type { EventTable } from '../kinds/result-rows.js';
import {
  conditionOf,
  otherSettingsChoice,
  type Choice,
  type FigureKind,
  type Findings,
  type FoundCondition,
  sentences,
  trialChoice,
} from './figure-kind.js';
import type { Band, Mark, Paint, Panel } from './figure.js';
import { withStimulus } from './stimulus-panel.js';
import { own } from '../../engine/own.js';

/** Maximum number of events. With more, figures are slow and single events are not visible. */
const MAX_EVENTS = 20_000;
/** With more rows a raster shows one trial at a time. */
const MAX_ROWS_OF_TRIALS = 120;
const ALL_TRIALS = 'all';

/** @param reports in the order of drawing; the last one is the subject of the figure */
export function rasterFigure(experiment: ExperimentDocument, reports: readonly string[]): FigureKind {
  const nounOf = (report: string) => eventKindOf(experiment.reports[report]!)!.noun;
  const tablesOf = ({ tables }: FoundCondition) =>
    reports.flatMap((report) => {
      const table = own(tables, report);
      return table === undefined ? [] : [{ report, table, what: nounOf(report) }];
    });
  const trialsOf = (condition: FoundCondition): Choice => {
    const { trials } = experiment;
    const neurons = tablesOf(condition).map(({ table }) => new Set(table.neurons).size);
    const isFew = trials > 1 && Math.max(...neurons) * trials <= MAX_ROWS_OF_TRIALS;
    return trialChoice(trials, isFew ? [ALL_TRIALS] : []);
  };
  const last = reports.at(-1)!;
  return {
    name: nounOf(last),
    // A table of events has the name of its kind.
    table: experiment.reports[last]!.type,
    choices: (findings, chosen) => [
      { ...otherSettingsChoice(findings, []), inFile: 2 },
      trialsOf(conditionOf(findings, chosen)),
    ],
    draw(findings, chosen) {
      const condition = conditionOf(findings, chosen);
      const trial = chosen(trialsOf(condition));
      const isAll = trial === ALL_TRIALS;
      const trials = isAll ? Array.from({ length: experiment.trials }, (_, at) => at) : [Number(trial)];
      const durationMs =
        (condition.parameters['duration_ms'] as number | undefined) ?? experiment.duration_ms;
      const isReported = reportedNeurons(findings);
      const tables = tablesOf(condition).map((each) => {
        const { start_ms: startMs, end_ms: endMs } = experiment.reports[each.report]!;
        return { ...each, window: [startMs, Math.min(endMs ?? Infinity, durationMs)] as const };
      });
      const axis = extent(tables.flatMap(({ window }) => window)) as [number, number];
      const shown = tables.map((each) => rasterPanel(each, trials, axis, findings.labelOf, isReported));
      const where = isAll ? 'in all trials' : `in trial ${trial} of ${experiment.trials}`;
      return {
        label: `${shown.map(({ panel }) => panel.title).join('; ')}, ${where}. The files have the time of each.`,
        sections: shown.map(({ panel }) => withStimulus([panel], experiment, condition)),
        note: sentences(
          !isAll && `Trial ${trial} of ${experiment.trials}, counted from 0.`,
          isAll
            ? 'Each line is a spike or an input event; each neuron has a row for each trial, the first on top.'
            : 'Each line is a spike or an input event, each row a neuron. Neurons without any are left out.',
          !condition.complete &&
            `The limit on synaptic events stopped trials, the first at ${String(condition.stopped_at_ms)} ms. A stopped trial has nothing after its stop.`,
          shown.some(({ hasReported }) => hasReported) && 'Bold and in colour: neurons that a report reads.',
          ...shown.map(({ note }) => note),
        ),
      };
    },
  };
}

/** The table of a report. */
interface RasterTable {
  readonly report: string;
  readonly table: EventTable;
  /** The name of its events. */
  readonly what: string;
  /** That in which the report reads. */
  readonly window: readonly [startMs: number, endMs: number];
}

function noteOf(
  { report, what, window }: RasterTable,
  stride: number,
  axis: readonly [number, number],
): string {
  return sentences(
    stride > 1 && `Of the ${what} of “${report}” one in ${stride} is drawn.`,
    String(window) !== String(axis) && `“${report}” reads only ${window[0]} to ${window[1]} ms.`,
  );
}

/** Neurons of a report are marked in the raster if there are at most this many. */
const MAX_REPORTED = 20;

/** @returns a function that tells whether a report of few neurons reads the type in a label */
function reportedNeurons({ head: { experiment, resolved } }: Findings): (label: string) => boolean {
  const types = Object.keys(experiment.reports).flatMap((report) => {
    const { neurons = Infinity, types = {} } = resolved?.[`reports.${report}`] ?? {};
    return neurons <= MAX_REPORTED ? Object.keys(types).filter((type) => type !== '') : [];
  });
  return (label) => types.some((type) => label === type || label.startsWith(`${type} `));
}

/**
 * A row for each neuron that has an event, in their order; with several trials, a row for each trial of each neuron.
 * @param axis that of all rasters, which stand one below the other
 * @param labelOf the label of a neuron; neighbours with the same label share a band
 * @param isReported tells whether to mark neurons with a label
 */
function rasterPanel(
  shown: RasterTable,
  trials: readonly number[],
  axis: readonly [number, number],
  labelOf: (neuron: number) => string,
  isReported: (label: string) => boolean,
): { readonly panel: Panel; readonly note: string; readonly hasReported: boolean } {
  const { report, what, table, window } = shown;
  const { trials: trialOf, steps, neurons, columns } = table;
  const rowOfTrial = new Map(trials.map((trial, row) => [trial, row]));
  const events: number[] = [];
  trialOf.forEach((trial, event) => rowOfTrial.has(trial) && events.push(event));
  const responding = Uint32Array.from(new Set(events.map((event) => neurons[event]!))).sort();
  const rowOf = new Map(Array.from(responding, (neuron, at) => [neuron, trials.length * at]));
  const stride = Math.max(1, Math.ceil(events.length / MAX_EVENTS));
  const drawn = events.filter((_, at) => at % stride === 0);
  const label = columns.find(({ column }) => column.labels !== undefined);
  const kinds = label?.column.labels ?? [];
  const groups = bandsOf(Array.from(responding, labelOf), trials.length);
  const isOther = groups.some((band) => !isReported(band.label));
  const bands = groups.map((band) => ({
    ...band,
    ...(isOther && isReported(band.label) && { isMarked: true as const }),
  }));
  const reported = new Set(isOther ? responding.filter((neuron) => isReported(labelOf(neuron))) : []);
  const paintOf = (event: number): Paint =>
    label !== undefined ? label.values[event]! : reported.has(neurons[event]!) ? 0 : 'text';
  const paints: readonly Paint[] =
    label !== undefined ? kinds.map((_, kind) => kind) : reported.size > 0 ? ['text', 0] : ['text'];
  const ticks = paints.map((paint): Mark => {
    const painted = drawn.filter((event) => paintOf(event) === paint);
    return {
      mark: 'ticks',
      x: painted.map((event) => steps[event]! / STEPS_PER_MS),
      rows: painted.map((event) => rowOf.get(neurons[event]!)! + rowOfTrial.get(trialOf[event]!)!),
      paint,
    };
  });
  let from = 0;
  // A band without room for its label shows it to a reader who points at it.
  const marked: Mark[] = [];
  const named = bands.map(({ label, size, isMarked }): Mark => {
    const y = [from, (from += size)] as const;
    if (isMarked) marked.push({ mark: 'rect', name: 'reported', x: window, y, paint: 'line' });
    const title = label === '' ? {} : { title: label };
    return { mark: 'rect', name: 'neurons', x: window, y, paint: 'none', ...title };
  });
  return {
    panel: {
      title: `${report}: ${countOf(events, what, table, trials)} of ${grouped(responding.length)} neuron${responding.length === 1 ? '' : 's'}`,
      height: Math.min(560, Math.max(40, 14 * trials.length * responding.length)),
      x: { label: 'Time (ms)', domain: axis },
      y: { label: '', bands },
      marks: [...marked, ...named, ...ticks],
      legend: kinds.map((each, paint) => ({ label: each, paint })),
    },
    note: noteOf(shown, stride, axis),
    hasReported: marked.length > 0,
  };
}

/** `20 000 spikes`, or `the first 20 000 spikes` if the table lacks rows of the trials. */
function countOf(
  { length }: readonly number[],
  what: string,
  { truncated, trials: trialOf }: EventTable,
  trials: readonly number[],
): string {
  // The last trial in the table may lack rows, and later ones have none.
  const isCut = truncated && trials.at(-1)! >= (trialOf.at(-1) ?? 0);
  return `${isCut ? 'the first ' : ''}${grouped(length)} ${what}`;
}

/** If neurons have several rows, one for each trial, each neuron is a band. Otherwise rows could be mistaken for neurons. */
function bandsOf(labels: readonly string[], rowsOfNeuron: number): Required<Pick<Band, 'label' | 'size'>>[] {
  const bands: { label: string; size: number }[] = [];
  labels.forEach((label, at) => {
    const isSame = at > 0 && labels[at - 1] === label;
    if (isSame && rowsOfNeuron === 1) bands.at(-1)!.size++;
    else bands.push({ label: isSame ? '' : label, size: rowsOfNeuron });
  });
  return bands;
}

/** A count with thin spaces between groups of three digits. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '\u2009');
}

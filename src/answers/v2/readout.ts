/** From the spikes of a trial to what its reports ask for. Reading costs what the spikes cost, not what reports name. */
import type { Connectome } from '../../connectome/connectome.js';
import type { SimulationEngine, SpikeRaster, Trial } from '../../engine/simulation.js';
import type { DrawInputEvents, InputEvents } from '../../experiment/input-events.js';
import type { Protocol } from '../../experiment/protocol.js';
import { firstNotBelow } from '../../connectome/ascending.js';
import {
  binCount,
  type HistogramReading,
  type HistogramTask,
  type RateReading,
  type ReportReading,
  type ReportTask,
  type TableReading,
  type TableTask,
  type TrialReading,
  type TrialTask,
} from './trial.js';

/** What a worker does with a task: draws its input events, simulates unless that is done, reads. One trial at a time. */
export function trialOf(
  connectome: Connectome,
  engine: SimulationEngine,
  draw: DrawInputEvents,
): (task: TrialTask, simulated?: Trial) => TrialReading {
  const readout = new TrialReadout(connectome.neuronCount);
  const neuronId = (neuron: number) => connectome.neuronId(neuron);
  return (task, simulated) => {
    const events = draw(task.protocol, neuronId);
    const trial = simulated ?? engine.simulate(events, task.protocol);
    // Events do not say which input they came from. Trains do not depend on one another, so each input can be drawn
    // alone; only trials with such a report are drawn twice.
    const asksForInputs = task.reports.some(({ type }) => type === 'inputs');
    const eventsOfInputs = asksForInputs ? drawEach(task.protocol, draw, neuronId) : [];
    return readout.read(task, events, trial, eventsOfInputs);
  };
}

function drawEach(
  { inputs, durationSteps }: Protocol,
  draw: DrawInputEvents,
  neuronId: (neuron: number) => string,
): InputEvents[] {
  return inputs.map((input) => draw({ inputs: [input], durationSteps }, neuronId));
}

/** Neurons with at least one spike in a window, ascending, and the number of their spikes. */
interface Counts {
  readonly neurons: Uint32Array;
  readonly spikes: Uint32Array;
}

/** Reads the trials of one connectome. Keeps counters between readings, so one reading at a time. */
export class TrialReadout {
  /** Zero between readings, as is #groups. */
  readonly #counts: Uint32Array;
  /** 1 more than the group of each neuron that a report names, in the report that is being read. */
  readonly #groups: Uint32Array;

  constructor(neuronCount: number) {
    this.#counts = new Uint32Array(neuronCount);
    this.#groups = new Uint32Array(neuronCount);
  }

  /** @param eventsOfInputs the events of each input alone, where a report of the type `inputs` asks for them */
  read(
    { protocol, reports, countsAll }: TrialTask,
    events: InputEvents,
    trial: Trial,
    eventsOfInputs: readonly InputEvents[],
  ): TrialReading {
    // Most reports read the whole trial: each window is counted once.
    const windows = new Map<string, Counts>();
    const countsIn = (startStep: number, endStep: number): Counts => {
      const key = `${startStep} ${endStep}`;
      const known = windows.get(key);
      if (known !== undefined) return known;
      const counts = this.#count(trial, startStep, endStep);
      windows.set(key, counts);
      return counts;
    };
    const all = countsIn(0, protocol.durationSteps);
    return {
      spikes: trial.neurons.length,
      responding: all.neurons.length,
      inputEvents: events.steps.length,
      synapticEvents: trial.deliveredEvents,
      ...(trial.stoppedAtStep !== undefined && { stoppedAtStep: trial.stoppedAtStep }),
      reports: reports.map((report) =>
        this.#readReport(report, countsIn(report.startStep, report.endStep), trial, eventsOfInputs),
      ),
      ...(countsAll && { counts: all }),
    };
  }

  #readReport(
    report: ReportTask,
    counts: Counts,
    trial: Trial,
    eventsOfInputs: readonly InputEvents[],
  ): ReportReading {
    switch (report.type) {
      case 'rate':
        return { type: 'rate', ...respondingOf(report.neurons, counts) };
      case 'histogram':
        return this.#readHistogram(report, respondingOf(report.neurons, counts), trial);
      case 'spikes':
        return this.#readSpikes(report, trial);
      case 'inputs':
        return this.#readInputs(report, eventsOfInputs);
    }
  }

  #count(raster: SpikeRaster, startStep: number, endStep: number): Counts {
    const counts = this.#counts;
    const active: number[] = [];
    const to = firstAtStep(raster, endStep);
    for (let spike = firstAtStep(raster, startStep); spike < to; spike++) {
      const neuron = raster.neurons[spike]!;
      if (counts[neuron]!++ === 0) active.push(neuron);
    }
    const neurons = Uint32Array.from(active).sort();
    const spikes = neurons.map((neuron) => counts[neuron]!);
    for (const neuron of active) counts[neuron] = 0;
    return { neurons, spikes };
  }

  #readHistogram(
    report: HistogramTask,
    responding: Omit<RateReading, 'type'>,
    raster: SpikeRaster,
  ): HistogramReading {
    const { neurons, groups, startStep, endStep, binSteps } = report;
    const bins = binCount(report);
    for (const place of responding.places) this.#groups[neurons[place]!] = groups[place]! + 1;
    const cells: number[] = [];
    const to = firstAtStep(raster, endStep);
    for (let spike = firstAtStep(raster, startStep); spike < to; spike++) {
      const group = this.#groups[raster.neurons[spike]!]!;
      if (group > 0) {
        cells.push((group - 1) * bins + Math.floor((raster.steps[spike]! - startStep) / binSteps));
      }
    }
    for (const place of responding.places) this.#groups[neurons[place]!] = 0;
    return { type: 'histogram', ...responding, ...runLengths(Uint32Array.from(cells).sort()) };
  }

  #readSpikes(report: TableTask, raster: SpikeRaster): TableReading {
    for (const neuron of report.neurons) this.#groups[neuron] = 1;
    const rows = new TableRows(report);
    const to = firstAtStep(raster, report.endStep);
    for (let spike = firstAtStep(raster, report.startStep); spike < to && !rows.truncated; spike++) {
      const neuron = raster.neurons[spike]!;
      if (this.#groups[neuron] === 1) rows.add(raster.steps[spike]!, neuron);
    }
    for (const neuron of report.neurons) this.#groups[neuron] = 0;
    return { type: 'spikes', ...rows.columns() };
  }

  /** Merges the events of the inputs, each in the order of step, then neuron. */
  #readInputs(report: TableTask, eventsOfInputs: readonly InputEvents[]): TableReading {
    for (const neuron of report.neurons) this.#groups[neuron] = 1;
    const rows = new TableRows(report);
    const next = eventsOfInputs.map((events) => firstAtStep(events, report.startStep));
    for (;;) {
      let first = -1;
      let firstStep = report.endStep;
      let firstNeuron = 0;
      eventsOfInputs.forEach(({ steps, neurons }, input) => {
        const at = next[input]!;
        if (at === steps.length) return;
        const [step, neuron] = [steps[at]!, neurons[at]!];
        if (step < firstStep || (first >= 0 && step === firstStep && neuron < firstNeuron)) {
          [first, firstStep, firstNeuron] = [input, step, neuron];
        }
      });
      if (first < 0) break;
      next[first]!++;
      if (this.#groups[firstNeuron] === 1) {
        rows.add(firstStep, firstNeuron, first);
        if (rows.truncated) break;
      }
    }
    for (const neuron of report.neurons) this.#groups[neuron] = 0;
    return { type: 'inputs', ...rows.columns(), inputs: Uint8Array.from(rows.inputs) };
  }
}

/** Rows of a table up to the number that a report allows. */
class TableRows {
  readonly inputs: number[] = [];
  readonly #steps: number[] = [];
  readonly #neurons: number[] = [];
  truncated = false;

  constructor(private readonly report: TableTask) {}

  add(step: number, neuron: number, input?: number): void {
    if (this.#steps.length === this.report.maximumRows) {
      this.truncated = true;
      return;
    }
    this.#steps.push(step);
    this.#neurons.push(neuron);
    if (input !== undefined) this.inputs.push(input);
  }

  columns(): Pick<TableReading, 'steps' | 'neurons' | 'truncated'> {
    return {
      steps: Uint16Array.from(this.#steps),
      neurons: Uint32Array.from(this.#neurons),
      truncated: this.truncated,
    };
  }
}

/** The neurons of a report among those that spiked. Searches from each to the next, so the longer list costs little. */
function respondingOf(members: Uint32Array, active: Counts): Omit<RateReading, 'type'> {
  const places: number[] = [];
  const spikes: number[] = [];
  let place = 0;
  let at = 0;
  while (place < members.length && at < active.neurons.length) {
    const [member, neuron] = [members[place]!, active.neurons[at]!];
    if (member === neuron) {
      places.push(place++);
      spikes.push(active.spikes[at++]!);
    } else if (member < neuron) {
      place = firstNotBelow(members, neuron, place + 1);
    } else {
      at = firstNotBelow(active.neurons, member, at + 1);
    }
  }
  return { places: Uint32Array.from(places), spikes: Uint32Array.from(spikes) };
}

function firstAtStep({ steps }: Pick<SpikeRaster, 'steps'>, step: number): number {
  return firstNotBelow(steps, step);
}

/** Each value of a sorted list once, and how often it stood there. */
function runLengths(sorted: Uint32Array): Pick<HistogramReading, 'cells' | 'cellSpikes'> {
  const cells: number[] = [];
  const cellSpikes: number[] = [];
  sorted.forEach((cell, at) => {
    if (at > 0 && cell === sorted[at - 1]) cellSpikes[cellSpikes.length - 1]!++;
    else {
      cells.push(cell);
      cellSpikes.push(1);
    }
  });
  return { cells: Uint32Array.from(cells), cellSpikes: Uint32Array.from(cellSpikes) };
}

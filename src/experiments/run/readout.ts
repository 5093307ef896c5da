/** From the spikes of a trial to what its reports ask for. Reading costs what the spikes cost, not what reports name. */
import type { Connectome } from '../../connectome/connectome.js';
import { firstNotBelow } from '../../connectome/sorted-array.js';
import type { SimulationEngine, SpikeRaster, Trial } from '../../simulation/simulation.js';
import type { DrawInputEvents, InputEvents } from '../../stimulus/input-events.js';
import type { Protocol } from '../../stimulus/protocol.js';
import type { EventsOfInput, ReportWindow, SpikeCounts } from '../kinds/report-kind.js';
import { kindOf } from '../kinds/report-kinds.js';
import { isEventReading } from '../kinds/reports/event-table.js';
import { recordingsOf, type TrialReading, type TrialTask } from '../plan/trial.js';

/** Work of a worker on a task: draws its input events, simulates unless that is done, reads. One trial at a time. */
export function trialOf(
  connectome: Connectome,
  engine: SimulationEngine,
  draw: DrawInputEvents,
): (task: TrialTask, simulated?: Trial) => TrialReading {
  const readout = new TrialReadout(connectome.neuronCount);
  const neuronId = (neuron: number) => connectome.neuronId(neuron);
  return (task, simulated) => {
    const events = draw(task.protocol, neuronId);
    const recordings = recordingsOf(task);
    const options = recordings.length === 0 ? task.protocol : { ...task.protocol, recordings };
    const trial = simulated ?? engine.simulate(events, options);
    // Events do not say which input they came from. Trains do not depend on one another, so each input can be drawn
    // alone; only trials with such a report are drawn twice.
    const asksForInputs = task.reports.some((report) => kindOf(report).readsInputs);
    const eventsOfInputs = asksForInputs ? drawEach(task.protocol, draw, neuronId) : [];
    return readout.read(task, events, trial, eventsOfInputs);
  };
}

function drawEach(
  { inputs, durationSteps }: Protocol,
  draw: DrawInputEvents,
  neuronId: (neuron: number) => string,
): EventsOfInput[] {
  return inputs.map((input) => {
    const events = draw({ inputs: [input], durationSteps }, neuronId);
    return events.background ?? events;
  });
}

/** With more than this part of all neurons it is quicker to look at all than to sort. */
const SORTED_SHARE = 64;

/** Reads the trials of one connectome. Keeps counters between readings, so one reading at a time. */
export class TrialReadout {
  /** Zero between readings, as are the marks. */
  readonly #counts: Uint32Array;
  readonly #marks: Uint32Array;

  constructor(neuronCount: number) {
    this.#counts = new Uint32Array(neuronCount);
    this.#marks = new Uint32Array(neuronCount);
  }

  /** @param eventsOfInputs the events of each input alone, where the kind of a report reads them */
  read(
    { protocol, reports, countsAll, maximumRows = Infinity }: TrialTask,
    events: InputEvents,
    trial: Trial,
    eventsOfInputs: readonly EventsOfInput[],
  ): TrialReading {
    // Most reports read the whole trial: each window is counted once.
    const windows = new Map<string, SpikeCounts>();
    const countsIn = ({ startStep, endStep }: ReportWindow): SpikeCounts => {
      const key = `${startStep} ${endStep}`;
      let counts = windows.get(key);
      if (counts === undefined) windows.set(key, (counts = this.#count(trial, startStep, endStep)));
      return counts;
    };
    const all = countsIn({ startStep: 0, endStep: protocol.durationSteps });
    let rowsLeft = maximumRows;
    const recorded = trial.membranes?.values();
    return {
      spikes: trial.neurons.length,
      responding: all.neurons.length,
      inputEvents: events.steps.length + (events.background?.steps.length ?? 0),
      synapticEvents: trial.deliveredEvents,
      ...(trial.stoppedAtStep !== undefined && { stoppedAtStep: trial.stoppedAtStep }),
      reports: reports.map((report) => {
        const kind = kindOf(report);
        const samples = kind.recordingOf && recorded?.next().value;
        const view = { raster: trial, eventsOfInputs, marks: this.#marks, samples, rowsLeft, countsIn };
        const reading = kind.read(report, view);
        if (isEventReading(reading)) rowsLeft -= reading.steps.length;
        return reading;
      }),
      ...(countsAll ? { counts: all } : { responders: all.neurons }),
    };
  }

  #count({ steps, neurons: ofSpikes }: SpikeRaster, startStep: number, endStep: number): SpikeCounts {
    const counts = this.#counts;
    const active: number[] = [];
    const to = firstNotBelow(steps, endStep);
    for (let spike = firstNotBelow(steps, startStep); spike < to; spike++) {
      const neuron = ofSpikes[spike]!;
      if (counts[neuron]!++ === 0) active.push(neuron);
    }
    const neurons = inAscendingOrder(active, counts);
    const spikes = neurons.map((neuron) => counts[neuron]!);
    for (const neuron of active) counts[neuron] = 0;
    return { neurons, spikes };
  }
}

/** @param counts 0 but at these neurons */
function inAscendingOrder(neurons: readonly number[], counts: Uint32Array): Uint32Array {
  // Sorting takes longer than a look at all counts where many neurons spiked.
  if (neurons.length < counts.length / SORTED_SHARE) return Uint32Array.from(neurons).sort();
  const ascending = new Uint32Array(neurons.length);
  for (let neuron = 0, place = 0; place < ascending.length; neuron++) {
    if (counts[neuron] !== 0) ascending[place++] = neuron;
  }
  return ascending;
}

/**
 * From the spikes of a trial to what its reports ask for. Reading costs what the spikes cost; tables also mark their
 * neurons.
 */
import type { Connectome } from '../../connectome/connectome.js';
import { firstNotBelow } from '../../connectome/sorted-array.js';
import { getOrInsert } from '../../get-or-insert.js';
import type { KernelEngine } from '../../simulation/cpu/kernel-engine.js';
import type { SimulationEngine, SimulationOptions, Trial } from '../../simulation/simulation.js';
import { newCursors } from '../../stimulus/compiled-drawing.js';
import type { DrawInputEvents, InputEvents, TrainCursors } from '../../stimulus/input-events.js';
import { type Input, MAXIMUM_PART_STEPS, type Rewiring } from '../../stimulus/protocol.js';
import type { EventsInTime, ReportWindow, SpikeCounts } from '../kinds/report-kind.js';
import { kindOf } from '../kinds/report-kinds.js';
import { isEventReading, rowsHere } from '../kinds/reports/event-table.js';
import {
  joinedReading,
  type PartState,
  recordingsOf,
  type SessionStep,
  type StepReading,
  type TrialProgress,
  type TrialReading,
  type TrialTask,
} from '../plan/trial.js';

/** An engine that simulates trials in parts. */
export type PartEngine = Pick<KernelEngine, 'newState' | 'opened' | 'load' | 'advance' | 'save'>;

/** Work of a worker on a task: draws its input events, simulates unless that is done, reads. One trial at a time. */
export function trialOf(
  reader: TrialReader,
  engine: SimulationEngine,
): (task: TrialTask, simulated?: Trial) => TrialReading {
  return (task, simulated) => {
    const events = reader.draw(task);
    const trial = simulated ?? engine.simulate(events, optionsOf(task));
    return reader.read(task, events, trial);
  };
}

/** A part of a trial in steps: from startStep up to, not including, endStep. */
export interface TrialPart {
  readonly startStep: number;
  readonly endStep: number;
}

/**
 * Work of a worker on a trial that is too long to be simulated whole: it goes on from part to part until its time is up.
 * @param isTimeUp is asked after each part
 * @returns the reading, or how far it is
 */
export function trialInParts(
  reader: TrialReader,
  engineFor: (wiring: Rewiring | undefined) => PartEngine,
): (
  task: TrialTask,
  progress: TrialProgress | undefined,
  isTimeUp: () => boolean,
) => TrialReading | TrialProgress {
  return (task, progress, isTimeUp) => {
    const { durationSteps, constants, wiring, inputs } = task.protocol;
    const engine = engineFor(wiring);
    const cursors = cursorsBehind(progress?.state, progress?.spare, inputs);
    let reading = progress?.reading;
    engine.load(engine.newState(constants, progress?.state.brain));
    for (let startStep = progress?.step ?? 0; ; startStep += MAXIMUM_PART_STEPS) {
      const endStep = Math.min(startStep + MAXIMUM_PART_STEPS, durationSteps);
      const [ofPart] = reader.part(task, { startStep, endStep }, engine, cursors);
      reading = reading === undefined ? ofPart : joinedReading(task, reading, ofPart);
      if (endStep === durationSteps || reading.stoppedAtStep !== undefined) return reading;
      if (isTimeUp()) {
        const state = engine.newState(constants, progress?.spare?.brain);
        engine.save(state);
        return { step: endStep, state: { brain: state.buffer, cursors }, spare: progress?.state, reading };
      }
    }
  };
}

/**
 * Work of a worker on a step of a session. The new state is written to other memory than the old one, so that the step can
 * be repeated. The old one is loaded only if the engine no longer has it.
 * @param networks the engine of each, and whether it is prepared
 * @param onRaster is given the spikes before the next step overwrites them
 */
export function sessionSteps(
  reader: TrialReader,
  networks: {
    has(wiring: Rewiring | undefined): boolean;
    engineFor(wiring: Rewiring | undefined): PartEngine;
  },
): (task: TrialTask, step: SessionStep, onRaster: (raster: EventsInTime) => void) => StepReading {
  let last: { readonly number: number; readonly opened: KernelEngine['opened'] } | undefined;
  return (task, step, onRaster) => {
    const { constants, wiring, inputs } = task.protocol;
    const hadToPrepare = !networks.has(wiring);
    const engine = networks.engineFor(wiring);
    const isLoaded =
      last !== undefined && last.number === step.previousNumber && last.opened === engine.opened;
    last = undefined;
    if (!isLoaded) engine.load(engine.newState(constants, step.stateBefore?.brain));
    const cursors = cursorsBehind(step.stateBefore, step.memoryAfter, inputs);
    const [reading, raster] = reader.part(task, step, engine, cursors);
    onRaster(raster);
    const state = engine.newState(constants, step.memoryAfter?.brain);
    engine.save(state);
    // A step that the reserved worker cut short is computed again, from the state before it.
    if (reading.stoppedAtStep === undefined) last = { number: step.number, opened: engine.opened };
    // Sessions need only the number of neurons that responded.
    const { responders: _, ...read } = reading;
    return { ...read, hadToPrepare, state: { brain: state.buffer, cursors } };
  };
}

/** Where the trains stand behind a state, copied into the memory of another one if there is one. */
function cursorsBehind(
  state: PartState | undefined,
  memory: PartState | undefined,
  inputs: readonly Input[],
): TrainCursors {
  const cursors = memory?.cursors ?? newCursors(inputs);
  if (state === undefined) cursors.fill(0);
  else cursors.set(state.cursors);
  return cursors;
}

function optionsOf(task: TrialTask): SimulationOptions {
  const recordings = recordingsOf(task);
  return recordings.length === 0 ? task.protocol : { ...task.protocol, recordings };
}

/** Up to this share of all neurons, sorting those that spiked is quicker than looking at all. */
const SORTED_SHARE = 1 / 64;

/** Draws and reads the trials of one connectome, whole or in parts. Keeps counters between readings: one at a time. */
export class TrialReader {
  /** Zero between readings, as are the marks. */
  readonly #counts: Uint32Array;
  readonly #marks: Uint32Array;
  readonly #neuronId: (neuron: number) => string;

  constructor(
    connectome: Pick<Connectome, 'neuronCount' | 'neuronId'>,
    private readonly drawEvents: DrawInputEvents,
  ) {
    this.#counts = new Uint32Array(connectome.neuronCount);
    this.#marks = new Uint32Array(connectome.neuronCount);
    this.#neuronId = (neuron) => connectome.neuronId(neuron);
  }

  draw({ protocol }: TrialTask): InputEvents {
    return this.drawEvents(protocol, this.#neuronId);
  }

  /** Simulates and reads a part of the trial that the engine has loaded. */
  part(
    task: TrialTask,
    { startStep, endStep }: TrialPart,
    engine: PartEngine,
    cursors: TrainCursors,
  ): readonly [reading: TrialReading, raster: EventsInTime] {
    const own = { startStep, durationSteps: endStep - startStep };
    const events = this.drawEvents({ ...task.protocol, ...own }, this.#neuronId, cursors);
    const trial = engine.advance(events, { ...optionsOf(task), ...own });
    const { stoppedAtStep = endStep - 1 } = trial;
    // Where the budget ends the trial, nothing may tell how much longer the part would have been.
    const simulated = { startStep, endStep: stoppedAtStep + 1 };
    const raster = inTrial(trial, startStep);
    const before = eventsBefore(events, simulated.endStep - startStep);
    return [this.read(task, before, { ...trial, ...raster }, simulated), raster];
  }

  /**
   * @param trial whose steps count from the start of the trial
   * @param part that was simulated
   */
  read(
    task: TrialTask,
    events: InputEvents,
    trial: Omit<Trial, 'steps'> & EventsInTime,
    part: TrialPart = { startStep: 0, endStep: task.protocol.durationSteps },
  ): TrialReading {
    // Most reports read the whole trial: each window is counted once.
    const windows = new Map<string, SpikeCounts>();
    const countsIn = ({ startStep, endStep }: ReportWindow): SpikeCounts =>
      getOrInsert(windows, `${startStep} ${endStep}`, () => this.#count(trial, startStep, endStep));
    const all = countsIn(part);
    const eventsOfInputs = this.#eventsOfInputs(task, part);
    let { maximumRows: rowsLeft = Infinity } = task;
    const recorded = trial.membranes?.values();
    return {
      spikes: trial.neurons.length,
      responding: all.neurons.length,
      inputEvents: events.steps.length + (events.background?.steps.length ?? 0),
      synapticEvents: trial.deliveredEvents,
      ...(trial.stoppedAtStep !== undefined && { stoppedAtStep: trial.stoppedAtStep }),
      reports: task.reports.map((report) => {
        const kind = kindOf(report);
        const samples = kind.recordingOf && recorded?.next().value;
        const view = {
          ...part,
          ...{ raster: trial, eventsOfInputs, marks: this.#marks, samples, rowsLeft, countsIn },
        };
        const reading = kind.read(report, view);
        if (isEventReading(reading)) rowsLeft -= rowsHere(reading);
        return reading;
      }),
      ...(task.countsAll ? { counts: all } : { responders: all.neurons }),
    };
  }

  /**
   * Events do not say which input they came from. Trains do not depend on one another, so each input can be drawn alone;
   * only trials with a report that reads them are drawn twice.
   */
  #eventsOfInputs({ protocol, reports }: TrialTask, { startStep, endStep }: TrialPart): EventsInTime[] {
    if (!reports.some((report) => kindOf(report).readsInputs)) return [];
    return protocol.inputs.map((input) => {
      const part = { inputs: [input], startStep, durationSteps: endStep - startStep };
      const events = this.drawEvents(part, this.#neuronId);
      return inTrial(events.background ?? events, startStep);
    });
  }

  #count({ steps, neurons: ofSpikes }: EventsInTime, startStep: number, endStep: number): SpikeCounts {
    const counts = this.#counts;
    const active: number[] = [];
    const from = firstNotBelow(steps, startStep);
    const to = firstNotBelow(steps, endStep);
    if (to - from > counts.length) return this.#countMany(ofSpikes.subarray(from, to));
    for (let spike = from; spike < to; spike++) {
      const neuron = ofSpikes[spike]!;
      if (counts[neuron]!++ === 0) active.push(neuron);
    }
    const neurons = inAscendingOrder(active, counts);
    const spikes = neurons.map((neuron) => counts[neuron]!);
    for (const neuron of active) counts[neuron] = 0;
    return { neurons, spikes };
  }

  /** The same without a list of those that spiked, which takes long to grow. */
  #countMany(ofSpikes: Uint32Array): SpikeCounts {
    const counts = this.#counts;
    for (let spike = 0; spike < ofSpikes.length; spike++) counts[ofSpikes[spike]!]!++;
    const neurons = new Uint32Array(counts.length);
    const spikes = new Uint32Array(counts.length);
    let active = 0;
    for (let neuron = 0; neuron < counts.length; neuron++) {
      neurons[active] = neuron;
      spikes[active] = counts[neuron]!;
      // Without a branch, which could not be predicted: a neuron that did not spike is overwritten by the next.
      active += Math.min(1, counts[neuron]!);
    }
    counts.fill(0);
    return { neurons: neurons.slice(0, active), spikes: spikes.slice(0, active) };
  }
}

/** @param counts 0 but at these neurons */
function inAscendingOrder(neurons: readonly number[], counts: Uint32Array): Uint32Array {
  if (neurons.length < counts.length * SORTED_SHARE) return Uint32Array.from(neurons).sort();
  const ascending = new Uint32Array(neurons.length);
  for (let neuron = 0, place = 0; place < ascending.length; neuron++) {
    if (counts[neuron] !== 0) ascending[place++] = neuron;
  }
  return ascending;
}

function eventsBefore({ background, ...events }: InputEvents, step: number): InputEvents {
  const before = <T extends Pick<InputEvents, 'steps'>>(of: T): T => ({
    ...of,
    steps: of.steps.subarray(0, firstNotBelow(of.steps, step)),
  });
  return { ...before(events), ...(background && { background: before(background) }) };
}

/** Events whose steps count from the start of the trial, as those of a whole trial do. */
function inTrial({ steps, neurons }: EventsInTime, startStep: number): EventsInTime {
  return startStep === 0
    ? { steps, neurons }
    : { steps: new Uint32Array(steps).map((step) => step + startStep), neurons };
}

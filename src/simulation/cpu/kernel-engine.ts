/** The CPU backend: carries things in and out of the memory of the kernel; kernel.ts says what is computed, and why. */
import {
  MAXIMUM_NEURONS,
  MAXIMUM_SYNAPSES_PER_CONNECTION,
  type Wiring,
} from '../../connectome/connectome.js';
import type { InputEvents } from '../../stimulus/input-events.js';
import { MAXIMUM_PART_STEPS, MAXIMUM_TRIAL_STEPS, type NetworkConstants } from '../../stimulus/protocol.js';
import { MEMBRANE_DECAY, NETWORK, SYNAPSE_DECAY, SYNAPSE_TO_MEMBRANE, USUAL_CONSTANTS } from '../network.js';
import {
  checkDuration,
  type PartOptions,
  type SimulationEngine,
  type SimulationOptions,
  type Trial,
} from '../simulation.js';
import {
  ADDRESS_BITS,
  ADDRESS_SHIFT,
  type Kernel,
  ROW_CONNECTION_COUNT,
  ROW_END,
  ROW_MARKS,
  ROW_WORDS,
  SYNAPSES_PER_WORD,
  viewOf,
  WORD_BYTES,
} from './kernel-exports.js';
import { OverriddenConnections } from './overridden-connections.js';
import { Recorder } from './recorder.js';
import { type Muting, mutingsOf } from './mutings.js';
import { historyOf, type OpenTrial, TrialState, writeHistory } from './trial-state.js';

const EXCITATORY = 1;
const STIMULATED = 1 << 16;

const NO_NEURONS = new Uint32Array(0);
const NO_BACKGROUND = { steps: new Uint16Array(0), neurons: NO_NEURONS, eventMv: 0 };

/** A change of rows before a step. */
interface RowChange {
  readonly step: number;
  readonly apply: () => void;
}

/** The parts of a neuron that are silenced: the count of its connections when it spikes, and its delivery on arrival. */
interface Silencing {
  readonly ofSpikes?: boolean;
  readonly ofArrivals?: boolean;
}
const ALL: Silencing = { ofSpikes: true, ofArrivals: true };
/** STEPS_BETWEEN_REVIEWS in kernel/factors.ts. */
const STEPS_BETWEEN_REVIEWS = 8;

type Neurons = Muting['neurons'];

export class KernelEngine implements SimulationEngine {
  #kernel: Kernel;
  #overridden: OverriddenConnections;
  #constants: NetworkConstants | undefined;
  /** Words that the kernel has room for. */
  #room!: Words;
  /** The trial whose state is in the kernel, where one was begun and no other was simulated since. */
  #open: OpenTrial | undefined;

  /**
   * @param module dist/simulation/kernel/kernel.wasm, compiled; engines of several threads can share it
   * @param wiring has to stay as it is, until the engine is rewired
   * @param share makes room for other wirings, of so many times the words; memory that is never written takes no space
   * @throws RangeError where the wiring does not fit
   */
  constructor(
    private readonly module: WebAssembly.Module,
    private wiring: Wiring,
    private readonly share = 1,
  ) {
    if (wiring.neuronCount > MAXIMUM_NEURONS) {
      throw new RangeError(`the kernel takes up to ${MAXIMUM_NEURONS} neurons, not ${wiring.neuronCount}`);
    }
    this.#layOut();
    this.#writeWiring();
    this.#overridden = new OverriddenConnections(this.#kernel, wiring);
  }

  /** Takes another wiring of the same neurons in the place of the one before; see the constructor. */
  rewire(wiring: Wiring): void {
    this.#open = undefined;
    this.#overridden.apply({});
    this.wiring = wiring;
    if (!this.#writeWiring()) {
      this.#layOut();
      this.#writeWiring();
    }
    this.#overridden = new OverriddenConnections(this.#kernel, wiring);
  }

  simulate(events: InputEvents, options: SimulationOptions): Trial {
    checkDuration(options.durationSteps);
    this.#open = undefined;
    return this.#simulate(events, { ...options, startStep: 0 });
  }

  /** A trial that can be simulated in parts with these constants: that of the buffer, or one at rest. */
  newState(constants: Partial<NetworkConstants> = {}, buffer?: SharedArrayBuffer): TrialState {
    return new TrialState(
      this.wiring.neuronCount,
      historyStepsOf({ ...USUAL_CONSTANTS, ...constants }),
      buffer,
    );
  }

  /** The trial whose next part can be simulated: another object after each part, undefined after any other trial. */
  get opened(): OpenTrial | undefined {
    return this.#open;
  }

  /** Takes up a trial. It can be told between any two trials, or parts, of this engine. */
  load(state: TrialState): void {
    this.#open = state.load(this.#kernel);
  }

  /**
   * Simulates the next part of the trial that was loaded, or that the last part belongs to. Cut or whole, a trial has the
   * same spikes and the same state.
   * @param events whose steps count from the first one of the part, as do those of the spikes
   * @param options constants and overrides are those of all parts, and so are windows, which may be left out when all
   *   that was fired in them has arrived
   * @throws RangeError for a duration that is not 1 to MAXIMUM_PART_STEPS
   */
  advance(events: InputEvents, options: PartOptions): Trial {
    checkDuration(options.durationSteps, MAXIMUM_PART_STEPS);
    const open = this.#open;
    if (open?.step !== options.startStep) {
      throw new Error(`step ${options.startStep} is not the next one of the trial that is loaded`);
    }
    return this.#simulate(events, options, open);
  }

  /** Keeps the trial as it is after its last part. */
  save(state: TrialState): void {
    if (this.#open === undefined) throw new Error('no trial is loaded');
    state.save(this.#kernel, this.#open);
  }

  /** @param open undefined for a whole trial */
  #simulate(
    { stimulated, steps, neurons, background = NO_BACKGROUND }: InputEvents,
    options: PartOptions,
    open?: OpenTrial,
  ): Trial {
    const { startStep, durationSteps, silenced = NO_NEURONS, silencedWindows = [] } = options;
    const endStep = startStep + durationSteps;
    const kernel = this.#kernel;
    const constants = { ...USUAL_CONSTANTS, ...options.constants };
    const { excitatoryScale, inhibitoryScale, delaySteps } = constants;
    const historySteps = historyStepsOf(constants);
    // The kernel's own number of the first step: behind the history, with the reviews of the whole trial.
    const firstStep = open && historySteps + ((startStep + 7 * historySteps) % STEPS_BETWEEN_REVIEWS);
    this.#setConstants(constants);
    this.#overridden.apply(options);
    kernel.setVariation(excitatoryScale, inhibitoryScale, background.eventMv, this.#overridden.delivers);
    const recorder = new Recorder(kernel, options.recordings ?? [], startStep, endStep);
    kernel.layOutTrial(
      (firstStep ?? 0) + durationSteps,
      steps.length,
      background.steps.length,
      recorder.neuronCount,
      recorder.sampleCount,
    );
    const numbered = (given: Uint16Array) =>
      firstStep === undefined ? given : given.map((step) => step + firstStep);
    viewOf(kernel, Uint16Array, 'eventSteps', steps.length).set(numbered(steps));
    viewOf(kernel, Uint32Array, 'eventNeurons', steps.length).set(neurons);
    viewOf(kernel, Uint16Array, 'backgroundSteps', background.steps.length).set(numbered(background.steps));
    viewOf(kernel, Uint32Array, 'backgroundNeurons', background.steps.length).set(background.neurons);
    recorder.writeNeurons();
    const isVaried =
      excitatoryScale !== 1 ||
      inhibitoryScale !== 1 ||
      background.steps.length > 0 ||
      this.#overridden.delivers;
    const mutings = mutingsOf(silencedWindows, silenced, this.wiring.neuronCount);
    const marks = this.#rows();
    for (const i of stimulated) marks[ROW_WORDS * i + ROW_MARKS]! |= STIMULATED;
    this.#silence(silenced, ALL);
    let isWithinBudget: boolean;
    try {
      if (firstStep === undefined) kernel.begin(durationSteps, steps.length, background.steps.length);
      else {
        writeHistory(kernel, open!.history, firstStep);
        kernel.beginPart(firstStep, durationSteps, steps.length, background.steps.length);
      }
      const changes = this.#changesOf(mutings, delaySteps);
      isWithinBudget = this.#run(options, firstStep ?? 0, isVaried, changes, recorder);
    } finally {
      const rows = this.#rows();
      for (const i of stimulated) rows[ROW_WORDS * i + ROW_MARKS]! &= ~STIMULATED;
      for (const each of [silenced, ...mutings.map((muting) => muting.neurons)]) this.#restore(each, ALL);
    }
    const step = startStep + (kernel.stepCount.value as number) - (firstStep ?? 0);
    if (open !== undefined) this.#open = { step, history: historyOf(kernel, historySteps) };
    const spikeCount = firstStep === undefined ? kernel.end() : kernel.endPart();
    return {
      steps: viewOf(kernel, Uint16Array, 'rasterSteps', spikeCount),
      neurons: viewOf(kernel, Uint32Array, 'rasterNeurons', spikeCount),
      deliveredEvents: kernel.deliveredEvents.value as number,
      ...(!isWithinBudget && { stoppedAtStep: step - 1 }),
      ...(options.recordings && { membranes: recorder.samples() }),
    };
  }

  /**
   * Runs from change to change and from sample to sample.
   * @param firstStep the kernel's own number of the first step
   * @returns whether the event budget lasts
   */
  #run(
    { startStep, durationSteps, eventBudget = Infinity, eventBudgetPerStep = 0 }: PartOptions,
    firstStep: number,
    isVaried: boolean,
    changes: readonly RowChange[],
    recorder: Recorder,
  ): boolean {
    const kernel = this.#kernel;
    const endStep = startStep + durationSteps;
    const growsFrom = eventBudgetPerStep === 0 ? Infinity : Math.floor(eventBudget / eventBudgetPerStep);
    let next = 0;
    let isWithinBudget = true;
    for (let step = startStep; step < endStep && isWithinBudget;) {
      for (; next < changes.length && changes[next]!.step <= step; next++) changes[next]!.apply();
      const isGrowing = step >= growsFrom;
      const end = Math.min(endStep, changes[next]?.step ?? Infinity, isGrowing ? Infinity : growsFrom);
      const until = Math.min(end, recorder.nextStep + 1) - startStep + firstStep;
      const budget = isGrowing ? eventBudgetPerStep * (step + 1) : eventBudget;
      const growth = isGrowing ? eventBudgetPerStep : 0;
      const series = recorder.seriesBefore(end);
      let isWithin: number;
      if (series !== undefined) {
        const { everySteps, count, firstPotential } = series;
        const { neuronCount } = recorder;
        isWithin = kernel.runSampled(
          until,
          everySteps,
          count,
          neuronCount,
          firstPotential,
          isVaried,
          budget,
          growth,
        );
      } else {
        isWithin = isVaried ? kernel.runVaried(until, budget, growth) : kernel.run(until, budget, growth);
      }
      isWithinBudget = isWithin === 1;
      step = (kernel.stepCount.value as number) - firstStep + startStep;
      if (series !== undefined) recorder.tookBefore(step);
      else if (recorder.nextStep === step - 1) recorder.sample();
    }
    return isWithinBudget;
  }

  #changesOf(mutings: readonly Muting[], delaySteps: number): RowChange[] {
    const [ofSpikes, ofArrivals] = [{ ofSpikes: true }, { ofArrivals: true }];
    return mutings
      .flatMap(({ neurons, startStep, endStep }): RowChange[] => [
        { step: startStep, apply: () => this.#silence(neurons, ofSpikes) },
        { step: endStep, apply: () => this.#restore(neurons, ofSpikes) },
        { step: startStep + delaySteps, apply: () => this.#silence(neurons, ofArrivals) },
        { step: endStep + delaySteps, apply: () => this.#restore(neurons, ofArrivals) },
      ])
      .sort((a, b) => a.step - b.step);
  }

  #silence(neurons: Neurons, { ofSpikes, ofArrivals }: Silencing): void {
    const rows = this.#rows();
    for (const i of neurons) {
      if (ofSpikes) rows[ROW_WORDS * i + ROW_CONNECTION_COUNT] = 0;
      // A row that ends where it begins is empty.
      if (ofArrivals) rows[ROW_WORDS * i + ROW_END] = rows[ROW_WORDS * i]!;
    }
    if (ofArrivals) this.#overridden.silence(neurons);
  }

  #restore(neurons: Neurons, { ofSpikes, ofArrivals }: Silencing): void {
    const rows = this.#rows();
    for (const i of neurons) {
      const count = connectionsOf(this.wiring, i) - this.#overridden.cutsOf(i);
      if (ofSpikes) rows[ROW_WORDS * i + ROW_CONNECTION_COUNT] = count;
      // A row ends where the next one begins.
      if (ofArrivals) rows[ROW_WORDS * i + ROW_END] = rows[ROW_WORDS * (i + 1)]!;
    }
    if (ofArrivals) this.#overridden.restore(neurons);
  }

  #setConstants(constants: NetworkConstants): void {
    const { thresholdMv, delaySteps, refractorySteps, synapseMv, inputEventMv } = constants;
    const before = this.#constants;
    this.#constants = constants;
    const isKnown =
      before !== undefined &&
      before.thresholdMv === thresholdMv &&
      before.delaySteps === delaySteps &&
      before.refractorySteps === refractorySteps &&
      before.synapseMv === synapseMv &&
      before.inputEventMv === inputEventMv;
    if (isKnown) return;
    const restMv = NETWORK.restMv.value;
    const thresholdAboveRestMv = thresholdMv - restMv;
    this.#kernel.setConstants(restMv, thresholdAboveRestMv, delaySteps, refractorySteps);
    this.#kernel.setFactors(
      MEMBRANE_DECAY,
      SYNAPSE_DECAY,
      NETWORK.stepMs.value / NETWORK.tauMembraneMs.value,
      NETWORK.stepMs.value / NETWORK.tauSynapseMs.value,
      synapseMv * SYNAPSE_TO_MEMBRANE,
      inputEventMv,
      thresholdAboveRestMv,
    );
  }

  #rows(): Uint32Array {
    return viewOf(this.#kernel, Uint32Array, 'rows', ROW_WORDS * (this.wiring.neuronCount + 1));
  }

  /** Memory of WebAssembly never shrinks, so a wiring that does not fit gets another one. */
  #layOut(): void {
    const words = countWords(this.wiring);
    const room = (count: number) => Math.ceil(this.share * count);
    this.#room = { ofAll: room(words.ofAll), ofLongestRow: room(words.ofLongestRow) };
    this.#kernel = new WebAssembly.Instance(this.module, { env: { abort: brokenInvariant } })
      .exports as Kernel;
    this.#constants = undefined;
    this.#setConstants(USUAL_CONSTANTS);
    const { ofAll, ofLongestRow } = this.#room;
    this.#kernel.layOutNetwork(
      this.wiring.neuronCount,
      ofAll,
      ofLongestRow,
      MAXIMUM_TRIAL_STEPS,
      MAXIMUM_PART_STEPS,
    );
  }

  /** @returns whether it fits: what is beyond the end of the words is not written */
  #writeWiring(): boolean {
    const { neuronCount, rowStart, targets, synapseCounts, signs } = this.wiring;
    const kernel = this.#kernel;
    const rows = this.#rows();
    const words = viewOf(kernel, Int32Array, 'connections', this.#room.ofAll);
    const address = kernel.connections.value as number;
    let end = 0;
    let longest = 0;
    for (let i = 0; i < neuronCount; i++) {
      const sign = signs[i]!;
      const count = connectionsOf(this.wiring, i);
      const begin = end;
      const first = rowStart[i]!;
      const last = first + count;
      for (let c = first; c < last; c++) {
        const target = targets[c]! << ADDRESS_SHIFT;
        let rest = synapseCounts[c]!;
        for (; rest > SYNAPSES_PER_WORD; rest -= SYNAPSES_PER_WORD) {
          words[end++] = ((sign * SYNAPSES_PER_WORD) << ADDRESS_BITS) | target;
        }
        words[end++] = ((sign * rest) << ADDRESS_BITS) | target;
      }
      if (end % 2 !== 0) words[end++] = neuronCount << ADDRESS_SHIFT;
      if (end - begin > longest) longest = end - begin;
      rows[ROW_WORDS * i] = address + WORD_BYTES * begin;
      rows[ROW_WORDS * i + ROW_END] = address + WORD_BYTES * end;
      rows[ROW_WORDS * i + ROW_CONNECTION_COUNT] = count;
      rows[ROW_WORDS * i + ROW_MARKS] = sign > 0 ? EXCITATORY : 0;
    }
    rows[ROW_WORDS * neuronCount] = address + WORD_BYTES * end;
    return end <= this.#room.ofAll && longest <= this.#room.ofLongestRow;
  }
}

/** A neuron of sign 0 delivers nothing. */
function connectionsOf({ rowStart, signs }: Wiring, neuron: number): number {
  return signs[neuron] === 0 ? 0 : rowStart[neuron + 1]! - rowStart[neuron]!;
}

/** Words of the connections of a wiring; each row has an even number of them. */
interface Words {
  readonly ofAll: number;
  readonly ofLongestRow: number;
}

/** @throws RangeError for a connection of more synapses than a connectome may have */
function countWords({ neuronCount, rowStart, synapseCounts }: Wiring): Words {
  let count = 0;
  let longest = 0;
  for (let i = 0; i < neuronCount; i++) {
    const before = count;
    for (let c = rowStart[i]!; c < rowStart[i + 1]!; c++) {
      const synapses = synapseCounts[c]!;
      if (synapses > MAXIMUM_SYNAPSES_PER_CONNECTION) {
        throw new RangeError(
          `the kernel takes up to ${MAXIMUM_SYNAPSES_PER_CONNECTION} synapses a connection, not ${synapses}`,
        );
      }
      count += Math.ceil(synapses / SYNAPSES_PER_WORD);
    }
    count += count % 2;
    longest = Math.max(longest, count - before);
  }
  return { ofAll: count, ofLongestRow: longest };
}

/** Steps after which a spike has arrived and its neuron is not refractory any more; the kernel knows no period of 0. */
function historyStepsOf({ delaySteps, refractorySteps }: NetworkConstants): number {
  return Math.max(delaySteps, refractorySteps, 1);
}

function brokenInvariant(): never {
  throw new Error('the kernel failed an internal check');
}

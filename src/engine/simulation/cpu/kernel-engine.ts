/** The CPU engine: writes a trial into the kernel's memory and reads its result; kernel.ts explains the computation. */
import { NO_NEURONS } from '../../connectome/neuron-set.js';
import { MAX_NEURONS, MAX_SYNAPSES_PER_CONNECTION, type Wiring } from '../../connectome/connectome.js';
import { instantiated, viewOf } from '../../instantiated.js';
import { mapped } from '../../mapped.js';
import type { InputEvents } from '../../stimulus/input-events.js';
import {
  MAX_SEGMENT_STEPS,
  MAX_WHOLE_TRIAL_STEPS,
  type NetworkConstants,
  type SilencedWindow,
} from '../../stimulus/protocol.js';
import {
  MEMBRANE_DECAY,
  NETWORK,
  SYNAPSE_DECAY,
  SYNAPSE_TO_MEMBRANE,
  DEFAULT_CONSTANTS,
} from '../network.js';
import {
  checkDuration,
  type SegmentOptions,
  type SimulationEngine,
  type SimulationOptions,
  type SpikeRaster,
  type StateMemory,
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
  WORD_BYTES,
} from './kernel-exports.js';
import { OverriddenConnections } from './overridden-connections.js';
import { Recorder } from './recorder.js';
import { historyStepsOf } from './state-bytes.js';
import { historyOf, type LoadedTrial, TrialState, writeHistory } from './trial-state.js';

const EXCITATORY = 1;
const STIMULATED = 1 << 16;

const NO_BACKGROUND = { steps: new Uint16Array(0), neurons: NO_NEURONS, eventMv: 0 };

/** A change of rows that is applied before a step. */
interface RowChange {
  readonly step: number;
  readonly apply: () => void;
}

/** The constants that the kernel holds. */
const HELD = ['thresholdMv', 'delaySteps', 'refractorySteps', 'synapseMv', 'inputEventMv'] as const;
/** A kernel whose memory has grown by more bytes is dropped after its trial, because memory never shrinks. */
const MAX_GROWTH_BYTES = 2 ** 28;
/** Must equal STEPS_BETWEEN_REVIEWS in kernel/factors.ts. */
const STEPS_BETWEEN_REVIEWS = 8;

export class KernelEngine implements SimulationEngine {
  /** Undefined if the next use needs a new kernel. Nothing else refers to it, so that its memory is freed. */
  #made: { readonly kernel: Kernel; readonly overridden: OverriddenConnections } | undefined;
  /** The size of the kernel's memory before the first trial. */
  #bytesAtRest!: number;
  #constants: NetworkConstants | undefined;
  /** The number of words that the kernel has room for. */
  #room!: ReturnType<typeof countWords>;
  /** The trial in segments whose state is in the kernel; undefined if there is none. */
  #loaded: LoadedTrial | undefined;

  /**
   * @param module the compiled dist/engine/simulation/kernel/kernel.wasm; engines of several threads can share it
   * @param wiring must not change until the engine is rewired
   * @param share the room for later wirings, as a multiple of this wiring's words; unused room takes no memory
   * @throws RangeError if the wiring is too large
   */
  constructor(
    private readonly module: WebAssembly.Module,
    private wiring: Wiring,
    private readonly share = 1,
  ) {
    if (wiring.neuronCount > MAX_NEURONS) {
      throw new RangeError(`the kernel takes up to ${MAX_NEURONS} neurons, not ${wiring.neuronCount}`);
    }
    this.#makeReady();
  }

  /** Replaces the wiring by another one of the same neurons, which must not change either. */
  rewire(wiring: Wiring): void {
    this.#loaded = undefined;
    this.#made?.overridden.apply({});
    this.wiring = wiring;
    const kernel = this.#made?.kernel;
    const isRoomy = kernel !== undefined && this.#writeWiring();
    this.#made = isRoomy ? { kernel, overridden: new OverriddenConnections(kernel, wiring) } : undefined;
    this.#makeReady();
  }

  simulate(events: InputEvents, options: SimulationOptions): Trial {
    checkDuration(options.durationSteps);
    this.#loaded = undefined;
    this.#makeReady();
    const trial = this.#simulate(events, { ...options, startStep: 0 });
    this.#dropIfGrown();
    return trial;
  }

  /** @returns the state of a trial in segments with these constants: the one in `memory`, or a trial at rest */
  newState(constants: Partial<NetworkConstants> = {}, memory?: StateMemory): TrialState {
    return new TrialState(this.wiring.neuronCount, historyStepsOf(constants), memory);
  }

  /** The trial that `advance` continues. It is another object after each segment, and undefined after a whole trial. */
  get loaded(): LoadedTrial | undefined {
    return this.#loaded;
  }

  /** Loads a trial, so that `advance` continues it. Call it between any two trials or segments. */
  load(state: TrialState): void {
    this.#loaded = undefined;
    this.#dropIfGrown();
    this.#makeReady();
    this.#loaded = state.load(this.#kernel);
  }

  /**
   * Simulates the next segment of the loaded trial. A trial in segments has the same spikes as a whole one, and the
   * same state in the end.
   * @param events their steps count from the segment's first one, as do those of the spikes
   * @param options all segments need the same constants, overrides and windows. A window may be left out when all
   *   spikes fired in it have arrived
   * @throws RangeError if the duration is not 1 to MAX_SEGMENT_STEPS
   */
  advance(events: InputEvents, options: SegmentOptions): Trial {
    checkDuration(options.durationSteps, MAX_SEGMENT_STEPS);
    const loaded = this.#loaded;
    if (loaded?.step !== options.startStep) {
      throw new Error(`step ${options.startStep} is not the next one of the trial that is loaded`);
    }
    return this.#simulate(events, options, loaded);
  }

  /** Stores the trial as it is after its last segment. */
  save(state: TrialState): void {
    if (this.#loaded === undefined) throw new Error('no trial is loaded');
    state.save(this.#kernel, this.#loaded);
  }

  /** @param loaded undefined for a whole trial */
  #simulate(events: InputEvents, options: SegmentOptions, loaded?: LoadedTrial): Trial {
    try {
      return this.#compute(events, options, loaded);
    } catch (error) {
      // The kernel may have written anywhere before it failed.
      this.#made = undefined;
      this.#loaded = undefined;
      throw error;
    }
  }

  #compute(
    { stimulated, steps, neurons, background = NO_BACKGROUND }: InputEvents,
    options: SegmentOptions,
    loaded?: LoadedTrial,
  ): Trial {
    const { startStep, durationSteps, silenced = NO_NEURONS, silencedWindows = [] } = options;
    const endStep = startStep + durationSteps;
    const kernel = this.#kernel;
    const constants = { ...DEFAULT_CONSTANTS, ...options.constants };
    const { excitatoryScale, inhibitoryScale, delaySteps } = constants;
    const historySteps = historyStepsOf(constants);
    // The kernel's number of the first step: after the history, and with reviews in the same steps as in a whole trial.
    const firstStep = loaded && historySteps + ((startStep + 7 * historySteps) % STEPS_BETWEEN_REVIEWS);
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
    this.#writeEvents({ steps, neurons }, background, firstStep);
    recorder.writeNeurons();
    const isVaried =
      excitatoryScale !== 1 ||
      inhibitoryScale !== 1 ||
      background.steps.length > 0 ||
      this.#overridden.delivers;
    const marks = this.#rows();
    for (const i of stimulated) marks[ROW_WORDS * i + ROW_MARKS]! |= STIMULATED;
    this.#countSpikes(silenced, false);
    this.#deliver(silenced, false);
    if (firstStep === undefined) kernel.begin(durationSteps, steps.length, background.steps.length);
    else {
      writeHistory(kernel, loaded!.history, firstStep);
      kernel.beginSegment(firstStep, durationSteps, steps.length, background.steps.length);
    }
    const changes = this.#changesOf(silencedWindows, silenced, delaySteps);
    const isWithinBudget = this.#run(options, firstStep ?? 0, isVaried, changes, recorder);
    const rows = this.#rows();
    for (const i of stimulated) rows[ROW_WORDS * i + ROW_MARKS]! &= ~STIMULATED;
    for (const each of [silenced, ...silencedWindows.map(({ neurons }) => neurons)]) {
      this.#countSpikes(each, true);
      this.#deliver(each, true);
    }
    const step = startStep + (kernel.stepCount.value as number) - (firstStep ?? 0);
    if (loaded !== undefined) this.#loaded = { step, history: historyOf(kernel, historySteps) };
    const spikeCount = firstStep === undefined ? kernel.end() : kernel.endSegment();
    return {
      steps: viewOf(kernel, Uint16Array, 'rasterSteps', spikeCount),
      neurons: viewOf(kernel, Uint32Array, 'rasterNeurons', spikeCount),
      deliveredEvents: kernel.deliveredEvents.value as number,
      ...(!isWithinBudget && { stoppedAtStep: step - 1 }),
      ...(options.recordings && { membranes: recorder.samples() }),
    };
  }

  /** @param firstStep the kernel's number of the first step; undefined if it is that of the events */
  #writeEvents(events: SpikeRaster, background: SpikeRaster, firstStep: number | undefined): void {
    const numbered = (given: Uint16Array) =>
      firstStep === undefined ? given : given.map((step) => step + firstStep);
    const [count, backgroundCount] = [events.steps.length, background.steps.length];
    viewOf(this.#kernel, Uint16Array, 'eventSteps', count).set(numbered(events.steps));
    viewOf(this.#kernel, Uint32Array, 'eventNeurons', count).set(events.neurons);
    viewOf(this.#kernel, Uint16Array, 'backgroundSteps', backgroundCount).set(numbered(background.steps));
    viewOf(this.#kernel, Uint32Array, 'backgroundNeurons', backgroundCount).set(background.neurons);
  }

  /**
   * Simulates from one change of rows or sample to the next.
   * @param firstStep the kernel's number of the first step
   * @returns whether the trial is within its event budget
   */
  #run(
    { startStep, durationSteps, eventBudget = Infinity, eventBudgetPerStep = 0 }: SegmentOptions,
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

  /** Silencing has two halves: a spike is counted when it is fired, and delivered after the delay. */
  #changesOf(windows: readonly SilencedWindow[], silenced: Uint32Array, delaySteps: number): RowChange[] {
    const given = windows.filter(({ startStep, endStep }) => startStep < endStep);
    const changesOfHalf = (delay: number, setActive: (neurons: Uint32Array, isActive: boolean) => void) => {
      /** The number of windows that each neuron is in. It is never 0 for neurons that are always silenced. */
      const windowsOf = new Uint32Array(this.wiring.neuronCount);
      for (const neuron of silenced) windowsOf[neuron] = 1;
      const entersFirst = (neuron: number) => windowsOf[neuron]!++ === 0;
      const leavesLast = (neuron: number) => --windowsOf[neuron]! === 0;
      return given.flatMap(({ neurons, startStep, endStep }): RowChange[] => [
        { step: startStep + delay, apply: () => setActive(neurons.filter(entersFirst), false) },
        { step: endStep + delay, apply: () => setActive(neurons.filter(leavesLast), true) },
      ]);
    };
    if (given.length === 0) return [];
    return [
      ...changesOfHalf(0, (neurons, areCounted) => this.#countSpikes(neurons, areCounted)),
      ...changesOfHalf(delaySteps, (neurons, areDelivered) => this.#deliver(neurons, areDelivered)),
    ].sort((a, b) => a.step - b.step);
  }

  /** Determines whether the connections of neurons are counted when the neurons spike. */
  #countSpikes(neurons: Uint32Array, areCounted: boolean): void {
    const rows = this.#rows();
    for (const i of neurons) {
      const count = areCounted ? connectionsOf(this.wiring, i) - this.#overridden.cutsOf(i) : 0;
      rows[ROW_WORDS * i + ROW_CONNECTION_COUNT] = count;
    }
  }

  /** Determines whether arriving spikes of neurons are delivered. */
  #deliver(neurons: Uint32Array, areDelivered: boolean): void {
    const rows = this.#rows();
    // A row ends where the next one begins. If its end is its beginning, it is empty.
    for (const i of neurons) rows[ROW_WORDS * i + ROW_END] = rows[ROW_WORDS * (areDelivered ? i + 1 : i)]!;
    this.#overridden.deliver(neurons, areDelivered);
  }

  #setConstants(constants: NetworkConstants): void {
    const { thresholdMv, delaySteps, refractorySteps, synapseMv, inputEventMv } = constants;
    const before = this.#constants;
    this.#constants = constants;
    if (before !== undefined && HELD.every((name) => before[name] === constants[name])) return;
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

  get #kernel(): Kernel {
    return this.#made!.kernel;
  }

  get #overridden(): OverriddenConnections {
    return this.#made!.overridden;
  }

  #dropIfGrown(): void {
    const bytes = this.#made?.kernel.memory.buffer.byteLength ?? 0;
    if (bytes > this.#bytesAtRest + MAX_GROWTH_BYTES) this.#made = undefined;
  }

  /** Makes a kernel at rest if there is none. Results that are views of the one before stay. */
  #makeReady(): void {
    if (this.#made !== undefined) return;
    try {
      const kernel = instantiated<Kernel>(this.module, 'the kernel');
      this.#made = { kernel, overridden: new OverriddenConnections(kernel, this.wiring) };
      this.#constants = undefined;
      this.#setConstants(DEFAULT_CONSTANTS);
      const { neuronCount } = this.wiring;
      this.#room = mapped(countWords(this.wiring), (count) => Math.ceil(this.share * count));
      const { ofAll, ofLongestRow } = this.#room;
      kernel.layOutNetwork(neuronCount, ofAll, ofLongestRow, MAX_WHOLE_TRIAL_STEPS, MAX_SEGMENT_STEPS);
      this.#writeWiring();
      this.#bytesAtRest = kernel.memory.buffer.byteLength;
    } catch (error) {
      this.#made = undefined;
      throw error;
    }
  }

  /** @returns whether the wiring fits. If not, the words beyond the room are not written */
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

/** @returns the number of a neuron's connections; a neuron of sign 0 delivers nothing */
function connectionsOf({ rowStart, signs }: Wiring, neuron: number): number {
  return signs[neuron] === 0 ? 0 : rowStart[neuron + 1]! - rowStart[neuron]!;
}

/**
 * @returns the numbers of words that the connections of a wiring need; each row has an even number of words
 * @throws RangeError if a connection has more synapses than a connectome may have
 */
function countWords({ neuronCount, rowStart, synapseCounts }: Wiring) {
  let count = 0;
  let longest = 0;
  for (let i = 0; i < neuronCount; i++) {
    const before = count;
    for (let c = rowStart[i]!; c < rowStart[i + 1]!; c++) {
      const synapses = synapseCounts[c]!;
      if (synapses > MAX_SYNAPSES_PER_CONNECTION) {
        throw new RangeError(
          `the kernel takes up to ${MAX_SYNAPSES_PER_CONNECTION} synapses a connection, not ${synapses}`,
        );
      }
      count += Math.ceil(synapses / SYNAPSES_PER_WORD);
    }
    count += count % 2;
    longest = Math.max(longest, count - before);
  }
  return { ofAll: count, ofLongestRow: longest };
}

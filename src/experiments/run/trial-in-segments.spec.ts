import { planOf } from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import {
  compileDrawingKernel,
  compileKernel,
  compileRewiringKernel,
} from '../../workers/pool/kernel-file.js';
import { KernelEngine } from '../../engine/simulation/cpu/kernel-engine.js';
import { RewirableEngine } from '../../engine/simulation/rewiring/rewirable-engine.js';
import { compiledDrawing } from '../../engine/stimulus/compiled-drawing.js';
import {
  isProgress,
  type SegmentState,
  trialTask,
  type TrialProgress,
  type TrialResult,
  type TrialTask,
} from '../plan/trial.js';
import { sessionSteps, trialInSegments, trialOf, TrialReader } from './readout.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer);
const workers = [1, 2].map(() => {
  const simulation = compileKernel();
  const modules = () => ({ simulation, rewiring: compileRewiringKernel() });
  const engine = new RewirableEngine(new KernelEngine(simulation, connectome), connectome, modules);
  const draw = compiledDrawing(compileDrawingKernel());
  const inParts = trialInSegments(new TrialReader(connectome, draw), (wiring) => engine.engineFor(wiring));
  const step = sessionSteps(new TrialReader(connectome, draw), engine);
  return { whole: trialOf(new TrialReader(connectome, draw), engine), inParts, step };
});

const REPORTS = {
  rates: { node_set: '@all', group_by: ['type'] },
  early: { node_set: '@all', start_ms: 100.3, end_ms: 1500 },
  bins: { node_set: '@all', type: 'histogram', group_by: ['side'], bin_ms: 70 },
  first: { node_set: '@all', type: 'latency', group_by: ['neuron'], start_ms: 700 },
  spikes: { node_set: '@all', type: 'spikes' },
  inputs: { node_set: '@all', type: 'inputs', start_ms: 900, end_ms: 1200 },
  membranes: { node_set: '@all', type: 'membrane', dt_ms: 33 },
};
const DOCUMENT = {
  inputs: {
    sugar: { node_set: 'S_sugar', rate_hz: { times_ms: [0, 800, 1000.1, 2500], values: [80, 0, 150, 20] } },
    replay: { node_set: 'S_loom', module: 'spikes', times_ms: [10, 999.9, 1000, 2400] },
    all: { node_set: '@all', module: 'background', rate_hz: 2, event_mv: 20 },
  },
  silence: [{ node_set: 'S_sugar', start_ms: 995, end_ms: 1700 }],
  duration_ms: 2750,
  trials: 1,
  reports: REPORTS,
};

function task(document: object, limits = {}): TrialTask {
  const { protocol, reports, maxRows } = planOf(connectome, document, limits).condition(0, []);
  return trialTask({ protocol, reports, countsAll: true, ...(maxRows && { maxRows }) }, 0);
}

/** Parts go to the workers in turn, and each computes other trials between them. */
function inTurns(trial: TrialTask, wiring = {}): { trialResult: TrialResult; turns: number } {
  const other = task({ ...DOCUMENT, wiring, seed: 7, duration_ms: 30, inputs: {}, silence: [], reports: {} });
  let progress: TrialProgress | undefined;
  for (let turns = 1; ; turns++) {
    const { whole, inParts } = workers[turns % 2]!;
    const result = inParts(trial, progress, () => turns % 3 !== 0);
    if (!isProgress(result)) return { trialResult: result, turns };
    progress = structuredClone(result);
    whole(other);
  }
}

describe('a trial in parts', () => {
  it('has the trialResult of the whole trial, whatever is read', () => {
    const trial = task(DOCUMENT);
    const expected = workers[0]!.whole(trial);
    const { trialResult, turns } = inTurns(trial);
    expect(turns).toBe(3);
    expect(trialResult).toEqual(expected);
    expect(expected.reports.map((report) => ('rows' in report ? report.rows : 1))).not.toContain(0);
    expect(expected.spikes).toBeGreaterThan(1000);
  });

  it('of a rewired network goes on with it if another one was prepared meanwhile', () => {
    const trial = task({ ...DOCUMENT, wiring: { shuffle: 'targets' } });
    const expected = workers[0]!.whole(trial);
    expect(inTurns(trial, { shuffle: 'weights', seed: 2 }).trialResult).toEqual(expected);
    expect(expected.spikes).not.toBe(workers[0]!.whole(task(DOCUMENT)).spikes);
  });

  it('ends if the event budget ends it, which grows in the long run', () => {
    const whole = workers[0]!.whole(task({ ...DOCUMENT, duration_ms: 2750 }));
    const perSecond = whole.synapticEvents / 2.75;
    const stopping = {
      synapticEventsPerTrial: perSecond,
      synapticEventsPerBrainSecond: 0.95 * perSecond,
    };
    const trial = task(DOCUMENT, stopping);
    const stopped = workers[0]!.whole(trial);
    const { stoppedAtStep = 0 } = stopped;
    expect(stoppedAtStep).toBeGreaterThan(11_000);
    // The result has nothing from after the step: neither spikes nor events of inputs.
    const protocol = { ...trial.protocol, durationSteps: stoppedAtStep + 1 };
    expect(inTurns(trial).trialResult).toEqual(workers[0]!.whole({ ...trial, protocol }));
    expect(stopped).toEqual(inTurns(trial).trialResult);
    const enough = { synapticEventsPerTrial: 10, synapticEventsPerBrainSecond: 20 * perSecond };
    expect(inTurns(task(DOCUMENT, enough)).trialResult).toEqual(whole);
  });

  it('may last ten minutes', () => {
    const times = Array.from({ length: 20 }, (_, k) => 30_000 * k);
    const trial = task({
      inputs: {
        sugar: { node_set: 'S_sugar', rate_hz: { times_ms: times, values: times.map((_, k) => 3 * k) } },
      },
      duration_ms: 600_000,
      trials: 1,
      reports: { bins: { node_set: 'S_sugar', type: 'histogram', bin_ms: 30_000 } },
    });
    const { trialResult } = inTurns(trial);
    const { cellSpikes } = trialResult.reports[0] as unknown as { cellSpikes: Uint32Array };
    expect(cellSpikes).toHaveLength(19);
    // The neurons spike once for each event, except for simultaneous ones.
    const neurons = trial.protocol.inputs[0]!.neurons.length;
    cellSpikes.forEach((spikes, k) => expect(spikes / (30 * neurons * 3 * (k + 1))).toBeCloseTo(1, 0));
    expect(trialResult.inputEvents).toBeGreaterThan(100_000);
  });
});

describe('steps of sessions', () => {
  it('tell which of them had a network prepared', () => {
    const { step } = workers[0]!;
    const trials = [{}, { shuffle: 'weights', seed: 1 }, { shuffle: 'weights', seed: 2 }].map((wiring) =>
      task({ ...DOCUMENT, wiring }),
    );
    let number = 0;
    const states = trials.map((): { previousNumber?: number; stateBefore?: SegmentState } => ({}));
    const prepared = [0, 1, 0, 1, 2, 0, 2, 1, 1].map((at) => {
      const { stateBefore, previousNumber } = states[at]!;
      const startStep = stateBefore === undefined ? 0 : 100;
      const trialResult = step(
        trials[at]!,
        {
          ...{ startStep, endStep: startStep + 100, number: ++number, previousNumber, stateBefore },
          ...{ memoryAfter: undefined, synapticEvents: 0, readsDrives: false },
        },
        () => undefined,
      );
      // The first of two steps, again and again.
      states[at] =
        stateBefore === undefined ? { stateBefore: trialResult.state, previousNumber: number } : {};
      return trialResult.hadToPrepare;
    });
    expect(prepared).toEqual([false, true, false, false, true, false, false, true, false]);
  });
});

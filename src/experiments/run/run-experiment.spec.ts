import fc from 'fast-check';
import { setImmediate } from 'node:timers/promises';
import { answerOf, localTrials, planOf, rowsOf, tableIn } from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { answerJson, conditionJson } from '../formats/answer-json.js';
import type { ExperimentPlan } from '../plan/plan.js';
import type { AnsweredCondition } from '../document/result.js';
import type { ExperimentProgress, RunOptions, RunTrial } from './condition-run.js';
import { Page } from './pages.js';
import { ChunkRunner } from './chunk-runner.js';
import { runExperiment } from './run-experiment.js';
import type { TrialResult } from '../plan/trial.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer);
/** The small network with root ids. */
const measured = openConnectome(
  encodeConnectome({
    ...smallConnectome(),
    metadata: { ...smallConnectome().metadata, wiring: 'measured' },
    neuronIds: Array.from({ length: connectome.neuronCount }, (_, i) => String(10n ** 17n + BigInt(i))),
  }).buffer as ArrayBuffer,
);
const runTrial = localTrials(connectome);
const INTERNEURONS = { super_class: 'central', sub_class: 'inter' };

/** Two axes, one of them a screen of responders, and every type of report. */
const SCREEN = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 60 }, song: { node_set: 'S_song', rate_hz: 20 } },
  duration_ms: 60,
  trials: 3,
  reports: {
    inter: { node_set: INTERNEURONS, group_by: ['side'] },
    motor: { node_set: 'C_motor', type: 'histogram', bin_ms: 7, group_by: ['neuron'] },
    rows: { node_set: 'C_*', type: 'spikes' },
    events: { node_set: ['S_sugar', 'S_song'], type: 'inputs' },
    potentials: { node_set: 'C_motor', type: 'membrane', dt_ms: 7 },
  },
  sweep: [
    { set: 'inputs.sugar.rate_hz', values: [40, 120] },
    { each: { responders_of: 'baseline', top: 6 }, group_by: ['type'], as: 'silence' },
  ],
};

/** The answer as its client gets it. */
async function bytesOf(plan: ExperimentPlan, run: RunTrial, options: RunOptions): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of answerJson(runExperiment(plan, run, options), connectome)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

function jsonOf(condition: AnsweredCondition): string {
  return [...conditionJson(condition, connectome)].join('');
}

/** Ends trials in an order of its own: by a number drawn from a fixed sequence. */
function shuffled(seed: number): RunTrial {
  let state = seed;
  return async (task, trial, signal) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    for (let turns = state >>> 29; turns > 0; turns--) await setImmediate();
    return runTrial(task, trial, signal);
  };
}

describe('runExperiment', () => {
  it('gives the same whatever order trials end in and however many run at once', async () => {
    const plan = planOf(connectome, SCREEN);
    const expected = await bytesOf(plan, runTrial, { inFlight: 1 });
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 9 }), async (seed, inFlight) => {
        expect(await bytesOf(plan, shuffled(seed), { inFlight })).toBe(expected);
      }),
      { numRuns: 8 },
    );
  });

  it('counts the neurons of the whole brain that responded in any trial, as its own spikes do', async () => {
    const reports = { all: { node_set: '@all', type: 'spikes' } };
    const { conditions } = await answerOf(planOf(connectome, { ...SCREEN, reports }), runTrial);
    for (const condition of conditions) {
      const rows = rowsOf(tableIn(condition, 'all'));
      const respondingIn = (trials: readonly number[]) =>
        new Set(rows.filter(([trial]) => trials.includes(trial!)).map(([, , neuron]) => neuron)).size;
      expect(condition.responding_any).toBe(respondingIn([0, 1, 2]));
      expect(condition.responding_neurons!.mean).toBeCloseTo(
        [0, 1, 2].reduce((sum, trial) => sum + respondingIn([trial]), 0) / 3,
        4,
      );
    }
    // Otherwise one trial would do. The baselines decide on others, and their results have counts in place of a list.
    const more = conditions.map(
      ({ responding_any: any, responding_neurons: of }) => any! > Math.ceil(of!.mean),
    );
    expect([more[0], more.at(-1)]).toEqual([true, true]);
  });

  it('goes on at any condition as it would have gone on', async () => {
    const plan = planOf(connectome, SCREEN);
    const whole = await answerOf(plan, runTrial);
    // The responders of each rate, some of which are not there.
    expect(whole.conditions.length).toBeGreaterThan(8);
    for (let from = 0; from < plan.conditions; from++) {
      const { conditions } = await answerOf(plan, runTrial, { from });
      expect(conditions.map(jsonOf)).toEqual(
        whole.conditions.filter(({ index }) => index >= from).map(jsonOf),
      );
    }
  });

  it('runs before `from` nothing but the baselines that are needed', async () => {
    const plan = planOf(connectome, SCREEN);
    // Conditions 7 to 13 have the second rate; 9 needs its baseline, 7.
    const { totals } = await answerOf(plan, runTrial, { from: 9 });
    const { conditions } = await answerOf(plan, runTrial, { from: 9 });
    expect(totals.cost.brain_seconds).toBeCloseTo((conditions.length + 1) * 3 * 0.06, 10);
    expect(totals.warnings.find(({ code }) => code === 'RESUMED')!.message).toBe(
      'This part of the answer begins at condition 9. Its cost, and warnings about the results of certain conditions, do not cover ' +
        'the conditions before it.',
    );
    expect((await answerOf(plan, runTrial)).totals.warnings.map(({ code }) => code)).not.toContain('RESUMED');
    expect(plan.cost.work(9).brainMs / 1000).toBeCloseTo(6 * 3 * 0.06, 10);
  });

  it('runs nothing before `from` if groups are stimulated in turn: no baseline decides on them', async () => {
    const sweep = [{ each: 'S_*', group_by: ['type'], as: 'inputs.sugar' }];
    const plan = planOf(connectome, { ...SCREEN, sweep });
    const { conditions, totals } = await answerOf(plan, runTrial, { from: 1 });
    expect(conditions).toHaveLength(plan.conditions - 1);
    expect(totals.cost.brain_seconds).toBeCloseTo(conditions.length * 3 * 0.06, 10);
    expect(plan.cost.work(1).brainMs / 1000).toBeCloseTo(totals.cost.brain_seconds, 10);
    const dryRun = plan.dryRun(1);
    expect(dryRun.cost.brain_seconds).toBeCloseTo(totals.cost.brain_seconds, 10);
    expect(dryRun.conditions.map(({ index }) => index)).toEqual(conditions.map(({ index }) => index));
  });

  it('leaves out lesions that change nothing, and they do change nothing', async () => {
    const request = {
      ...SCREEN,
      sweep: [{ each: ['S_*', INTERNEURONS], group_by: ['neuron'], as: 'silence' }],
    };
    const { conditions, totals } = await answerOf(planOf(connectome, request), runTrial);
    expect(totals.unchanged.length).toBeGreaterThan(50);
    expect(conditions.length).toBeGreaterThan(20);
    const [baseline] = conditions;
    const withoutNumber = (condition: AnsweredCondition) => ({ ...condition, index: 0, parameters: {} });
    // Half of them budgets that end trials early.
    for (const limits of [{}, { synapticEventsPerTrial: 300 }]) {
      const own = await answerOf(planOf(connectome, { ...request, sweep: [] }, limits), runTrial);
      if (limits.synapticEventsPerTrial) expect(own.conditions[0]!.complete).toBe(false);
      for (const { silence } of totals.unchanged.slice(0, 30)) {
        const { root_id: name } = silence as { root_id: string };
        const neuron = Array.from({ length: connectome.neuronCount }, (_, i) =>
          connectome.neuronId(i),
        ).indexOf(name);
        const { protocol, reports } = planOf(connectome, { ...request, sweep: [] }, limits).condition(0, []);
        const task = { protocol, reports, countsAll: true };
        const lesion = { ...task, protocol: { ...task.protocol, silenced: Uint32Array.of(neuron) } };
        const { signal } = new AbortController();
        expect(await runTrial(lesion, 0, signal)).toEqual(await runTrial(task, 0, signal));
      }
      if (limits.synapticEventsPerTrial === undefined) {
        expect(withoutNumber(own.conditions[0]!)).toEqual(withoutNumber(baseline!));
      }
    }
  });

  it('has a bounded number of trials under way, and waits for a reader', async () => {
    let running = 0;
    let most = 0;
    let begun = 0;
    const counting: RunTrial = async (task, trial, signal) => {
      begun++;
      most = Math.max(most, ++running);
      await setImmediate();
      running--;
      return runTrial(task, trial, signal);
    };
    const events = runExperiment(planOf(connectome, SCREEN), counting, { inFlight: 2 });
    await events.next();
    expect(begun).toBe(0);
    await events.next();
    for (let turn = 0; turn < 50; turn++) await setImmediate();
    // Three trials of the first condition, and at most four after them.
    expect(begun).toBeLessThanOrEqual(7);
    for await (const event of events) void event;
    expect(most).toBe(2);
  });

  it('ends with the error of a trial and begins no other', async () => {
    let begun = 0;
    const failing: RunTrial = async (task, trial, signal) => {
      const own = begun++;
      await setImmediate();
      if (own === 4) throw new Error('a worker was lost');
      return runTrial(task, trial, signal);
    };
    await expect(answerOf(planOf(connectome, SCREEN), failing, { inFlight: 2 })).rejects.toThrow(
      'a worker was lost',
    );
    const then = begun;
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    expect(begun).toBe(then);
  });

  it('ends at once when it is aborted, also while trials never end, and tells them', async () => {
    const abort = new AbortController();
    const signals: AbortSignal[] = [];
    const never: RunTrial = (_task, _trial, signal) => {
      signals.push(signal);
      return new Promise<TrialResult>(() => {});
    };
    const answer = answerOf(planOf(connectome, SCREEN), never, { inFlight: 2, signal: abort.signal });
    await setImmediate();
    expect(signals).toHaveLength(2);
    abort.abort(new Error('the client left'));
    await expect(answer).rejects.toThrow('the client left');
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    await expect(answerOf(planOf(connectome, SCREEN), never, { signal: abort.signal })).rejects.toThrow(
      'left',
    );
    expect(signals).toHaveLength(2);
  });

  it('tells its trials when the reader leaves', async () => {
    const signals: AbortSignal[] = [];
    const listening: RunTrial = (task, trial, signal) => {
      signals.push(signal);
      return runTrial(task, trial, signal);
    };
    for await (const event of runExperiment(planOf(connectome, SCREEN), listening, { inFlight: 2 })) {
      if (event.kind === 'condition') break;
    }
    expect(signals.at(-1)!.aborted).toBe(true);
    const begun = signals.length;
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    expect(signals).toHaveLength(begun);
  });

  it('computes as many trials of a chunk at once as it may at the moment', async () => {
    const plan = planOf(connectome, { ...SCREEN, sweep: [{ set: 'seed', values: [1, 2, 3, 4] }] });
    let inFlight = 2;
    let running = 0;
    let most = 0;
    const counting: RunTrial = async (task, trial, signal) => {
      most = Math.max(most, ++running);
      await setImmediate();
      running--;
      return runTrial(task, trial, signal);
    };
    const options = { inFlight: () => inFlight };
    const load = () => Promise.reject(new Error('nothing decides'));
    for await (const [index] of new ChunkRunner(plan).run([0, 1, 2, 3], load, counting, options)) {
      if (index === 0) expect(most).toBe(2);
      inFlight = 5;
    }
    expect(most).toBe(5);
  });

  it('reports its progress, and the work that it did not need', async () => {
    const seen: ExperimentProgress[] = [];
    const plan = planOf(connectome, SCREEN);
    const { conditions } = await answerOf(plan, runTrial, {
      onProgress: (progress) => seen.push(progress),
    });
    const last = seen.at(-1)!;
    expect(last).toMatchObject({
      trials: 3 * conditions.length,
      trialsDone: 3 * conditions.length,
    });
    expect(seen[0]).toMatchObject({ trials: 42, trialsDone: 0 });
    expect(plan.cost.work().brainMs / 1000).toBeCloseTo(42 * 0.06, 10);
  });

  it('counts the trials of its page, neither those before it nor those after it', async () => {
    const plan = planOf(connectome, { ...SCREEN, sweep: [{ set: 'seed', values: [1, 2, 3, 4] }] });
    const { conditions } = await answerOf(plan, runTrial);
    const tables = ['rows', 'events'].flatMap((report) => rowsOf(tableIn(conditions[1]!, report)));
    const [, second, third] = [0, 1, 2].map((trial) => tables.filter(([of]) => of === trial).length);
    // The page has trial 1 of condition 1. Trial 2 does not fit.
    const lastOf = async (extent: object): Promise<ExperimentProgress> => {
      const seen: ExperimentProgress[] = [];
      const limit = { rows: second! + third! - 1, formats: 'a test' };
      const page = new Page({ condition: 1, trial: 1 }, limit, true);
      const onProgress = (progress: ExperimentProgress) => seen.push(progress);
      await answerOf(plan, runTrial, { from: 1, page, inFlight: 1, onProgress, ...extent });
      expect(page.next).toEqual({ condition: 1, trial: 2 });
      expect(seen[0]!.trials).toBe('fromTrial' in extent ? 8 : 9);
      return seen.at(-1)!;
    };
    // All trials of its condition, and one that was begun before the page was full.
    const { trials, trialsDone } = await lastOf({});
    expect(trials).toBeLessThanOrEqual(4);
    expect(trialsDone).toBeLessThanOrEqual(trials);
    // A table has no need of trial 0.
    expect((await lastOf({ fromTrial: 1 })).trials).toBeLessThanOrEqual(3);
  });
});

/** Spikes and input events of the trials of a request. */
async function spikesOf(request: object): Promise<{ rows: number[][]; events: number[][] }> {
  const reports = {
    rows: { node_set: [INTERNEURONS, 'C_*'], type: 'spikes' },
    events: { node_set: 'S_*', type: 'inputs' },
  };
  const { conditions } = await answerOf(planOf(connectome, { ...request, reports }), runTrial);
  return { rows: rowsOf(tableIn(conditions[0]!, 'rows')), events: rowsOf(tableIn(conditions[0]!, 'events')) };
}

describe('trains are paired', () => {
  const base = { inputs: { sugar: { node_set: 'S_sugar', rate_hz: 80 } }, duration_ms: 100, trials: 2 };

  it('a lesion, a second input, more trials and a longer one redraw nothing', async () => {
    const { events } = await spikesOf(base);
    expect(events.length).toBeGreaterThan(100);
    const of = (rows: number[][], trials: number, endStep: number) =>
      rows.filter(([trial, step, , input]) => trial! < trials && step! < endStep && input === 0);
    const lesion = await spikesOf({ ...base, silence: ['S_sugar', INTERNEURONS] });
    expect(lesion.events).toEqual(events);
    const second = { ...base.inputs, song: { node_set: ['S_song', 'S_sugar'], rate_hz: 90 } };
    expect(of((await spikesOf({ ...base, inputs: second })).events, 2, 1000)).toEqual(events);
    expect(of((await spikesOf({ ...base, trials: 4 })).events, 2, 1000)).toEqual(events);
    expect(of((await spikesOf({ ...base, duration_ms: 150 })).events, 2, 1000)).toEqual(events);
    expect((await spikesOf({ ...base, seed: 43 })).events).not.toEqual(events);
  });

  it('a higher rate only adds events, and a window only hides them', async () => {
    const { events } = await spikesOf(base);
    const keys = (rows: number[][]) => rows.map(String);
    const higher = await spikesOf({
      inputs: { sugar: { node_set: 'S_sugar', rate_hz: 200 } },
      duration_ms: 100,
      trials: 2,
    });
    expect(keys(higher.events)).toEqual(expect.arrayContaining(keys(events)));
    expect(higher.events.length).toBeGreaterThan(1.5 * events.length);
    const windowed = { ...base.inputs.sugar, delay_ms: 20, duration_ms: 50 };
    const within = await spikesOf({ ...base, inputs: { sugar: windowed } });
    expect(within.events).toEqual(events.filter(([, step]) => step! >= 200 && step! < 700));
  });
});

describe.each([
  ['root id', measured],
  ['name in a synthetic brain', connectome],
])('replay by %s', (_, brain) => {
  const all = { super_class: '*' };
  const ALL = { rows: { node_set: all, type: 'spikes' }, events: { node_set: all, type: 'inputs' } };
  const poisson = {
    inputs: {
      sugar: { node_set: 'S_sugar', rate_hz: 250 },
      // Stimulated neurons that also get spikes of others.
      relay: { node_set: 'C_food_relay', rate_hz: 40, delay_ms: 10 },
    },
    duration_ms: 80,
    trials: 1,
  };

  /** An input of given times for each root id, from rows of a table. */
  const given = (rows: number[][], nodeSet: string, shiftSteps: number) => {
    const times: Record<string, number[]> = {};
    const selected = brain.metadata.types.findIndex(({ name }) => name === nodeSet);
    for (const [, step, neuron] of rows) {
      if (brain.typeIndices[neuron!] !== selected) continue;
      (times[brain.neuronId(neuron!)] ??= []).push((step! + shiftSteps) / 10);
    }
    return { node_set: nodeSet, module: 'spikes', times_ms: times };
  };

  it('of the table of input events gives the same spikes', async () => {
    const { rows, events } = await tablesOf({ ...poisson, reports: ALL });
    expect(rows.length).toBeGreaterThan(events.length + 20);
    const inputs = { sugar: given(events, 'S_sugar', 0), relay: given(events, 'C_food_relay', 0) };
    expect(await tablesOf({ ...poisson, inputs, reports: ALL })).toEqual({ rows, events });
  });

  it('of the table of spikes, one step earlier, gives the same spikes', async () => {
    const { rows } = await tablesOf({ ...poisson, reports: ALL });
    const inputs = { sugar: given(rows, 'S_sugar', -1), relay: given(rows, 'C_food_relay', -1) };
    const replayed = await tablesOf({ ...poisson, inputs, reports: ALL });
    expect(replayed.rows).toEqual(rows);
  });

  async function tablesOf(request: object): Promise<{ rows: number[][]; events: number[][] }> {
    const { conditions } = await answerOf(planOf(brain, request), localTrials(brain));
    return {
      rows: rowsOf(tableIn(conditions[0]!, 'rows')),
      events: rowsOf(tableIn(conditions[0]!, 'events')),
    };
  }
});

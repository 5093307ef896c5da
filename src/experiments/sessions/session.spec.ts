import { NO_LIMITS } from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { CodedError } from '../../engine/errors.js';
import { KernelEngine } from '../../engine/simulation/cpu/kernel-engine.js';
import { RewirableEngine } from '../../engine/simulation/rewiring/rewirable-engine.js';
import { compiledDrawing } from '../../engine/stimulus/compiled-drawing.js';
import { MAX_TRIAL_STEPS } from '../../engine/stimulus/protocol.js';
import {
  compileDrawingKernel,
  compileKernel,
  compileRewiringKernel,
} from '../../workers/pool/kernel-file.js';
import { parseSessionDocument, planSession, startWork } from '../plan/session-plan.js';
import type { TrialTask } from '../plan/trial.js';
import { sessionSteps, TrialReader } from '../run/readout.js';
import { inOneGo, inTurns, type Paced } from '../run/turn.js';
import { Session } from './session.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer);
const simulation = compileKernel();
const engine = new RewirableEngine(new KernelEngine(simulation, connectome), connectome, () => ({
  simulation,
  rewiring: compileRewiringKernel(),
}));
const stepOf = sessionSteps(new TrialReader(connectome, compiledDrawing(compileDrawingKernel())), engine);
const LIMITS = { ...NO_LIMITS, ids: 10_000, inputEventsPerBrainSecond: Infinity, documentBytes: Infinity };

/** A session in this thread, and the tasks of its steps. Its client leaves during the task of that number. */
async function openSession(document: object, limits = LIMITS, leavesAt = Infinity) {
  const client = new AbortController();
  const tasks: TrialTask[] = [];
  const plan = await inTurns(
    inOneGo,
    planSession(connectome, parseSessionDocument(document, limits, []), limits),
  );
  const { brain, cursors } = plan.stateBytes;
  const session = await Session.open(
    {
      newName: () => `session ${tasks.length}`,
      states: {
        plan,
        enter: () => () => undefined,
        take: () => ({
          brain: new Uint8Array(new SharedArrayBuffer(brain)),
          cursors: new Uint32Array(new SharedArrayBuffer(cursors)),
        }),
        share: () => undefined,
        giveBack: () => undefined,
        keep: (_, neurons) => [neurons, () => undefined],
        hold: () => () => undefined,
      },
      connectome,
      runStep: async (task, step) => {
        tasks.push(task);
        if (tasks.length === leavesAt) client.abort(new CodedError('RUN_CANCELLED', 'The client left.'));
        return stepOf(task, step, () => undefined);
      },
      owner: 'a client',
      limits: LIMITS,
      onStarted: (priceMs) => (startPriceMs = priceMs),
    },
    client.signal,
  );
  return { session, tasks, plan };
}

const paced: Paced = (writing) => inTurns(inOneGo, writing);

/** That of the session that was opened last. */
let startPriceMs = 0;

async function take(session: Session, durationMs: number): Promise<number> {
  const step = session.planStep({ t_ms: session.tMs, duration_ms: durationMs }, undefined);
  const { answer } = await session.run(step, false, paced);
  const { reports } = JSON.parse(Buffer.from(answer).toString()) as {
    reports: { events?: { t_ms: number[] } };
  };
  return reports.events?.t_ms.length ?? 0;
}

/** The ends of the silences of the last step. */
function endsIn(tasks: readonly TrialTask[]) {
  return tasks.at(-1)!.protocol.silencedWindows?.map(({ endStep }) => endStep);
}

describe('the work that a step is expected to be', () => {
  it('has the most rows so far, for which the queue keeps a worker free', async () => {
    const { session, tasks } = await openSession({
      inputs: { sugar: { node_set: 'S_sugar', rate_hz: 300 } },
      reports: { events: { node_set: '@all', type: 'inputs' } },
    });
    const rows = await take(session, 10);
    expect(rows).toBeGreaterThan(0);
    const quiet = session.planStep({ t_ms: 10, duration_ms: 20, rates_hz: { sugar: 0 } }, undefined);
    await session.run(quiet, false, paced);
    await take(session.branch(), 40);
    expect(tasks.map(({ expected }) => expected!.tableRows)).toEqual([0, 2 * rows, 4 * rows]);
  });

  it('is that of its own time', async () => {
    const late = { node_set: 'S_sugar', rate_hz: 300, delay_ms: 100 };
    const { session, tasks } = await openSession({ inputs: { late }, reports: {}, duration_ms: 150 });
    await take(session, 50);
    const { protocol, expected } = tasks.at(-1)!;
    const { length } = protocol.inputs[0]!.neurons;
    expect(expected).toMatchObject({ brainMs: 50, inputEvents: (length * 300 * 50) / 1000 });
  });
});

describe('the price of what is drawn from the start of an epoch', () => {
  const hiddenOf = (session: Session, tMs: number, rateHz: number) =>
    session.planStep({ t_ms: tMs, duration_ms: 1, rates_hz: { a: rateHz } }, undefined).expected.hiddenEvents;

  it('is that of the layers that a raised rate reaches, also in a branch', async () => {
    const inputs = { a: { node_set: 'S_sugar', rate_hz: 0 } };
    const { session, tasks } = await openSession({ inputs, reports: {} });
    for (let second = 0; second < 5; second++) await take(session, second < 4 ? 1000 : 900);
    const { length } = tasks[0]!.protocol.inputs[0]!.neurons;
    const ofRates = (of: Session, tMs: number) =>
      [0, 20, 40, 500].map((hz) => hiddenOf(of, tMs, hz)! / length);
    expect(ofRates(session, 4900)).toEqual([0, 31.25 * 4.9, 62.5 * 4.9, 500 * 4.9]);
    const branch = session.branch();
    branch.change({ rates_hz: { a: 500 } }, undefined);
    expect(ofRates(branch, 4900)[3]).toBe(500 * 4.9);
    await take(branch, 100);
    expect(ofRates(branch, 5000)).toEqual([0, 0, 0, 0]);
    await take(branch, 500);
    expect(ofRates(branch, 5500)).toEqual([0, 0, 0, 0]);
  });

  it('is only that of the time in which a layer was not drawn', async () => {
    const high = { times_ms: [0, 3000], values: [500, 20] };
    const inputs = { a: { node_set: 'S_sugar', rate_hz: high } };
    const { session, tasks } = await openSession({ inputs, reports: {}, duration_ms: 4000 });
    const hiddenHz = () =>
      hiddenOf(session, session.tMs, 500)! / tasks[0]!.protocol.inputs[0]!.neurons.length;
    expect(hiddenHz()).toBe((500 - 31.25) * 1);
    await session.run(
      session.planStep({ t_ms: 4000, duration_ms: 10, rates_hz: { a: 500 } }, undefined),
      false,
      paced,
    );
    await session.run(
      session.planStep({ t_ms: 4010, duration_ms: 90, rates_hz: { a: 0 } }, undefined),
      false,
      paced,
    );
    expect(hiddenHz()).toBeCloseTo(500 * 0.09, 9);
  });

  it('has what segments of background draw again before the first step', async () => {
    const all = { module: 'background', node_set: '@all', rate_hz: 2, event_mv: 0 };
    const { plan } = await openSession({ inputs: { all }, reports: {}, duration_ms: 3000 });
    const events = connectome.neuronCount * 2;
    expect(startWork(plan, 3000).hiddenEvents).toBe(events * (1 + 2));
    expect(startWork(plan, 2000).hiddenEvents).toBe(events);
    expect(startWork(plan, 0)).toEqual({});
  });

  it('is paid also if the session cannot be had', async () => {
    startPriceMs = 0;
    const limits = { ...LIMITS, synapticEventsPerBrainSecond: 10, synapticEventsPerTrial: 10 };
    const sugar = { node_set: 'S_sugar', rate_hz: 100 };
    await expect(openSession({ inputs: { sugar }, reports: {}, duration_ms: 3000 }, limits)).rejects.toThrow(
      'stopped at',
    );
    expect(startPriceMs).toBe(1000);
    // A worker ends the segment that it has begun.
    const opening = openSession({ inputs: { sugar }, reports: {}, duration_ms: 3000 }, LIMITS, 2);
    await expect(opening).rejects.toThrow('The client left.');
    expect(startPriceMs).toBe(2000);
  });
});

describe('a session that has ended', () => {
  it('has no branches and no document, because others may have its memory', async () => {
    const { session } = await openSession({ inputs: {}, reports: {} });
    await take(session, 20);
    session.end(new CodedError('SESSION_ENDED', 'It has ended.'));
    expect(() => session.branch()).toThrow('It has ended.');
    await expect(session.reading(async () => session.document())).rejects.toThrow('It has ended.');
  });
});

describe('a window that ends with the document', () => {
  const pulse = { node_set: 'S_sugar', rate_hz: 500, duration_ms: 1 };
  const reports = { events: { node_set: '@all', type: 'inputs' } };

  it('ends there if the document names its end, also in a session from its own document', async () => {
    const named = { inputs: { pulse }, reports };
    const { session } = await openSession(named);
    expect(await take(session, 20)).toBeGreaterThan(0);
    const { session: again } = await openSession(session.document());
    const { session: whole } = await openSession({ ...named, duration_ms: 1 });
    const { session: reopened } = await openSession(whole.document());
    for (const each of [session, again, whole, reopened]) expect(await take(each, 50)).toBe(0);
  });

  it('takes no rate after it', async () => {
    const { session } = await openSession({ inputs: { pulse }, reports });
    const changes = { rates_hz: { pulse: 100 } };
    expect(session.silenceToPlan(changes)).toBeUndefined();
    await take(session, 1);
    expect(session.silenceToPlan({ rates_hz: { pulse: 500 } })).toBeUndefined();
    expect(() => session.silenceToPlan(changes)).toThrow(
      'must be 500, its last rate, since this input ended at 1 ms, got 100',
    );
  });

  it('goes on if the document leaves its end out or has null', async () => {
    for (const end of [{}, { duration_ms: null }]) {
      const { duration_ms: _, ...endless } = pulse;
      const { session } = await openSession({ inputs: { pulse: { ...endless, ...end } }, reports });
      await take(session, 20);
      const { session: again } = await openSession(session.document());
      for (const each of [session, again]) expect(await take(each, 20)).toBeGreaterThan(0);
    }
  });

  it('leaves one of two silences of the same neurons, which a document may not have twice', async () => {
    const twice = ['S_sugar', { node_set: 'S_sugar' }];
    const { session } = await openSession({ inputs: {}, reports: {}, duration_ms: 20, silence: twice });
    session.change({ silence: [] }, undefined);
    await take(session, 10);
    expect(session.document()).toMatchObject({ silence: [{ node_set: 'S_sugar', start_ms: 0, end_ms: 20 }] });
    await openSession(session.document());
  });

  it('gives way to the silence of a step', async () => {
    const item = { node_set: 'S_sugar', start_ms: 0, end_ms: 0.6 };
    const { session, tasks } = await openSession({ inputs: {}, reports: {}, silence: [item] });
    session.change({ silence: [] }, undefined);
    await take(session, 10);
    expect(endsIn(tasks)).toBeUndefined();
    expect(session.document()).toMatchObject({ silence: [] });
  });

  it('is likewise that of a silence', async () => {
    const item = { node_set: 'S_sugar', start_ms: 10 };
    const silenced = { inputs: {}, reports: {}, duration_ms: 100, silence: [{ ...item, end_ms: 100 }, item] };
    const { session, tasks } = await openSession(silenced);
    await take(session, 10);
    expect(endsIn(tasks)).toEqual([1000, MAX_TRIAL_STEPS]);
  });
});

describe('the document of a branch before its first step', () => {
  const inputs = { sugar: { node_set: 'S_sugar', rate_hz: 100 } };
  const silenced = { inputs, reports: {}, duration_ms: 100, silence: ['S_sugar'] };
  const changes = { rates_hz: { sugar: 50 }, silence: ['S_loom'] };

  it('says that a silence was lifted, so it stays lifted in a session from there', async () => {
    const { session } = await openSession(silenced);
    const branch = session.branch();
    branch.change({ silence: [] }, undefined);
    const lifted = await openSession(branch.document());
    await take(lifted.session, 10);
    expect(endsIn(lifted.tasks)).toEqual([1000]);
  });

  it('has no change that begins with that step', async () => {
    const { session } = await openSession({ ...silenced, silence: [] });
    const branch = session.branch();
    const before = branch.document();
    branch.change(changes, Uint32Array.of(3));
    expect(branch.document()).toEqual(before);
    await take(branch, 10);
    expect(branch.document()).toMatchObject({
      inputs: { sugar: { rate_hz: expect.any(Object) } },
      silence: [{ start_ms: 100 }],
    });
  });
});

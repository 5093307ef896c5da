import { FairQueue } from './fair-queue.js';
import { QueuePolicy } from './queue-policy.js';
import type { QueuedTask } from './queued-task.js';
import type { WorkerSlot } from './worker-slot.js';

/** A run or a trial of an owner: `run a`, `trial b`. */
function task(text: string, more: Partial<QueuedTask> = {}): QueuedTask {
  const [kind, owner] = text.split(' ') as ['run' | 'trial', string];
  return {
    kind: kind === 'run' ? 'v1-run' : 'v2-trial',
    owner,
    wiring: undefined,
    losses: 0,
    isLight: false,
    isStep: false,
    isOnReservedWorker: false,
    isBackground: false,
    ...more,
  } as QueuedTask;
}

/** A worker with its current and its prefetched task. */
function slot(current?: QueuedTask, prefetched?: QueuedTask, more: Partial<WorkerSlot> = {}): WorkerSlot {
  const kind = (current ?? prefetched)?.kind;
  return {
    isFree: current === undefined && prefetched === undefined,
    kind,
    current,
    prefetched,
    network: undefined,
    freeMs: 1000,
    canPrefetch: (wanted) => kind === wanted && current !== undefined && prefetched === undefined,
    ...more,
  } as WorkerSlot;
}

function line(...tasks: QueuedTask[]): FairQueue<QueuedTask> {
  const queue = new FairQueue<QueuedTask>();
  for (const each of tasks) queue.add(each.owner, each);
  return queue;
}

const free = () => slot();
const light = { isLight: true };
const rewired = (owner: string, wiring = 'w', more: Partial<QueuedTask> = {}) =>
  task(`trial ${owner}`, { wiring, ...more });
const holding = (wiring: string, owner: string, ms: number, busy?: QueuedTask) =>
  slot(busy, undefined, { network: { wiring, owner, ms } });

describe('nextRun', () => {
  it.each<[string, WorkerSlot[], QueuedTask, number | undefined]>([
    ['a free worker, the first one', [slot(task('trial a')), free(), free()], task('run a'), 1],
    ['no worker that computes a trial', [slot(task('trial a'))], task('run a'), undefined],
    ['a worker that computes a run', [slot(task('trial a')), slot(task('run b'))], task('run a'), 1],
    ['no worker with two runs', [slot(task('run a'), task('run b'))], task('run c'), undefined],
    [
      'only a free worker after its worker died',
      [slot(task('run a'))],
      task('run b', { losses: 1 }),
      undefined,
    ],
  ])('gets %s', (_, slots, run, expected) => {
    const assignment = new QueuePolicy(slots, true).nextRun(line(run));
    expect(assignment && slots.indexOf(assignment.slot)).toBe(expected);
  });
});

describe('nextTrial', () => {
  it.each<[string, WorkerSlot[], QueuedTask[], [trial: number, slot: number] | undefined]>([
    ['a free worker, the last one', [free(), free(), free()], [task('trial a')], [0, 2]],
    [
      'no worker that is reserved for runs',
      [free(), slot(task('trial a'), task('trial a'))],
      [task('trial b')],
      undefined,
    ],
    ['a slot after a trial', [free(), slot(task('trial a'))], [task('trial b')], [0, 1]],
    [
      'no slot after another client if it is light',
      [free(), slot(task('trial a'))],
      [task('trial b', light)],
      undefined,
    ],
    [
      'a slot after its own client if it is light',
      [free(), slot(task('trial b'))],
      [task('trial b', light)],
      [0, 1],
    ],
    [
      'no slot after a trial once its worker died',
      [free(), slot(task('trial a'))],
      [task('trial b', { losses: 1 })],
      undefined,
    ],
    ['the worker that holds its network', [free(), holding('w', 'a', 0), free()], [rewired('a')], [0, 1]],
    [
      'that worker also out of turn, for a while',
      [free(), holding('w', 'a', 200)],
      [task('trial b'), rewired('a')],
      [1, 1],
    ],
    ['not out of turn after that', [free(), holding('w', 'a', 300)], [task('trial b'), rewired('a')], [0, 1]],
    ['the network of another client', [free(), holding('w', 'b', 300)], [rewired('a')], [0, 1]],
    [
      'no second worker for a network until one was idle for as long as preparing takes',
      [
        free(),
        holding('w', 'b', 300, task('run a')),
        slot(undefined, undefined, { freeMs: 10, network: { wiring: 'u', owner: 'b', ms: 300 } }),
      ],
      [rewired('a')],
      undefined,
    ],
    ['a worker without a network at once', [free(), holding('v', 'b', 300), free()], [rewired('a')], [0, 2]],
    [
      'first for the plain trial of the same client while its network is prepared elsewhere',
      [free(), holding('w', 'b', 300, task('run a')), holding('v', 'b', 300)],
      [rewired('a'), task('trial a')],
      [1, 2],
    ],
  ])('gets %s', (_, slots, trials, expected) => {
    const assignment = new QueuePolicy(slots, true).nextTrial(line(...trials));
    const found = assignment && [trials.indexOf(assignment.task), slots.indexOf(assignment.slot)];
    expect(found).toEqual(expected);
  });

  it('gets every worker if none is reserved', () => {
    const slots = [free(), slot(task('trial a'), task('trial a'))];
    expect(new QueuePolicy(slots, false).nextTrial(line(task('trial b')))?.slot).toBe(slots[0]);
    expect(new QueuePolicy([free()], true).nextTrial(line(task('trial b')))).toBeDefined();
  });
});

describe('nextLightTrial', () => {
  const busy = slot(task('trial a'), task('trial a'));
  it.each<[string, WorkerSlot[], QueuedTask[], number | undefined]>([
    ['a light trial of a client for whom nobody computes', [free(), busy], [task('trial b', light)], 0],
    ['no heavy trial', [free(), busy], [task('trial b')], undefined],
    ['no trial of a client for whom a worker computes', [free(), busy], [task('trial a', light)], undefined],
    ['a step of that client', [free(), busy], [task('trial a', { ...light, isStep: true })], 0],
    ['the first that is light', [free(), busy], [task('trial b'), task('trial c', light)], 1],
    ['none while a run is computed', [slot(task('run a')), busy], [task('trial b', light)], undefined],
    ['none while a worker of trials is free', [free(), free()], [task('trial b', light)], undefined],
    [
      'none beside another light trial',
      [slot(task('trial c', { isOnReservedWorker: true })), busy, free()],
      [task('trial b', light)],
      undefined,
    ],
  ])('is %s', (_, slots, trials, expected) => {
    const assignment = new QueuePolicy(slots, true).nextLightTrial(line(...trials));
    expect(assignment && trials.indexOf(assignment.task)).toBe(expected);
    if (assignment !== undefined) expect(assignment).toMatchObject({ slot: slots[0], isReserved: true });
  });
});

describe('inTheWay', () => {
  const slots = [
    slot(task('run a'), task('run b')),
    slot(task('trial a'), task('trial a')),
    slot(task('trial a'), task('trial b')),
  ];
  const policy = new QueuePolicy(slots, true);

  it.each<[string, QueuedTask[], QueuedTask[], number[]]>([
    ['of a run: every prefetched trial', [task('run c')], [], [1, 2]],
    [
      'of a client for whom nobody computes: trials of those for whom somebody does',
      [],
      [task('trial c')],
      [1],
    ],
    ['of a client for whom a worker computes: nothing', [], [task('trial a')], []],
    ['of nobody: nothing', [], [], []],
  ])('stands %s', (_, runs, trials, expected) => {
    const found = policy.inTheWay(line(...runs), line(...trials));
    expect(found.map((each) => slots.indexOf(each))).toEqual(expected);
  });

  it('stands background work that waits in a worker, if somebody waits', () => {
    const behind = [slot(task('trial a'), task('trial b', { isBackground: true })), slots[1]!];
    expect(new QueuePolicy(behind, true).prefetchingBackground()).toEqual([behind[0]]);
  });
});

it('moves a prefetched task to an idle worker, unless its worker has prepared its network', () => {
  const slots = [free(), slot(task('run a'), task('run b')), slot(task('trial a'), rewired('a')), free()];
  const policy = new QueuePolicy(slots, true);
  expect(policy.idleSlotFor(slots[1]!.prefetched!)).toBe(slots[0]);
  expect(policy.idleSlotFor(task('trial a'))).toBe(slots[3]);
  expect(policy.idleSlotFor(slots[2]!.prefetched!)).toBeUndefined();
});

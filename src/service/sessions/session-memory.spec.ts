import { Logger } from '@nestjs/common';
import { CodedError } from '../../engine/errors.js';
import type { SessionPlan } from '../../experiments/plan/session-plan.js';
import { SessionMemory } from './session-memory.js';

const BOUNDS = { sessionBytesPerClient: 10_000, sessionBytesPerWorker: 12_000 };

/** A session of two states of 1,024 bytes and this many more in arrays. */
function planOf(arrayBytes: number): SessionPlan {
  const neurons = new Uint32Array(arrayBytes / 4).fill(7);
  return {
    protocol: { inputs: [{ neurons, train: { kind: 'spikes', steps: new Uint32Array(0) } }] },
    neuronsOfReports: [{ neurons, groupOfNeuron: neurons.subarray(1) }],
    arrayBytes,
    stateBytes: { brain: 960, cursors: 64 },
  } as unknown as SessionPlan;
}

function codeOf(refused: () => unknown): string | undefined {
  try {
    refused();
  } catch (error) {
    return (error as CodedError).code;
  }
  return undefined;
}

describe('SessionMemory', () => {
  it('says how large a session would be that a client can never have', () => {
    const memory = new SessionMemory(BOUNDS);
    expect(() => memory.open('a', planOf(8_000), 1)).toThrow(
      /takes 0.0 MB of memory; at most 0.0 MB are allowed/,
    );
    expect(codeOf(() => memory.open('a', planOf(8_000), 1))).toBe('TOO_EXPENSIVE');
    expect(memory.bytes).toBe(0);
  });

  it('refuses sessions if the system has no memory for them, and says so once', () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const memory = new SessionMemory({ ...BOUNDS, sessionBytesPerWorker: 2 ** 52 });
    for (let times = 0; times < 2; times++) {
      expect(codeOf(() => memory.open('a', planOf(400), 1))).toBe('QUEUE_FULL');
    }
    expect(error.mock.calls.length).toBe(1);
    error.mockRestore();
  });

  it('counts sessions for each client and for all, and gives back those that ended', () => {
    const memory = new SessionMemory(BOUNDS);
    const [, leave] = memory.open('a', planOf(4_000), 1);
    expect(memory.bytes).toBe(4_000 + 2 * 1_024);
    expect(codeOf(() => memory.open('a', planOf(4_000), 1))).toBe('QUEUE_FULL');
    memory.open('b', planOf(2_000), 1);
    expect(codeOf(() => memory.open('c', planOf(2_000), 1))).toBe('QUEUE_FULL');
    leave();
    expect(memory.bytes).toBe(2_000 + 2 * 1_024);
    memory.open('c', planOf(2_000), 1);
  });

  it('moves the arrays of a plan, and arrays that share memory go on sharing it', () => {
    const [{ plan }] = new SessionMemory(BOUNDS).open('a', planOf(400), 1);
    const [input] = plan.protocol.inputs;
    const [report] = plan.neuronsOfReports;
    expect(input!.neurons).toEqual(new Uint32Array(100).fill(7));
    expect(report!.groupOfNeuron).toHaveLength(99);
    expect(report!.groupOfNeuron.byteOffset).toBe(report!.neurons.byteOffset + 4);
    expect(input!.neurons.buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  it('takes memory back when the worker is done that writes to it, also of branches', () => {
    const memory = new SessionMemory(BOUNDS);
    const [states, leave] = memory.open('a', planOf(400), 1);
    const first = states.take();
    const leaveBranch = states.enter('a');
    states.share(first);
    const [next, ofBranch] = [states.take(), states.take()];
    expect(new Set([first, next, ofBranch].map(({ brain }) => (brain as Uint8Array).byteOffset)).size).toBe(
      3,
    );
    states.giveBack(first);
    states.giveBack(next);
    leave();
    // The branch may take a step before that worker is done.
    expect(memory.bytes).toBe(400 + 4 * 1_024);
    leaveBranch();
    expect(memory.bytes).toBe(400 + 2 * 1_024);
    states.giveBack(first);
    expect(memory.bytes).toBe(400 + 2 * 1_024);
    states.giveBack(ofBranch);
    expect(memory.bytes).toBe(0);
    // All of it is in one piece again.
    memory.open('b', planOf(7_900), 1);
  });
  it('leaves a free state to a branch while a worker writes to one of a session that has ended', () => {
    const memory = new SessionMemory(BOUNDS);
    const [states, leave] = memory.open('a', planOf(400), 1);
    const first = states.take();
    const leaveBranch = states.enter('a');
    states.share(first);
    const ofBranch = states.take();
    // The branch has taken a step, and the first session takes one, while it ends.
    states.giveBack(first);
    const written = states.take();
    states.giveBack(first);
    leave();
    const next = states.take();
    expect(next).not.toBe(written);
    states.giveBack(ofBranch);
    states.giveBack(written);
    expect(memory.bytes).toBe(400 + 2 * 1_024);
    states.giveBack(next);
    leaveBranch();
    expect(memory.bytes).toBe(0);
  });

  it('keeps the arrays of a session that has ended until they were read', () => {
    const memory = new SessionMemory(BOUNDS);
    const [states, leave] = memory.open('a', planOf(4_000), 1);
    const release = states.hold();
    const { neurons } = states.plan.protocol.inputs[0]!;
    leave();
    expect(memory.bytes).toBe(4_000);
    memory.open('b', planOf(2_000), 1);
    expect(neurons).toEqual(new Uint32Array(1_000).fill(7));
    release();
    expect(memory.bytes).toBe(2_000 + 2 * 1_024);
  });
});

import type { BatchLists } from './batch-results.js';
import { simulateInParts, type BatchParts } from './batch-parts.js';
import { batchTables, type BatchTables, type GpuTrial } from './batch-tables.js';
import { NO_NEURON, type BatchRoom } from './pipeline-shape.js';

const ROOM: BatchRoom = {
  neuronCount: 40,
  groupCount: 1,
  chunkCount: 1,
  widths: [1, 2, 4],
  largestArrayBytes: Infinity,
  largestReadbackBytes: Infinity,
};

/** Identifies the trials in the shape of the tables, which has a stimulated neuron of each. */
const trial = (
  neuron: number,
  durationSteps = 20,
  events: readonly (readonly [number, number])[] = [],
): GpuTrial => ({
  events: {
    stimulated: Uint32Array.of(neuron),
    steps: Uint16Array.from(events, ([step]) => step),
    neurons: Uint32Array.from(events, ([, hit]) => hit),
  },
  options: { durationSteps },
});

describe('simulateInParts', () => {
  const NOTHING: BatchLists = { width: 1, slots: 1, windows: [], unflagged: new Float32Array(0) };

  /** The parts of an adapter with room for `most` trials, even if the tables allow more; and the batches it got. */
  function partsFor(room: BatchRoom, most: number) {
    const simulated: number[] = [];
    const parts: BatchParts<GpuTrial, number> = {
      prepare: (batch) => batchTables(batch, room),
      simulate: async ({ shape: { width } }) => {
        if (width > most) return undefined;
        simulated.push(width);
        return NOTHING;
      },
      read: (_, batch) => batch.map(({ events }) => events.stimulated[0]!),
    };
    return { parts, simulated };
  }
  const trials = [3, 1, 4, 1, 5, 9, 2].map((neuron) => trial(neuron));

  it.each([
    [4, [4, 4]],
    [2, [2, 2, 2, 1]],
    [1, [1, 1, 1, 1, 1, 1, 1]],
  ])('splits a batch if the GPU has room for %i, in the order of the trials', async (most, widths) => {
    const { parts, simulated } = partsFor(ROOM, most);
    expect(await simulateInParts(trials, ROOM, parts)).toEqual([3, 1, 4, 1, 5, 9, 2]);
    expect(simulated).toEqual(widths);
  });

  it('splits a batch whose tables would have no room', async () => {
    const room = { ...ROOM, largestArrayBytes: 4096 };
    const { parts, simulated } = partsFor(room, 4);
    // 40 windows of 16 slots: two side by side take 5 KB.
    const long = trials.slice(0, 3).map((each) => ({ ...each, options: { durationSteps: 720 } }));
    expect(await simulateInParts(long, room, parts)).toEqual([3, 1, 4]);
    expect(simulated).toEqual([1, 1, 1]);
  });

  it('leaves out only a trial that has no room even by itself', async () => {
    const room = { ...ROOM, largestArrayBytes: 4096 };
    const { parts } = partsFor(room, 4);
    const mixed = [trial(7), trial(8, 2000), trial(9)];
    expect(await simulateInParts(mixed, room, parts)).toEqual([7, undefined, 9]);
  });
});

describe('batchTables', () => {
  const slotsOf = ({ inputs, shape }: BatchTables, row: number, trial: number) =>
    Array.from(
      inputs.subarray(
        (row * shape.width + trial) * shape.stimulated,
        (row * shape.width + trial + 1) * shape.stimulated,
      ),
    );

  it('have the bits of the steps of each window, in as many layers as events meet', () => {
    const events = [
      [0, 7],
      [17, 7],
      [18, 7],
      [18, 7],
      [19, 7],
      // After the end of the trial.
      [21, 7],
    ] as const;
    const tables = batchTables([trial(3), trial(7, 21, events)], ROOM)!;
    expect(tables.shape).toEqual({ width: 2, windows: 2, stimulated: 16, silenced: 16, layers: 2 });
    const rest = new Array<number>(15).fill(NO_NEURON);
    const zeros = new Array<number>(15).fill(0);
    expect(slotsOf(tables, 0, 0)).toEqual([3, ...rest]);
    expect(slotsOf(tables, 0, 1)).toEqual([7, ...rest]);
    expect([1, 2, 3, 4].map((row) => slotsOf(tables, row, 1))).toEqual([
      [1 + 2 ** 17, ...zeros],
      [0, ...zeros],
      [1 + 2, ...zeros],
      [1, ...zeros],
    ]);
    expect([1, 2, 3, 4].flatMap((row) => slotsOf(tables, row, 0)).every((bits) => bits === 0)).toBe(true);
  });

  it('list the silenced neurons of each trial, each once and ascending', () => {
    const options = { durationSteps: 20, silenced: Uint32Array.of(9, 2, 9) };
    const { silenced } = batchTables([trial(3), { ...trial(4), options }], ROOM)!;
    expect(Array.from(silenced.subarray(0, 2))).toEqual([NO_NEURON, NO_NEURON]);
    expect(Array.from(silenced.subarray(16, 19))).toEqual([2, 9, NO_NEURON]);
  });

  it.each([0, 50_001])('are not made for a trial of %i steps', (durationSteps) => {
    expect(() => batchTables([trial(1, durationSteps)], ROOM)).toThrow(RangeError);
  });
});

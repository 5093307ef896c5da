import { chunkLength, chunksOf } from './chunk-queue.js';

it('chunks cover each condition of a phase once, and take about half a second', () => {
  expect([0, 1, 40, 250, 251, 10_000].map(chunkLength)).toEqual([1, 256, 12, 2, 1, 1]);
  const phases = [[0], [1, 2], Array.from({ length: 10 }, (_, at) => 3 + at)];
  const common = { job: 'job', model: 'model', phase: 2, before: 3 };
  expect(chunksOf({ id: 'job', model: 'model' }, phases, 2, 4)).toEqual([
    { ...common, from: 0, to: 4 },
    { ...common, from: 4, to: 8 },
    { ...common, from: 8, to: 10 },
  ]);
});

import { defaultWorkers } from './default-workers.js';

const GIBIBYTE = 1024 ** 3;

it.each([
  // docker/compose.yaml, on a machine with many cores.
  [64, 2, 5, 'as 2048 MiB of memory allow'],
  // docker/kubernetes.yaml.
  [64, 1.5, 3, 'as 1536 MiB of memory allow'],
  [8, 0.5, 1, 'as 512 MiB of memory allow'],
  [4, 2, 3, 'as 4 cores allow'],
  [1, 16, 2, 'as 1 core allows'],
])('%d cores and %d GiB are %d workers, %s', (cores, gibibytes, workers, reason) => {
  expect(defaultWorkers(cores, gibibytes * GIBIBYTE)).toEqual({ workers, reason });
});

import { defaultWorkers, quotaCores } from './default-workers.js';

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

it.each<[Record<string, string>, number]>([
  [{ 'cpu.max': '200000 100000\n' }, 2],
  [{ 'cpu.max': '150000 100000\n' }, 2],
  [{ 'cpu.max': '10000 100000\n' }, 1],
  [{ 'cpu.max': 'max 100000\n' }, Infinity],
  [{ 'cpu/cpu.cfs_quota_us': '250000\n', 'cpu/cpu.cfs_period_us': '100000\n' }, 3],
  [{ 'cpu/cpu.cfs_quota_us': '-1\n', 'cpu/cpu.cfs_period_us': '100000\n' }, Infinity],
  [{}, Infinity],
])('the quota %j allows %d cores', (files, cores) => {
  expect(quotaCores((name) => files[name])).toBe(cores);
});

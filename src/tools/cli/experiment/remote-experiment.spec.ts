import type { ExperimentDocument } from '#client';
import { CodedError } from '../../../engine/errors.js';
import type { Service } from '../service.js';
import { RemoteExperiment } from './remote-experiment.js';

const TYPES = ['a', 'b', 'c', 'd', 'e'];
const PARAMETERS = [null, ...TYPES.map((type) => ({ type }))].map((silence) => ({ silence }));
const HEAD = { id: '0', experiment: { trials: 1 } };

/** A service whose job is interrupted after some conditions of a screen. */
function serviceOfJob(done: readonly number[], unchanged: readonly number[], onWait: () => void) {
  const calls: string[] = [];
  const lines = [
    HEAD,
    ...done.map((index) => ({ index, parameters: PARAMETERS[index], reports: {} })),
    { unchanged: unchanged.map((index) => PARAMETERS[index]), cost: {}, warnings: [], cite: [] },
  ];
  const job = {
    id: 'job',
    results: async function* () {
      yield* lines;
    },
    wait: async () => onWait(),
    end: async () => calls.push('end'),
  };
  const client = {
    runExperiment: () => {
      throw new CodedError('TOO_EXPENSIVE', 'Too expensive.');
    },
    submitExperiment: async () => job,
    dryRun: async () => ({
      conditions: PARAMETERS.map((parameters, index) => ({ index, parameters })),
    }),
  };
  const service = {
    client,
    patience: {},
    at: (path: string) => path,
    asked: <T>(answer: Promise<T>) => answer,
    failureOf: (error: unknown) => error,
  };
  return { service: service as unknown as Service, calls };
}

it.each([
  ['all that is done', [0, 1, 2, 3], [], [0, 1, 2, 3]],
  ['nothing after a condition that is not done', [0, 1, 3, 4], [], [0, 1]],
  ['what comes after conditions that need no run', [0, 3, 5], [1, 2], [0, 3]],
  ['nothing if the first one is not done', [1, 2], [], []],
])('of a job that is interrupted it gives %s', async (_, done, unchanged, expected) => {
  const controller = new AbortController();
  const reason = new Error('interrupted');
  const { service, calls } = serviceOfJob(done, unchanged, () => {
    controller.abort(reason);
    throw reason;
  });
  const document: ExperimentDocument = {};
  const notes: string[] = [];
  const source = new RemoteExperiment(service, document, 0, (note) => notes.push(note));
  const found: number[] = [];
  const read = async () => {
    const events = source.events({ signal: controller.signal, onProgress: () => {} });
    for await (const event of events) if (event.kind === 'condition') found.push(event.condition.index);
  };
  await expect(read()).rejects.toBe(reason);
  expect(found).toEqual(expected);
  expect(calls).toEqual(['end']);
  expect(notes.at(-1)).toBe('The job was ended.');
});

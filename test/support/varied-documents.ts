/** Documents that change the model in every way that a document can, drawn at random from the neurons of a brain. */
import fc from 'fast-check';

/** Selectors of a brain: neurons to be stimulated, to be read, and many in between. */
export interface Parts {
  readonly stimulated: readonly unknown[];
  readonly read: readonly unknown[];
  readonly many: readonly unknown[];
  /** The rate of a background of all neurons. */
  readonly backgroundRateHz: number;
  readonly durationMs: number;
}

const tenthsOf = (ms: number) => fc.integer({ min: 0, max: ms * 10 }).map((tenths) => tenths / 10);

function rateOf(durationMs: number): fc.Arbitrary<unknown> {
  const changing = fc.tuple(
    fc.uniqueArray(tenthsOf(durationMs - 1), { maxLength: 3 }),
    fc.array(fc.constantFrom(0, 40, 120, 300), { minLength: 4, maxLength: 4 }),
  );
  return fc.oneof(
    fc.constantFrom(60, 150, 400),
    changing.map(([times, values]) => {
      const timesMs = [0, ...times.filter((time) => time > 0).sort((a, b) => a - b)];
      return { times_ms: timesMs, values: values.slice(0, timesMs.length) };
    }),
  );
}

function inputOf(parts: Parts): fc.Arbitrary<object> {
  const { durationMs } = parts;
  const stimulated = fc.constantFrom(...parts.stimulated);
  const poisson = fc.record(
    {
      node_set: stimulated,
      rate_hz: rateOf(durationMs),
      scale: fc.constantFrom(0.5, 1.2),
      delay_ms: tenthsOf(durationMs / 4),
    },
    { requiredKeys: ['node_set', 'rate_hz'] },
  );
  const times = fc.uniqueArray(tenthsOf(durationMs - 1), { minLength: 1, maxLength: 6 });
  const spikes = fc.record({ node_set: stimulated, module: fc.constant('spikes'), times_ms: times });
  const pattern = fc
    .shuffledSubarray([...parts.stimulated], { minLength: 1 })
    .chain((sets) =>
      fc.tuple(...sets.map((set) => fc.record({ node_set: fc.constant(set), rate_hz: rateOf(durationMs) }))),
    )
    .map((rates) => ({ rates }));
  return fc.oneof({ weight: 3, arbitrary: poisson }, spikes, pattern);
}

/** Documents of one trial or two. Their spikes are to be compared, so nearly all of them stimulate something. */
export function variedDocuments(parts: Parts): fc.Arbitrary<object> {
  const { durationMs } = parts;
  const any = fc.constantFrom(...parts.stimulated, ...parts.read, ...parts.many);
  const constants = fc.record(
    {
      synapse_mv: fc.constantFrom(0.2, 0.35, 0.5),
      excitatory_scale: fc.constantFrom(0.8, 1.3),
      inhibitory_scale: fc.constantFrom(0, 0.7, 1.5),
      threshold_mv: fc.constantFrom(-47, -44.2),
      refractory_ms: fc.constantFrom(0, 1.1, 7, 50),
      delay_ms: fc.constantFrom(0.1, 1.8, 2.5, 20),
      input_event_mv: fc.constantFrom(20, 68.75, 200),
    },
    { requiredKeys: [] },
  );
  const override = fc.record({
    source: fc.constantFrom(...parts.stimulated, ...parts.many),
    target: fc.constantFrom(...parts.many),
    weight: fc.constantFrom(0, -1, 0.3, 1.7, 4),
  });
  const timed = fc
    .tuple(any, tenthsOf(durationMs / 2), tenthsOf(durationMs / 2))
    .map(([set, start, length]) => ({
      node_set: set,
      start_ms: start,
      end_ms: Math.min(durationMs, Math.round(10 * (start + length) + 1) / 10),
    }));
  const background = fc.record({
    node_set: any,
    module: fc.constant('background'),
    rate_hz: fc.constantFrom(0.4 * parts.backgroundRateHz, parts.backgroundRateHz),
    event_mv: fc.constantFrom(4, 68.75),
  });
  const sweeps = fc.constantFrom(
    undefined,
    [{ set: 'constants.synapse_mv', values: [0.275, 0.4] }],
    [{ set: 'connection_overrides.a.weight', values: [-0.5, 0, 2] }],
    [{ each: parts.read[0], as: 'connection_overrides.a.target', group_by: ['type'] }],
    [{ each: parts.read[0], as: 'silence', group_by: ['type'] }],
  );
  return fc
    .record({
      constants,
      a: override,
      b: fc.option(override, { nil: undefined }),
      silence: fc.array(timed, { maxLength: 3 }),
      cut: fc.boolean(),
      inputs: fc.array(inputOf(parts), { minLength: 1, maxLength: 2 }),
      background: fc.option(background, { nil: undefined }),
      sweep: sweeps,
      trials: fc.integer({ min: 1, max: 2 }),
      seed: fc.nat(1000),
      dt_ms: fc.constantFrom(0.1, 0.3, 2),
    })
    .map(({ a, b, silence, cut, inputs, background: rare, sweep, dt_ms: dtMs, ...rest }) => ({
      ...rest,
      connection_overrides: { a, ...(b && { b }) },
      silence: [...silence, ...(cut ? [parts.read.at(-1)] : [])],
      inputs: {
        ...Object.fromEntries(inputs.map((input, at) => [`input${at}`, input])),
        ...(rare && { rare }),
      },
      ...(sweep && { sweep }),
      duration_ms: durationMs,
      reports: { v: { node_set: parts.read.at(-1), type: 'membrane', dt_ms: dtMs } },
    }));
}

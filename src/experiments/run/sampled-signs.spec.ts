/** Signs that are sampled, through to answers. */
import {
  answerOf,
  groupsIn,
  localTrials,
  planOf,
  refusalOf,
} from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { philox4x32 } from '../../engine/stimulus/philox.js';

const content = smallConnectome();
const COUNT = content.neuronIds.length;
/** Every neuron keeps its sign with 7 in 10, and every third may lose its effect. */
const signProbabilities = Uint8Array.from(
  [...content.signs].flatMap((sign, i) => {
    const [kept, other] = [178, i % 3 === 0 ? 30 : 77];
    return sign > 0 ? [kept, other] : [other, kept];
  }),
);
const opened = (more: object) =>
  openConnectome(encodeConnectome({ ...content, ...more }).buffer as ArrayBuffer);
const model = opened({ signProbabilities });
const plain = opened({});
const runTrial = localTrials(model);
const run = (document: object, options = {}) => answerOf(planOf(model, document), runTrial, options);

const BASE = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 150 } },
  reports: { motor: { node_set: 'C_*', group_by: ['side'] } },
  duration_ms: 200,
  trials: 2,
};
const sampled = (seed: number) => ({ ...BASE, wiring: { signs: 'sampled', seed } });
type Answered = Awaited<ReturnType<typeof run>>['conditions'][number];
const ratesOf = (condition: Answered) => groupsIn(condition, 'motor').map(({ rate_hz: rate }) => rate!.mean);

describe('sampled signs', () => {
  it('give the answer of a model that was compiled with them', async () => {
    const block = new Uint32Array(4);
    for (const seed of [1, 2]) {
      const signs = Int8Array.from({ length: COUNT }, (_, neuron) => {
        // The ids ascend with the neurons.
        philox4x32(block, neuron, 0, 0, 7, seed, 0);
        const u = Number((255n * BigInt(block[0]!)) >> 32n);
        const [excites, inhibits] = signProbabilities.subarray(2 * neuron, 2 * neuron + 2);
        return u < excites! ? 1 : u < excites! + inhibits! ? -1 : 0;
      });
      const other = opened({ signs });
      const [expected] = (await answerOf(planOf(other, BASE), localTrials(other))).conditions;
      const [found] = (await run(sampled(seed))).conditions;
      expect(found).toEqual(expected);
      expect(ratesOf(found!)).not.toEqual(ratesOf((await run(BASE)).conditions[0]!));
    }
  });

  it('are the same in a sweep of seeds, in controls and in any order of trials', async () => {
    const alone: Answered[] = [];
    for (const seed of [1, 2, 3]) alone.push((await run(sampled(seed))).conditions[0]!);
    const sweep = [{ set: 'wiring.seed', values: [1, 2, 3] }];
    const swept = await run({ ...sampled(9), sweep }, { inFlight: 5 });
    expect(swept.conditions.map(ratesOf)).toEqual(alone.map(ratesOf));
    expect([swept.head.wiring, swept.head.model]).toEqual(['rewired', expect.stringContaining('-rewired-')]);
    const { head, conditions } = await run(
      { ...BASE, controls: { signs: 'sampled', count: 3 } },
      { inFlight: 4 },
    );
    expect(groupsIn(conditions[0]!, 'motor').map(({ control }) => control!.values)).toEqual(
      ratesOf(alone[0]!).map((_, group) => alone.map((each) => ratesOf(each)[group])),
    );
    expect(head.experiment.controls).toEqual({ signs: 'sampled', count: 3 });
    // The condition itself keeps the signs of the model.
    expect(ratesOf(conditions[0]!)).toEqual(ratesOf((await run(BASE)).conditions[0]!));
  });

  it('go with resampled counts, which every model has', async () => {
    const [counts] = (await run({ ...BASE, wiring: { counts: 'resampled', seed: 2 } })).conditions;
    const held = await answerOf(
      planOf(plain, { ...BASE, controls: { counts: 'resampled', count: 2 } }),
      localTrials(plain),
    );
    expect(groupsIn(held.conditions[0]!, 'motor').map(({ control }) => control!.values[1])).toEqual(
      ratesOf(counts!),
    );
    const [both] = (await run({ ...BASE, wiring: { counts: 'resampled', signs: 'sampled', seed: 2 } }))
      .conditions;
    const [signs] = (await run(sampled(2))).conditions;
    const [model] = (await run(BASE)).conditions;
    expect(new Set([counts, both, signs, model].map((each) => each!.synaptic_events)).size).toBe(4);
  });

  it('leave a neuron whose sign is certain as it is', async () => {
    const certain = opened({
      signProbabilities: Uint8Array.from(
        [...content.signs].flatMap((sign) => (sign > 0 ? [255, 0] : [0, 255])),
      ),
    });
    const [found] = (await answerOf(planOf(certain, sampled(4)), localTrials(certain))).conditions;
    expect(found).toEqual((await run(BASE)).conditions[0]);
  });

  it.each([
    ['/wiring/signs', sampled(1)],
    ['/controls/signs', { ...BASE, controls: { signs: 'sampled' } }],
  ])('are refused by a model without probabilities, at %s', (path, document) => {
    const { code, message, path: found } = refusalOf(() => planOf(plain, document));
    expect([code, found]).toEqual(['NO_SIGN_PROBABILITIES', path]);
    expect(message).toMatch(/Small test brain lacks\. .*--sign-probabilities/);
    expect(planOf(model, document).head.experiment).toBeDefined();
  });

  it.each<[object, RegExp]>([
    [{ wiring: { signs: 'drawn' } }, /wiring\.signs must be "sampled", got "drawn"/],
    [{ wiring: { signs: 'sampled' }, controls: { signs: 'sampled' } }, /wiring\.signs must be left out/],
    [{ controls: { signs: 'sampled', shuffle: 'weights' } }, /controls\.signs must be left out/],
    [{ controls: { signs: 'sampled', match: [] } }, /controls\.match must be left out/],
  ])('are refused with the field that is wrong: %j', (more, message) => {
    const { code, message: found } = refusalOf(() => planOf(model, { ...BASE, ...more }));
    expect(code).toBe('INVALID_PARAMETER');
    expect(found).toMatch(message);
  });
});

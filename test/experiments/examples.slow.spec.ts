/** The documents of examples/: valid by the schema, and run in a short form on the measured and the default brain. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readdirSync, readFileSync } from 'node:fs';
import { documentSchema } from '../support/document-schema.js';
import type { RunTrial } from '../../src/experiments/run/condition-run.js';
import type { AnsweredCondition } from '../../src/experiments/document/result.js';
import { withShorthand } from '../../clients/typescript/src/shorthand.js';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { connectomeFile } from '../support/connectomes.js';
import { answerOf, groupsIn, localTrials, planOf } from '../support/open-experiments.js';
import { describeWith } from '../support/requirements.js';

/** With a cold cache the brain is compiled first. */
jest.setTimeout(300_000);

const FOLDER = 'examples';
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
const documentOf = (name: string) =>
  JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8')) as Record<string, unknown>;

/** Fewer trials, and a sweep of fewer conditions. */
const shortened = (name: string, sweep: readonly string[], trials = 3) =>
  withShorthand(documentOf(name), { trials: String(trials), sweep });

const rate = (condition: AnsweredCondition, report: string, group = 0) =>
  groupsIn(condition, report)[group]!.rate_hz!.mean;

let runTrial: RunTrial;
let connectome: Connectome;
const open = async (name: 'measured-predicted' | 'measured-corrected' | 'default') => {
  connectome = openConnectome(new Uint8Array(readFileSync(await connectomeFile(name))).buffer);
  runTrial = localTrials(connectome);
};
const conditionsOf = async (request: unknown) =>
  (await answerOf(planOf(connectome, request as object), runTrial)).conditions;

describe('the examples', () => {
  const validate = new Ajv2020({ strict: false }).compile(documentSchema());
  const readme = readFileSync(`${FOLDER}/README.md`, 'utf8');

  it.each(NAMES)('%s is a document by the schema, and in the README', (name) => {
    expect([validate(documentOf(name.replace('.json', ''))), validate.errors]).toEqual([true, null]);
    expect(readme).toContain(`[${name}](${name})`);
  });
});

describeWith(['tables'], 'the examples on the measured wiring', () => {
  beforeAll(() => open('measured-predicted'));

  it('Fig. 1D: MN9 follows the sugar neurons, more so on the other side', async () => {
    const conditions = await conditionsOf(shortened('shiu2024-fig1d', ['rate=10,100,200']));
    const [low, middle, high] = conditions.map((condition) =>
      [0, 1].map((side) => rate(condition, 'MN9', side)),
    );
    expect(low).toEqual([0, 0]);
    expect(groupsIn(conditions[0]!, 'MN9').map(({ side }) => side)).toEqual(['left', 'right']);
    for (const [left, right] of [middle!, high!]) expect(right).toBeGreaterThan(left!);
    // Published for the other side: 65.7 and 93.2 Hz.
    expect(middle![1]).toBeGreaterThan(45);
    expect(high![1]).toBeGreaterThan(85);
  });

  it('Fig. 1F: lesions of the most active neurons weaken MN9, and none is listed that is silent', async () => {
    const request = shortened('shiu2024-fig1f', ['silence=responders:30/neuron,type'], 5);
    const answer = await answerOf(planOf(connectome, request as object), runTrial);
    const [baseline, ...lesions] = answer.conditions;
    expect(baseline!.parameters).toEqual({ silence: null });
    expect(lesions).toHaveLength(30);
    expect(answer.totals.unchanged).toEqual([]);
    // The 20 sugar neurons are among them, as in the paper.
    const types = lesions.map(({ parameters }) => (parameters['silence'] as { type: string }).type);
    expect(types.filter((type) => type === 'LB3')).toHaveLength(20);
    const rates = lesions.map((condition) => rate(condition, 'MN9', 1));
    expect(Math.min(...rates)).toBeLessThan(0.85 * rate(baseline!, 'MN9', 1));
  });

  it('Fig. 3A: bitter without sugar is silent, and suppresses sugar', async () => {
    const request = shortened('shiu2024-fig3a', ['bitter.rate=0,100,200', 'sugar.rate=0,100']);
    const rates = (await conditionsOf(request)).map((condition) => rate(condition, 'MN9', 1));
    const [nothing, sugar, bitter, both, moreBitter, more] = rates as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    expect([nothing, bitter, moreBitter]).toEqual([0, 0, 0]);
    expect(both).toBeLessThan(sugar / 2);
    expect(more).toBeLessThan(both);
  });

  it('Fig. 5: aBN1 responds, and to subpopulations C and E more than to F', async () => {
    const all = await conditionsOf(shortened('shiu2024-fig5b', ['rate=140']));
    // Published 45.3 Hz; aDN1 and aDN2 need pairs across the midline, which these tables lack.
    expect(rate(all[0]!, 'aBN1')).toBeGreaterThan(20);
    expect(Object.keys(all[0]!.reports)).toEqual(['aBN1', 'aDN1', 'aDN2']);
    const parts = await conditionsOf(withShorthand(documentOf('shiu2024-fig5g'), { trials: '3' }));
    const [nothing, onlyF, onlyCe] = parts.map((condition) => rate(condition, 'aBN1'));
    expect(nothing).toBe(0);
    expect(onlyCe).toBeGreaterThan(onlyF!);
  });

  it('shuffled weights: MN9 is silent in nearly all brains, and further from their mean than any', async () => {
    const { controls, ...document } = documentOf('shiu2024-shuffled') as { controls: object };
    const few = { ...document, trials: 2, controls: { ...controls, count: 25 } };
    const [condition] = await conditionsOf(few);
    for (const { control } of groupsIn(condition!, 'MN9')) {
      // Published: at most one of 100 brains drives it.
      expect(control!.values.filter((value) => value !== 0).length).toBeLessThanOrEqual(1);
      expect([control!.p, control!.q]).toEqual([1 / 26, 1 / 26]);
    }
  });

  it('looming: without its relay the giant fibre loses half of its rate', async () => {
    const conditions = await conditionsOf(withShorthand(documentOf('looming-relay'), { trials: '3' }));
    const [intact, lesioned] = conditions.map((condition) => rate(condition, 'giant_fibre'));
    expect(conditions[1]!.parameters).toEqual({ silence: { type: 'PVLP122b' } });
    // Published 69 to 70 and 15 Hz.
    expect(intact).toBeGreaterThan(60);
    expect(lesioned).toBeLessThan(0.6 * intact!);
    // A silenced neuron still spikes.
    expect(rate(conditions[1]!, 'PVLP122b')).toBeGreaterThan(0);
  });

  it('Fig. 2: Roundup, here CB0553, is among the few types of the screen that excite MN9', async () => {
    const document = withShorthand(documentOf('shiu2024-fig2'), { trials: '2' });
    const rates = (await conditionsOf(document)).map((condition) => rate(condition, 'MN9'));
    expect(rates.filter((hz) => hz > 0).length).toBeLessThan(15);
    // Published for both sides: 79.5 and 82.7 Hz.
    expect(Math.max(...rates)).toBeGreaterThan(65);
  });

  it('a resting brain: half the output of octopamine neurons, beside other neurons with half of theirs', async () => {
    const { controls, ...document } = documentOf('resting-knockdown') as { controls: object };
    const few = { ...document, trials: 1, controls: { ...controls, count: 3 } };
    const { conditions, totals } = await answerOf(planOf(connectome, few), runTrial);
    const [baseline, halved] = conditions;
    expect(rate(baseline!, 'descending')).toBeGreaterThan(0);
    expect(halved!.synaptic_events).not.toBe(baseline!.synaptic_events);
    const [descending] = groupsIn(halved!, 'descending') as unknown as [{ control: { values: number[] } }];
    expect(new Set(descending.control.values).size).toBeGreaterThan(1);
    expect(totals.screen!.tests).toBe(4);
  });

  it('DNp09 recruits neurons of steering', async () => {
    const [condition] = await conditionsOf(withShorthand(documentOf('dnp09-steering'), { trials: '2' }));
    for (const { rate_hz: found } of groupsIn(condition!, 'steering')) expect(found!.mean).toBeGreaterThan(0);
  });
});

describeWith(['tables'], 'the examples of odours on the measured wiring with corrected signs', () => {
  beforeAll(() => open('measured-corrected'));

  it('gain control: active neighbours shift the curve of a glomerulus to the right', async () => {
    const request = shortened('olsen2010-gain', ['others.rate=0,20', 'DL5.rate=10,150'], 2);
    const [weak, strong, weakBeside, strongBeside] = (await conditionsOf(request)).map((condition) =>
      rate(condition, 'projection_neurons'),
    ) as [number, number, number, number];
    expect(weakBeside).toBeLessThan(0.2 * weak);
    expect(strongBeside).toBeGreaterThan(0.9 * strong);
  });

  it('APL: silenced, it lets twice as many Kenyon cells respond', async () => {
    const conditions = await conditionsOf(withShorthand(documentOf('lin2014-apl'), { trials: '2' }));
    const [intact, without] = conditions.map(
      (condition) => groupsIn(condition, 'Kenyon_cells')[0]!.responding!.mean,
    ) as [number, number];
    expect(intact).toBeLessThan(0.05 * 5177);
    expect(without).toBeGreaterThan(1.5 * intact);
  });
});

describe('the examples on the default brain', () => {
  beforeAll(() => open('default'));

  it.each([
    ['shiu2024-fig1d', ['rate=50,150'], 'MN9'],
    ['shiu2024-fig1f', ['silence=responders:3/neuron,type'], 'MN9'],
    ['shiu2024-fig3a', ['bitter.rate=0', 'sugar.rate=100'], 'MN9'],
    ['looming-relay', [], 'giant_fibre'],
  ])('%s runs: types stand for the published cells', async (name, sweep, report) => {
    const plan = planOf(connectome, shortened(name, sweep, 1) as object);
    const codes = plan.warnings.map(({ code }) => code);
    expect(codes).toContain('SYNTHETIC_WIRING');
    expect(codes.includes('SUBSTITUTED')).toBe(name !== 'looming-relay');
    const { conditions } = await answerOf(plan, runTrial);
    expect(rate(conditions.at(-1)!, report)).toBeGreaterThan(0);
  });

  it.each(['shiu2024-fig5b', 'shiu2024-fig5g'])('%s is refused: no type stands for aBN1', (name) => {
    expect(() => planOf(connectome, documentOf(name))).toThrow(
      /lacks "@aBN1" .*no cell type stands for this set/,
    );
  });
});

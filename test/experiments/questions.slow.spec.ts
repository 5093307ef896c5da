import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { connectionsBetween } from '../../src/engine/connectome/connections.js';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { type Direction, DIRECTIONS, neighboursOf } from '../../src/engine/connectome/neighbours.js';
import { NodeSetResolver } from '../../src/engine/connectome/node-set-resolver.js';
import type { SetSelector } from '../../src/engine/connectome/set-selector.js';
import type { InParts } from '../../src/engine/parts.js';
import { priceMs } from '../../src/experiments/plan/prices.js';
import { connectionTable } from '../../src/experiments/formats/connection-table.js';
import { readEnvironment } from '../../src/service/config/environment.js';
import { Limits } from '../../src/service/limits/limits.js';
import { connectomeFile } from '../support/connectomes.js';
import { planOf, refusalOf } from '../support/open-experiments.js';
import { describeWith, TABLES_DIR } from '../support/requirements.js';

/** With a cold cache the brain is compiled first. */
jest.setTimeout(300_000);

/** Connections that a question reads at most without a pause, and one more neuron's. */
const CONNECTIONS_PER_PAUSE = 2 ** 18;
const IDS = 10_000;

/** Fields of a line of CSV without quotes within quotes. */
const FIELD = /"([^"]*)"|([^,]+|(?<=,|^)(?=,|$))/g;

/** The lines of a table after its header. */
function* rowsOf(file: string): Generator<string[], void, void> {
  const text = gunzipSync(readFileSync(`${TABLES_DIR}/${file}`)).toString();
  for (let end, from = text.indexOf('\n') + 1; from < text.length; from = end + 1) {
    const next = text.indexOf('\n', from);
    end = next < 0 ? text.length : next;
    const line = text.slice(from, end).trimEnd();
    yield line.includes('"')
      ? Array.from(line.matchAll(FIELD), ([, quoted, plain]) => quoted ?? plain!)
      : line.split(',');
  }
}

describeWith(['tables'], 'questions to the measured wiring', () => {
  let connectome: Connectome;
  const typeOf = new Map<string, string>();
  const sideOf = new Map<string, string>();
  const pairs: (readonly [pre: string, post: string, synapses: number])[] = [];

  beforeAll(async () => {
    connectome = openConnectome(readFileSync(await connectomeFile('measured-predicted')).buffer);
    for (const [id, type] of rowsOf('consolidated_cell_types.csv.gz')) typeOf.set(id!, type!);
    for (const [id, , , , , , side] of rowsOf('classification.csv.gz')) sideOf.set(id!, side!);
    for (const [pre, post, , synapses] of rowsOf('connections.csv.gz')) {
      if (Number(synapses) >= 5) pairs.push([pre!, post!, Number(synapses)]);
    }
  });

  const answered = async (query: object) => {
    const standard = { source: '@all', target: '@all', groupBy: 'type', from: 0, limit: 10_000 } as const;
    const search = { ...standard, ids: IDS, format: 'json' as const, ...query };
    const { bytes, next } = await connectionTable(connectome, search, async (piece) => piece());
    return { ...JSON.parse(Buffer.from(bytes).toString()), next };
  };

  it('are answered with the rows of the table, neuron by neuron', async () => {
    const { count, connections } = await answered({
      source: 'LC4:left,LPLC2',
      target: 'DNp01,PVLP122b',
      groupBy: 'neuron',
    });
    const isSource = (id: string) =>
      typeOf.get(id) === 'LPLC2' || (typeOf.get(id) === 'LC4' && sideOf.get(id) === 'left');
    const isTarget = (id: string) => ['DNp01', 'PVLP122b'].includes(typeOf.get(id) ?? '');
    const expected = pairs
      .filter(([pre, post]) => isSource(pre) && isTarget(post))
      .map(([pre, post, synapses]) => ({
        source_root_id: pre,
        source_type: typeOf.get(pre),
        source_side: sideOf.get(pre),
        target_root_id: post,
        target_type: typeOf.get(post),
        target_side: sideOf.get(post),
        synapses,
      }));
    const byIds = (a: (typeof expected)[number], b: (typeof expected)[number]) =>
      `${a.source_root_id} ${a.target_root_id}` < `${b.source_root_id} ${b.target_root_id}` ? -1 : 1;
    expect(count).toBe(expected.length);
    expect(expected.length).toBeGreaterThan(200);
    expect(
      connections.toSorted(byIds).map(({ pairs: one, sign, ...row }: Record<string, unknown>) => {
        expect([one, sign]).toEqual([1, 'excitatory']);
        const { excitatory_pairs: _, inhibitory_pairs: __, ...others } = row;
        return others;
      }),
    ).toEqual(expected.toSorted(byIds));
  });

  it('are answered with the sums of the table, of all pairs of types, on all pages', async () => {
    const expected = new Map<string, { pairs: number; synapses: number }>();
    for (const [pre, post, synapses] of pairs) {
      const key = `${typeOf.get(pre) ?? ''}\n${typeOf.get(post) ?? ''}`;
      const row = expected.get(key) ?? { pairs: 0, synapses: 0 };
      expected.set(key, { pairs: row.pairs + 1, synapses: row.synapses + synapses });
    }
    const found = new Map<string, { pairs: number; synapses: number }>();
    for (let from: number | undefined = 0; from !== undefined;) {
      const page = await answered({ from });
      expect([page.count, page.pairs]).toEqual([expected.size, pairs.length]);
      for (const { source_type: source, target_type: target, pairs, synapses } of page.connections) {
        found.set(`${source}\n${target}`, { pairs, synapses });
      }
      from = page.next;
    }
    expect(found.size).toBe(expected.size);
    expect(
      [...expected].filter(([key, row]) => JSON.stringify(found.get(key)) !== JSON.stringify(row)),
    ).toEqual([]);
  });

  it('find the neighbours that the table has, over one hop and two', () => {
    const resolver = new NodeSetResolver(connectome, { node_sets: {}, on_missing: 'error' });
    const idsOf = (selector: SetSelector) =>
      Array.from(resolver.neuronsOf(selector, '').neurons, (i) => connectome.neuronId(i)).toSorted();
    const step = (origin: ReadonlySet<string>, direction: Direction, minimum: number) =>
      new Set(
        pairs.flatMap(([pre, post, synapses]) => {
          const [from, to] = direction === 'downstream_of' ? [pre, post] : [post, pre];
          return synapses >= minimum && origin.has(from) ? [to] : [];
        }),
      );
    const giantFibre = new Set([...typeOf].flatMap(([id, type]) => (type === 'DNp01' ? [id] : [])));
    for (const direction of DIRECTIONS) {
      for (const minimum_synapses of [5, 20]) {
        const one = step(giantFibre, direction, minimum_synapses);
        const two = new Set([...one, ...step(one, direction, minimum_synapses)]);
        const selector = { [direction]: 'DNp01', minimum_synapses };
        if (one.size > 0) expect(idsOf(selector)).toEqual([...one].toSorted());
        if (two.size > 0) expect(idsOf({ ...selector, hops: 2 })).toEqual([...two].toSorted());
      }
    }
  });

  const partsOf = (computation: InParts<unknown>) => {
    let parts = 1;
    while (computation.next().done !== true) parts++;
    return parts;
  };

  /** The neuron with the most connections to others. */
  const hubOf = ({ neuronCount, rowStart }: Connectome): number => {
    let hub = 0;
    for (let i = 0; i < neuronCount; i++) {
      if (rowStart[i + 1]! - rowStart[i]! > rowStart[hub + 1]! - rowStart[hub]!) hub = i;
    }
    return hub;
  };

  it('read each connection once a hop at most, and pause in between', () => {
    const all = Uint32Array.from({ length: connectome.neuronCount }, (_, i) => i);
    const connections = connectome.targets.length;
    const hops = 3;
    for (const direction of DIRECTIONS) {
      const walk = { direction, hops, minimumSynapses: 5 };
      const maxParts = 1 + (hops * connections) / CONNECTIONS_PER_PAUSE;
      for (const origin of [Uint32Array.of(hubOf(connectome)), all]) {
        expect(partsOf(neighboursOf(connectome, origin, walk))).toBeLessThanOrEqual(maxParts);
      }
    }
    const oneHop = neighboursOf(connectome, all, { direction: 'downstream_of', hops: 1, minimumSynapses: 5 });
    expect(partsOf(oneHop)).toBeGreaterThan(connections / CONNECTIONS_PER_PAUSE / 2);
  });

  it('are bounded and priced if an experiment asks them, three hops from a hub', () => {
    const reached = (minimum_synapses: number, origin: SetSelector = { root_id: hubId }) => ({
      downstream_of: origin,
      hops: 3,
      minimum_synapses,
    });
    const hubId = connectome.neuronId(hubOf(connectome));
    const planned = (document: object, limits = {}) =>
      planOf(connectome, { duration_ms: 1000, trials: 1, reports: {}, ...document }, limits);
    const stimulating = (node_set: unknown, rate_hz: number) => ({ inputs: { all: { node_set, rate_hz } } });

    const plan = planned(stimulating(reached(5), 100));
    const { neurons } = plan.head.resolved['inputs.all'] as { neurons: number };
    expect(neurons).toBeGreaterThan(10_000);
    expect(plan.dryRun().cost.input_events).toBe(100 * neurons);
    // Neurons that are found by their connections cost as much as others: here ten times the simulated second.
    const price = priceMs(plan.cost.work());
    const priceOfAll = priceMs(planned(stimulating('@all', 100)).cost.work());
    expect(price / priceOfAll).toBeCloseTo(neurons / connectome.neuronCount, 2);
    expect(price).toBeGreaterThan(10_000);
    const { inputEventsPerTrial, selectedNeurons } = new Limits(readEnvironment({}));
    const tooMany = refusalOf(() => planned(stimulating(reached(5), 200), { inputEventsPerTrial }));
    expect([tooMany.code, tooMany.message]).toEqual(['TOO_EXPENSIVE', expect.stringMatching(/input events/)]);

    // As many hops as a document may ask for, to twenty different sets.
    const sets = Array.from({ length: 20 }, (_, i) => reached(5 + i));
    expect(planned({ silence: sets }).head.resolved['silence']).toMatchObject({
      neurons: expect.any(Number),
    });
    const largest = Array.from({ length: 20 }, (_, i) => reached(5 + i, '@all'));
    const reports = Object.fromEntries(largest.map((node_set, i) => [`r${i}`, { node_set }]));
    expect(refusalOf(() => planned({ reports }, { selectedNeurons })).message).toMatch(
      /select at least \d+ neurons in all; at most 1000000 are allowed/,
    );
  });

  it.each(['type', 'neuron'] as const)('pause while the whole wiring is summed by %s', (groupBy) => {
    const all = Uint32Array.from({ length: connectome.neuronCount }, (_, i) => i);
    const question = { sources: all, targets: all, groupBy, from: 0, limit: 10_000 };
    const parts = partsOf(connectionsBetween(connectome, question));
    expect(parts).toBeGreaterThan(connectome.targets.length / CONNECTIONS_PER_PAUSE);
  });
});

/** Questions to the wiring over real HTTP. */
import { tableFromIPC } from 'apache-arrow';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { encodeConnectome, openConnectome } from '../../src/engine/connectome/format.js';
import { startReadyService, type Service } from '../support/service.js';
import { smallConnectome } from '../support/small-connectome.js';

const PATH = '/api/v2/connections';
const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer);
const { rowStart, targets, synapseCounts, metadata } = connectome;

/** A query of PATH, with selectors that are no strings as JSON. */
function queryOf(members: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(members).map(([name, value]): [string, string] => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return `${PATH}?${new URLSearchParams(entries)}`;
}

describe('GET /api/v2/connections', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startReadyService();
  });
  afterAll(() => service.stop());

  const ask = async (members: Readonly<Record<string, unknown>>) =>
    (await service.get(queryOf(members))).json();

  it('lists the connections of two selectors, neuron by neuron', async () => {
    // C_walk are the neurons 124 to 127, of which even ones are on the left; their targets have no type.
    const expected = [124, 126].flatMap((pre) =>
      Array.from({ length: rowStart[pre + 1]! - rowStart[pre]! }, (_, k) => {
        const at = rowStart[pre]! + k;
        return {
          source_root_id: `N_0${pre}`,
          source_type: 'C_walk',
          source_side: 'left',
          target_root_id: `N_0${targets[at]}`,
          target_type: '',
          target_side: targets[at]! % 2 === 0 ? 'left' : 'right',
          pairs: 1,
          synapses: synapseCounts[at],
          sign: 'excitatory',
          excitatory_pairs: 1,
          inhibitory_pairs: 0,
        };
      }),
    );
    const answer = await ask({ source: 'C_walk:left', group_by: 'neuron' });
    expect(answer).toEqual({
      model: expect.stringMatching(/synthetic/),
      wiring: 'synthetic',
      group_by: 'neuron',
      count: expected.length,
      pairs: expected.length,
      synapses: expected.reduce((sum, { synapses }) => sum + synapses!, 0),
      connections: expected,
    });
  });

  it('adds them up by type, of all neurons if none are named', async () => {
    const { count, pairs, synapses, connections } = await ask({});
    expect([count, pairs, synapses]).toEqual([
      connections.length,
      metadata.connectionCount,
      metadata.synapseCount,
    ]);
    const relay = connections.find(
      (row: Record<string, string>) => row['source_type'] === '' && row['target_type'] === '',
    );
    expect(relay.sign).toBe('mixed');
    expect(relay.excitatory_pairs + relay.inhibitory_pairs).toBe(relay.pairs);
    const some = await ask({ source: 'S_sugar, S_loom:left', target: [{ upstream_of: 'C_walk' }] });
    expect(some.connections.map((row: Record<string, string>) => row['source_type'])).toEqual([
      'S_sugar',
      'S_loom',
    ]);
  });

  it('has the same rows in every format, as Accept or format says', async () => {
    const query = { source: 'C_*', group_by: 'neuron', limit: 40 };
    const { connections } = await ask(query);
    expect(connections).toHaveLength(40);
    const accepting = async (accept: string) => {
      const response = await service.get(queryOf(query), { accept });
      expect(response.headers.get('content-type')).toContain(accept);
      return response.arrayBuffer();
    };
    const arrow = tableFromIPC(new Uint8Array(await accepting('application/vnd.apache.arrow.stream')));
    expect(arrow.toArray().map((row) => row.toJSON())).toEqual(connections);
    expect(arrow.schema.metadata.get('source')).toBe('C_*');
    const parquet = await accepting('application/vnd.apache.parquet');
    expect(await parquetReadObjects({ file: parquet })).toEqual(connections);
    const { key_value_metadata: facts = [] } = parquetMetadata(parquet);
    expect(Object.fromEntries(facts.map(({ key, value }) => [key, value]))).toMatchObject({
      wiring: 'synthetic',
      group_by: 'neuron',
      target: '@all',
    });
    const accept = 'text/csv; charset=utf-8; header=present';
    const csv = await (await service.get(queryOf(query), { accept })).text();
    const rows = connections.map((row: object) => Object.values(row).join(','));
    expect(csv).toBe([Object.keys(connections[0]).join(','), ...rows, ''].join('\r\n'));
  });

  it('names the next page until there is none', async () => {
    const none = await ask({ source: 'C_*', group_by: 'type', limit: 0 });
    expect([none.count, none.connections]).toEqual([21, []]);
    const pages = [];
    let next: string | undefined = '?source=C_*&limit=8&group_by=type';
    while (next !== undefined) {
      const response = await service.get(PATH + next);
      pages.push(...(await response.json()).connections);
      const link = response.headers.get('link');
      next = link === null ? undefined : /^<(\?[^>]+)>; rel="next"$/.exec(link)![1]!;
    }
    expect(pages).toEqual((await ask({ source: 'C_*' })).connections);
    expect(pages).toHaveLength(21);
    expect((await ask({ from: 1e6 })).connections).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, object]>([
    [
      'a name that the model lacks',
      { source: ['S_suga', 'S_loom'], target: 'C_wlak' },
      {
        code: 'UNKNOWN_NEURONS',
        error: 'The model lacks "S_suga" (near: S_sugar, @sugar, S_song), "C_wlak" (near: C_walk, C_wing).',
        path: '/source/0',
        suggestions: ['S_sugar', '@sugar', 'S_song', 'C_walk', 'C_wing'],
      },
    ],
    ['nobody', { target: 'C_walk:center' }, { code: 'EMPTY_NODE_SET', path: '/target' }],
    ['no selector', { source: { types: 'LC4' } }, { path: '/source/types', suggestions: ['type'] }],
    ['half of a selector', { source: '{"type":' }, { path: '/source', error: /selector as JSON, got/ }],
    [
      'a member that is given twice',
      { target: '[{"type":"S_loom","type":"S_food"}]' },
      { path: '/target', error: /^target must be a selector that has each member once, got / },
    ],
    ['an empty name', { source: 'S_loom,' }, { path: '/source/1' }],
    [
      'too many hops',
      {
        source: Array(21)
          .fill(0)
          .map((_, i) => ({ upstream_of: `T${i}`, hops: 3 })),
      },
      {},
    ],
    ['two sources', { source: 'S_loom', target: 'a'.repeat(6001) }, { error: /1 to 6000 characters/ }],
    ['another group', { group_by: 'side' }, { error: /one of type, neuron, got "side"/ }],
    ['a format of experiments', { format: 'ndjson' }, {}],
    ['too many rows', { limit: 10_001 }, {}],
    ['another parameter', { sources: 'LC4' }, { error: /not a query parameter; allowed: source, target/ }],
  ])('refuses %s', async (_, query, { error, ...expected }: { error?: string | RegExp }) => {
    const response = await service.get(queryOf(query));
    const failure = await response.json();
    expect([response.status, failure]).toMatchObject([400, { code: 'INVALID_PARAMETER', ...expected }]);
    if (error !== undefined) expect(failure.error).toMatch(error);
  });

  it('refuses a selector that is given twice, other types of media and other methods', async () => {
    expect((await service.get(`${PATH}?source=a&source=b`)).status).toBe(400);
    for (const accept of ['image/png', 'text/csv; header=absent', 'text/csv; header=present; q=0']) {
      expect([accept, (await service.get(PATH, { accept })).status]).toEqual([accept, 406]);
    }
    const refused = await fetch(`${service.url}${PATH}`, { method: 'POST' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it('knows the same selectors as an experiment does', async () => {
    const selector = { downstream_of: 'S_sugar', hops: 1, minimum_synapses: 30 };
    const document = { reports: { next: { node_set: selector } } };
    const dryRun = await (await service.post(document, '/api/v2/experiments?dry_run=true')).json();
    const { connections } = await ask({ source: 'S_sugar', group_by: 'neuron' });
    const strong = connections.filter((row: { synapses: number }) => row.synapses >= 30);
    const reached = new Set(strong.map((row: Record<string, string>) => row['target_root_id']));
    expect(dryRun.resolved['reports.next'].neurons).toBe(reached.size);
    expect(dryRun.experiment.reports.next.node_set).toEqual(selector);
  });
});

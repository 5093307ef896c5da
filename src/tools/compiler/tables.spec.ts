import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type TableNeuron, tableTexts, writeTables } from '../../../test/support/tables.js';
import { CodedError } from '../../engine/errors.js';
import { signsUnder } from './brain.js';
import { silent } from './progress.js';
import { readTables } from './tables.js';

const NEURONS: TableNeuron[] = [
  { id: '20', type: 'A', positionNm: [1, 2, 3] },
  { id: '3', type: 'CB.FB3,4D2', side: 'right', positionNm: [4, 5, 6] },
  { id: '100', superClass: 'sensory', class: 'gustatory', subClass: 'sugar/water', positionNm: [7, 8, 9] },
];

function texts() {
  return tableTexts(NEURONS, [
    ['20', '3', 'GNG', 7],
    ['3', '100', 'GNG', 5],
  ]);
}

/** Reads small tables of which one was changed. */
async function read(file = '', change: (text: string) => string = (text) => text) {
  const tables = texts();
  if (file !== '') {
    tables[file] = change(tables[file]!);
  }
  return readTables(writeTables(tables));
}

describe('readTables', () => {
  it('stands neurons in ascending order of their root ids as numbers', async () => {
    const { neurons, connections } = await read();
    expect(neurons.ids).toEqual(['3', '20', '100']);
    expect(neurons.labels.type).toEqual(['CB.FB3,4D2', 'A', '']);
    expect(neurons.labels.super_class).toEqual(['central', 'central', 'sensory']);
    expect(neurons.labels.class).toEqual(['', '', 'gustatory']);
    expect(neurons.labels.sub_class).toEqual(['', '', 'sugar/water']);
    expect(neurons.labels.side).toEqual(['right', 'left', 'left']);
    expect([...neurons.positionsNm]).toEqual([4, 5, 6, 1, 2, 3, 7, 8, 9]);
    expect([...neurons.positionEstimated]).toEqual([0, 0, 0]);
    expect([...connections.pre]).toEqual([0, 1]);
    expect([...connections.post]).toEqual([2, 0]);
    expect([...connections.synapseCounts]).toEqual([5, 7]);
  });

  it('sums over neuropils before it prunes, in whatever order the rows stand', async () => {
    const { connections, provenance } = await read(
      'connections.csv.gz',
      () =>
        'pre_root_id,post_root_id,neuropil,syn_count,nt_type\n' +
        '100,20,FLA,2,\n3,3,GNG,4,\n20,100,,5,\n100,20,GNG,3,\n100,3,GNG,6,\n',
    );
    expect([...connections.pre]).toEqual([1, 2, 2]);
    expect([...connections.post]).toEqual([2, 0, 1]);
    expect([...connections.synapseCounts]).toEqual([5, 6, 5]);
    expect(provenance).toContain(
      '5 rows summed over neuropils to 4 pairs of neurons with 20 synapses; 3 pairs with 5 or more were kept, with 16 synapses.',
    );
  });

  it('keeps labels of a release as they are, even a type NA', async () => {
    const types = ['NA', 'None', ' A'];
    const neurons = types.map((type, i) => ({
      ...{ id: String(i + 1), transmitter: 'ACH', type, positionNm: [0, 0, 0] as const },
    }));
    const brain = await readTables(writeTables(tableTexts(neurons, [['1', '2', '', 5]])));
    expect(brain.neurons.labels.type).toEqual(types);
  });

  it('fills an empty transmitter from the averages, the first of equal ones; none at all excites', async () => {
    const signs = async (averages: number[]) => {
      const neurons = [{ id: '1', transmitter: '', averages, type: 'A', positionNm: [0, 0, 0] as const }];
      const dir = writeTables(tableTexts(neurons, [['1', '1', '', 5]]));
      return signsUnder('predicted', (await readTables(dir)).neurons)[0];
    };
    expect(await signs([0.1, 0, 0.3, 0, 0.2, 0])).toBe(-1);
    expect(await signs([0.1, 0, 0, 0, 0.2, 0])).toBe(1);
    expect(await signs([0, 0, 0, 0.4, 0.4, 0])).toBe(-1);
    expect(await signs([0.4, 0, 0.4, 0, 0, 0])).toBe(1);
    expect(await signs([0, 0, 0, 0, 0, 0])).toBe(1);
  });

  it('takes a measured position, else an estimated one, else that of a like cell', async () => {
    const neurons: TableNeuron[] = [
      { id: '1', type: 'A', positionNm: [1, 1, 1] },
      { id: '2', type: 'A' },
      { id: '3', type: 'A' },
    ];
    const dir = writeTables({
      ...tableTexts(neurons, [['1', '1', '', 5]]),
      'estimated_positions.csv.gz': 'root_id,position\n1,[9 9 9]\n2,[2 2 2]\n',
    });
    const brain = await readTables(dir);
    expect([...brain.neurons.positionsNm]).toEqual([1, 1, 1, 2, 2, 2, 1, 1, 1]);
    expect([...brain.neurons.positionEstimated]).toEqual([0, 1, 1]);
    expect(brain.sources.map(({ file }) => file)).toContain('estimated_positions.csv.gz');
  });

  it('takes the first of several points of a neuron', async () => {
    const { neurons } = await read('coordinates.csv.gz', (text) => `${text}20,[ 11  12 13],\n`);
    expect([...neurons.positionsNm.subarray(3, 6)]).toEqual([1, 2, 3]);
  });

  it('leaves out weak pairs by the threshold asked for, and says if the tables were pruned before', async () => {
    const neurons: TableNeuron[] = ['1', '2'].map((id) => ({ id, type: 'A', positionNm: [0, 0, 0] }));
    const dir = writeTables(
      tableTexts(neurons, [
        ['1', '2', 'GNG', 2],
        ['1', '2', 'FLA', 1],
        ['2', '1', 'GNG', 7],
      ]),
    );
    const kept = async (minimumSynapses?: number) => {
      const {
        connections,
        provenance,
        minimumSynapses: threshold,
      } = await readTables(dir, silent, minimumSynapses);
      return { threshold, counts: [...connections.synapseCounts], said: provenance.join(' ') };
    };
    expect(await kept()).toMatchObject({ threshold: 5, counts: [7] });
    expect((await kept()).said).toContain(
      'Pairs with fewer than 5 synapses were left out: 2 of 3 rows, with 3 of 10 synapses (30 %).',
    );
    await expect(kept(8)).rejects.toThrow(
      'connections.csv.gz: expected pairs of neurons with 8 synapses or more, found at most 7: --minimum-synapses 7 keeps those.',
    );
    expect(await kept(3)).toMatchObject({ threshold: 3, counts: [3, 7] });
    expect((await kept(3)).said).toContain('2 pairs with 3 or more were kept, with 10 synapses.');
    expect((await kept(3)).said).not.toMatch(/asked for|left out/);
    expect((await kept(2)).said).toContain(
      'Pairs with 2 synapses or more were asked for, but no pair of the tables has fewer than 3: weaker ones were removed earlier.',
    );
  });

  it('counts rows with ids that neurons.csv.gz lacks and goes on', async () => {
    const { connections, provenance } = await read(
      'connections.csv.gz',
      (text) => `${text}20,999,GNG,50,ACH\n999,20,GNG,50,ACH\n`,
    );
    expect(connections.count).toBe(2);
    expect(provenance).toContain(
      'connections.csv.gz: 2 of 4 rows name a root id that neurons.csv.gz lacks (first on line 4); they were left out.',
    );
    expect(
      (await read('classification.csv.gz', (text) => `${text}999,,central,,,,left,\r\n`)).provenance,
    ).toContain(
      'classification.csv.gz: 1 of 4 rows names a root id that neurons.csv.gz lacks (first on line 5); it was left out.',
    );
  });

  it('counts transmitters', async () => {
    const { transmitterCounts } = await read('neurons.csv.gz', (text) =>
      text.replace('20,GNG,ACH', '20,GNG,GABA').replace('3,GNG,ACH,0.9,0,0,0,0,0.9', '3,GNG,,,0,0,0,0,0'),
    );
    expect(transmitterCounts).toEqual({ DA: 0, SER: 0, GABA: 1, GLUT: 0, ACH: 1, OCT: 0, unknown: 1 });
  });

  it('says how many neurons a table has no row for', async () => {
    expect((await read()).provenance).toContain(
      'consolidated_cell_types.csv.gz has no row for 1 of 3 neurons.',
    );
  });
});

describe('a fault of a table', () => {
  const replaced = (from: string, to: string) => (text: string) => text.replace(from, to);

  it.each<[string, string, (text: string) => string, string]>([
    [
      'a renamed column',
      'classification.csv.gz',
      replaced('super_class', 'superclass'),
      'classification.csv.gz, line 1: expected a column super_class, found the columns ' +
        '"root_id,flow,superclass,class,sub_class,hemilineage,side,nerve".',
    ],
    [
      'a count that is no number',
      'connections.csv.gz',
      replaced(',7,', ',seven,'),
      'connections.csv.gz, line 2: expected syn_count to be a whole number from 1 to 999999999, found "seven".',
    ],
    [
      'an id that is no id',
      'connections.csv.gz',
      replaced('\n3,', '\n3x,'),
      'connections.csv.gz, line 3: expected pre_root_id to be an id of 1 to 20 digits, found "3x".',
    ],
    [
      'a neuron twice',
      'neurons.csv.gz',
      (text) => `${text}${text.split('\r\n')[1]}\r\n`,
      'neurons.csv.gz, line 5: expected one row per neuron, found 20 a second time (first on line 2).',
    ],
    [
      'a type twice',
      'consolidated_cell_types.csv.gz',
      (text) => `${text}3,B,\n`,
      'consolidated_cell_types.csv.gz, line 4: expected one row per neuron, found 3 a second time (first on line 3).',
    ],
    [
      'a pair twice in one neuropil',
      'connections.csv.gz',
      (text) => `${text}20,100,GNG,6,\n20,3,FLA,6,\n20,3,GNG,6,\n`,
      'connections.csv.gz, line 6: expected one row for a pair of neurons and a neuropil, ' +
        'found 20 to 3 in "GNG" a second time (first on line 2).',
    ],
    [
      'a pair with more synapses than the file can hold',
      'connections.csv.gz',
      (text) => `${text}20,3,FLA,8185,\n`,
      'connections.csv.gz, line 2: expected at most 8191 synapses from 20 to 3, found 8192.',
    ],
    [
      'an unknown transmitter',
      'neurons.csv.gz',
      replaced('ACH', 'HIST'),
      'neurons.csv.gz, line 2: expected nt_type to be one of DA, SER, GABA, GLUT, ACH, OCT or empty, found "HIST".',
    ],
    [
      'an unknown side',
      'classification.csv.gz',
      replaced('left', 'middle'),
      'classification.csv.gz, line 2: expected side to be one of left, right, center or empty, found "middle".',
    ],
    [
      'a position of two numbers',
      'coordinates.csv.gz',
      replaced('[1 2 3]', '[1 2]'),
      'coordinates.csv.gz, line 2: expected position to be three numbers, such as [227220 216884 139400], found "[1 2]".',
    ],
    [
      'a table of nothing',
      'connections.csv.gz',
      () => '',
      'connections.csv.gz, line 1: expected a header with pre_root_id, post_root_id, syn_count, neuropil, found an empty file.',
    ],
  ])('%s', async (_, file, change, message) => {
    const error = await read(file, change).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CodedError);
    expect(error).toMatchObject({ code: 'TABLE_INVALID', message });
  });

  it('a table cut short names itself', async () => {
    const dir = writeTables(texts());
    const whole = gzipSync(texts()['connections.csv.gz']!);
    writeFileSync(join(dir, 'connections.csv.gz'), whole.subarray(0, whole.length - 9));
    await expect(readTables(dir)).rejects.toMatchObject({
      code: 'TABLE_INVALID',
      message: expect.stringMatching(/^connections\.csv\.gz, line \d: .*it is truncated\.$/),
    });
  });

  it('a directory without tables names the first that is missing', async () => {
    await expect(readTables('/nowhere')).rejects.toMatchObject({
      code: 'TABLE_INVALID',
      message: expect.stringContaining(
        'neurons.csv.gz: expected a file at /nowhere/neurons.csv.gz, found none',
      ),
    });
  });
});

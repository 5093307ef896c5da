import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RecordBatchReader, tableFromIPC } from 'apache-arrow';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import {
  conditions,
  connectome,
  connectomeBytes,
  eventsOf,
  experiment,
  LEFT,
  RIGHT,
  spikeTable,
  UNTYPED,
} from '../../../test/support/answered-experiment.js';
import { describeWith, OTHER_NODES, PYARROW } from '../../../test/support/requirements.js';
import type { ExperimentDocument } from '../document/document.js';
import type { AnsweredCondition } from '../document/result.js';
import { answerWriter } from './answer-writer.js';
import type { TableFormat } from './formats.js';
import { progressLine } from './answer-json.js';
import type { TableRequest } from './tables.js';

type Choice = Pick<TableRequest, 'table' | 'names'> & {
  document?: ExperimentDocument;
  results?: readonly AnsweredCondition[];
};

async function answer(format: TableFormat | 'ndjson', choice: Choice = {}): Promise<Buffer> {
  const { document = experiment, results = conditions, ...options } = choice;
  const writer = await answerWriter(format, { connectome, experiment: document, ...options });
  return Buffer.concat(eventsOf(document, results).flatMap((event) => [...writer.write(event)]));
}

async function csv(choice: Choice = {}): Promise<string[]> {
  const text = (await answer('csv', choice)).toString();
  expect(text.endsWith('\r\n')).toBe(true);
  return text.slice(0, -2).split('\r\n');
}

function arrowRows(bytes: Buffer): object[] {
  return tableFromIPC(bytes)
    .toArray()
    .map((row: { toJSON(): object }) => row.toJSON());
}

async function parquetRows(bytes: Buffer): Promise<object[]> {
  const rows = await parquetReadObjects({ file: Uint8Array.from(bytes).buffer });
  return rows.map((row) => ({ ...row }));
}

const TYPE = 'A,"1"';

/** Rows worked out by hand from the conditions of test/support/answered-experiment.ts. */
const RATES = [
  [0, 0.5, 'none', 'none', 'cells', LEFT, 'left', 1, 1, 75, 25, 2],
  [0, 0.5, 'none', 'none', 'cells', RIGHT, 'right', 1, 0, 0, 0, 2],
  [0, 0.5, 'none', 'none', '-all', '', '', 3, 1.5, 25.0001, 8.3333, 2],
  [1, 0.5, TYPE, 'left', 'cells', LEFT, 'left', 1, null, null, null, 2],
  [1, 0.5, TYPE, 'left', '-all', '', '', 3, null, null, null, 2],
].map(
  named([
    'condition',
    'inputs.a.rate_hz',
    'silence.type',
    'silence.side',
    'report',
    'root_id',
    'side',
    'neurons',
    'responding',
    'rate_hz_mean',
    'rate_hz_sd',
    'trials',
  ]),
);

const HISTOGRAM = [
  [0, 0.5, 'none', 'none', '-all', 3, 0.3, 16.5, 2],
  [0, 0.5, 'none', 'none', '-all', 3, 10.4, 0, 2],
].map(
  named([
    'condition',
    'inputs.a.rate_hz',
    'silence.type',
    'silence.side',
    'report',
    'neurons',
    'bin_start_ms',
    'rate_hz',
    'trials',
  ]),
);

const SPIKES = [
  [0, 0, 0.1, LEFT, TYPE, 'left'],
  [0, 0, 12.3, UNTYPED, '', 'center'],
  [0, 1, 19.9, LEFT, TYPE, 'left'],
  [1, 0, 0.2, RIGHT, TYPE, 'right'],
].map(named(['condition', 'trial', 't_ms', 'root_id', 'type', 'side']));

const INPUTS = [[0, 0, 0.7, 'b', RIGHT, TYPE, 'right']].map(
  named(['condition', 'trial', 't_ms', 'input', 'root_id', 'type', 'side']),
);

const MEMBRANE = [
  [0, 0, 10, LEFT, TYPE, 'left', -52],
  [0, 0, 10, UNTYPED, '', 'center', -44.900000000000006],
  [0, 1, 10, LEFT, TYPE, 'left', -51.99999999999999],
  [0, 1, 10, UNTYPED, '', 'center', 16.749999999999996],
].map(named(['condition', 'trial', 't_ms', 'root_id', 'type', 'side', 'v_mv']));

const EXPECTED = {
  rates: RATES,
  histogram: HISTOGRAM,
  spikes: SPIKES,
  inputs: INPUTS,
  membrane: MEMBRANE,
};
const TABLES = Object.keys(EXPECTED) as (keyof typeof EXPECTED)[];

const NAME = '=dose, "μ"';
const BASELINE = `${NAME} inputs.a.rate_hz=0.5 silence.type=none silence.side=none`;
const LESION = `${NAME} inputs.a.rate_hz=0.5 silence.type=A,"1" silence.side=left`;
const SHIU = [
  [0.0001, 0n, BigInt(LEFT), BASELINE],
  [0.0123, 0n, BigInt(UNTYPED), BASELINE],
  [0.0199, 1n, BigInt(LEFT), BASELINE],
  [0.0002, 0n, BigInt(RIGHT), LESION],
].map(named(['t', 'trial', 'flywire_id', 'exp_name']));

/** More rows than a batch has at most. */
const LARGE: AnsweredCondition = {
  ...conditions[0]!,
  reports: { raster: spikeTable(Array.from({ length: 140_000 }, (_, at) => [at % 2, at % 20_000, at % 3])) },
};

function named(names: readonly string[]) {
  return (values: readonly unknown[]) => Object.fromEntries(names.map((name, at) => [name, values[at]]));
}

describe('CSV of an open experiment', () => {
  it('has a row for each condition, report and group, and defuses text that a spreadsheet would compute', async () => {
    expect(await csv()).toEqual([
      'condition,inputs.a.rate_hz,silence.type,silence.side,report,root_id,side,neurons,responding,rate_hz_mean,rate_hz_sd,trials',
      `0,0.5,none,none,cells,${LEFT},left,1,1,75,25,2`,
      `0,0.5,none,none,cells,${RIGHT},right,1,0,0,0,2`,
      "0,0.5,none,none,'-all,,,3,1.5,25.0001,8.3333,2",
      `1,0.5,"A,""1""",left,cells,${LEFT},left,1,,,,2`,
      `1,0.5,"A,""1""",left,'-all,,,3,,,,2`,
    ]);
  });

  it('has histograms, spikes and input events as tables of their own', async () => {
    expect(await csv({ table: 'histogram' })).toEqual([
      'condition,inputs.a.rate_hz,silence.type,silence.side,report,neurons,bin_start_ms,rate_hz,trials',
      "0,0.5,none,none,'-all,3,0.3,16.5,2",
      "0,0.5,none,none,'-all,3,10.4,0,2",
    ]);
    expect(await csv({ table: 'spikes' })).toEqual([
      'condition,trial,t_ms,root_id,type,side',
      `0,0,0.1,${LEFT},"A,""1""",left`,
      `0,0,12.3,${UNTYPED},,center`,
      `0,1,19.9,${LEFT},"A,""1""",left`,
      `1,0,0.2,${RIGHT},"A,""1""",right`,
    ]);
    expect(await csv({ table: 'inputs' })).toEqual([
      'condition,trial,t_ms,input,root_id,type,side',
      `0,0,0.7,b,${RIGHT},"A,""1""",right`,
    ]);
  });

  it('has membrane potentials with all digits that a double needs', async () => {
    expect(await csv({ table: 'membrane' })).toEqual([
      'condition,trial,t_ms,root_id,type,side,v_mv',
      `0,0,10,${LEFT},"A,""1""",left,-52`,
      `0,0,10,${UNTYPED},,center,-44.900000000000006`,
      `0,1,10,${LEFT},"A,""1""",left,-51.99999999999999`,
      `0,1,10,${UNTYPED},,center,16.749999999999996`,
    ]);
  });

  it('has the columns of Shiu et al., and those of BMTK between spaces', async () => {
    const [header, first] = await csv({ names: 'shiu' });
    expect(header).toBe('t,trial,flywire_id,exp_name');
    expect(first).toBe(`0.0001,0,${LEFT},"'${BASELINE.replaceAll('"', '""')}"`);
    expect((await csv({ names: 'sonata' })).slice(0, 2)).toEqual([
      'timestamps population node_ids condition trial',
      `0.1 flywire_783 ${LEFT} 0 0`,
    ]);
  });
});

describe('NDJSON of an open experiment', () => {
  it('has the head, a line for each condition, and the totals', async () => {
    const lines = (await answer('ndjson')).toString().split('\n');
    expect(lines.pop()).toBe('');
    const [head, first, second, totals] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(4);
    expect(head).toMatchObject({ id: '0123456789abcdef0123456789abcdef', experiment: { name: NAME } });
    expect(first).toMatchObject({ index: 0, reports: { cells: conditions[0]!.reports['cells'] } });
    expect(first!['reports']).toMatchObject({
      raster: { trial: [0, 0, 1], t_ms: [0.1, 12.3, 19.9], root_id: [LEFT, UNTYPED, LEFT] },
      events: { trial: [0], t_ms: [0.7], input: ['b'], root_id: [RIGHT] },
      potentials: {
        trial: [0, 0, 1, 1],
        v_mv: [-52, -44.900000000000006, -51.99999999999999, 16.749999999999996],
      },
    });
    expect(second).toMatchObject({ reason: 'EVENT_BUDGET', reports: { raster: { truncated: true } } });
    expect(totals).toMatchObject({ cost: { synaptic_events: 12 }, cite: ['Somebody 2000'] });
  });

  it('has lines of progress that no other line looks like', () => {
    const progress = { conditions_done: 1, conditions: 2, trials_done: 3, trials: 4 };
    expect(Buffer.from(progressLine(progress)).toString()).toBe(
      '{"progress":{"conditions_done":1,"conditions":2,"trials_done":3,"trials":4}}\n',
    );
  });
});

describe.each([
  ['arrow', arrowRows],
  ['parquet', parquetRows],
] as const)('%s of an open experiment', (format, rowsOf) => {
  it.each(TABLES)('has the table %s', async (table) => {
    expect(await rowsOf(await answer(format, { table }))).toEqual(EXPECTED[table]);
  });

  it('has the columns of Shiu et al. and of BMTK', async () => {
    expect(await rowsOf(await answer(format, { names: 'shiu' }))).toEqual(SHIU);
    expect((await rowsOf(await answer(format, { names: 'sonata' })))[1]).toEqual({
      timestamps: 12.3,
      population: 'flywire_783',
      node_ids: BigInt(UNTYPED),
      condition: 0,
      trial: 0,
    });
  });

  it('can be read if no condition has a row', async () => {
    const results = [{ ...conditions[0]!, reports: { raster: spikeTable([]) } }];
    expect(await rowsOf(await answer(format, { table: 'spikes', results }))).toEqual([]);
  });

  it('is the same bytes each time', async () => {
    const [first, second] = [
      await answer(format, { table: 'inputs' }),
      await answer(format, { table: 'inputs' }),
    ];
    expect(first.equals(second)).toBe(true);
  });

  it('splits a large condition and keeps every row', async () => {
    const bytes = await answer(format, { table: 'spikes', results: [LARGE] });
    const read = await rowsOf(bytes);
    expect(read).toHaveLength(140_000);
    const last = [0, 1, 1999.9, RIGHT, TYPE, 'right'];
    expect(read[139_999]).toEqual(named(['condition', 'trial', 't_ms', 'root_id', 'type', 'side'])(last));
  });
});

describe('Arrow of an open experiment', () => {
  it('has the experiment in its schema, and in a batch that rows are missing', async () => {
    const batches = [...RecordBatchReader.from(await answer('arrow', { table: 'spikes' }))];
    const { metadata } = batches[0]!.schema;
    expect(metadata.get('model')).toBe('fafb-783-measured-predicted-000000000000');
    expect(JSON.parse(metadata.get('experiment')!)).toEqual(experiment);
    expect(batches.map((batch) => batch.metadata.get('truncated'))).toEqual([undefined, 'true']);
  });
});

describe('Parquet of an open experiment', () => {
  it('has in its footer the experiment, and the conditions whose rows are missing', async () => {
    const bytes = await answer('parquet', { table: 'spikes' });
    const { key_value_metadata: pairs } = parquetMetadata(Uint8Array.from(bytes).buffer);
    const metadata = new Map(pairs!.map(({ key, value }) => [key, value]));
    expect(JSON.parse(metadata.get('experiment')!)).toEqual(experiment);
    expect(metadata.get('truncated')).toBe('[1]');
  });

  it('puts small conditions into one row group and large ones into several', async () => {
    const groups = async (results: readonly AnsweredCondition[]) => {
      const bytes = await answer('parquet', { table: 'spikes', results });
      return parquetMetadata(Uint8Array.from(bytes).buffer).row_groups.map(({ num_rows: rows }) => rows);
    };
    expect(await groups(conditions)).toEqual([4n]);
    expect(await groups([LARGE])).toEqual([...Array<bigint>(17).fill(8_192n), 736n]);
  });
});

describe('The table of an answer', () => {
  const reportsOf = (...names: string[]): ExperimentDocument => ({
    ...experiment,
    reports: Object.fromEntries(names.map((name) => [name, experiment.reports[name]!])),
  });

  it.each([
    [['cells', 'raster'], 'rates'],
    [['-all', 'raster'], 'rates'],
    [['raster', 'events'], 'spikes'],
    [['events', 'raster'], 'inputs'],
    [['potentials', 'raster'], 'membrane'],
  ] as const)('is by default, of the reports %s, %s', async (names, table) => {
    const document = reportsOf(...names);
    expect(await csv({ document })).toEqual(await csv({ document, table }));
  });

  it('names the report of a row if there are several', async () => {
    const document = {
      ...experiment,
      reports: { a: experiment.reports['raster']!, b: experiment.reports['raster']! },
    };
    const results = [
      { ...conditions[0]!, reports: { a: spikeTable([[0, 1, 0]]), b: spikeTable([[0, 1, 0]]) } },
    ];
    expect(await csv({ document, results })).toEqual([
      'condition,report,trial,t_ms,root_id,type,side',
      `0,a,0,0.1,${LEFT},"A,""1""",left`,
      `0,b,0,0.1,${LEFT},"A,""1""",left`,
    ]);
    await expect(answer('csv', { document, results, names: 'shiu' })).rejects.toThrow(
      'names: shiu needs exactly one report of type spikes, so that no spike counts twice; found a, b',
    );
  });

  it('calls a group of all neurons all, and its baseline none', async () => {
    const document: ExperimentDocument = {
      ...reportsOf('-all'),
      sweep: [{ each: '*', group_by: [], as: 'inputs.a' }],
    };
    const results = [null, {}].map((group, index) => ({
      ...conditions[1]!,
      index,
      parameters: { 'inputs.a': group },
    }));
    expect((await csv({ document, results })).slice(1)).toEqual([
      "0,none,'-all,3,,,,2",
      "1,all,'-all,3,,,,2",
    ]);
  });

  it('is refused if nothing fills it', async () => {
    const document = reportsOf('cells');
    await expect(answer('arrow', { document, table: 'spikes' })).rejects.toMatchObject({
      code: 'INVALID_PARAMETER',
      path: '/reports',
      message: 'table: spikes needs a report of type spikes; the reports are cells (rate).',
    });
    await expect(answer('csv', { document, table: 'controls' })).rejects.toMatchObject({
      code: 'INVALID_PARAMETER',
      path: '/controls',
      message: 'table: controls needs controls; the experiment has none.',
    });
  });

  it('is refused under names that it cannot have', async () => {
    await expect(answer('csv', { table: 'rates', names: 'sonata' })).rejects.toThrow(
      'names: sonata names the columns of the table spikes; found rates',
    );
    const synthetic = { ...connectome, metadata: { ...connectome.metadata, wiring: 'synthetic' as const } };
    await expect(answerWriter('csv', { connectome: synthetic, experiment, names: 'shiu' })).rejects.toThrow(
      'names: shiu needs root ids, and the neurons of a synthetic brain have none',
    );
  });
});

describe('The build output', () => {
  const answers = (['csv', 'ndjson', 'arrow', 'parquet'] as const).flatMap((format) =>
    TABLES.map((table) => ({ format, table })),
  );
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'formats-'));
    writeFileSync(join(dir, 'small.connectome'), connectomeBytes);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  async function expectEqualBytes(node: string): Promise<void> {
    const written = execFileSync(node, ['test/support/write-answers.mjs', join(dir, 'small.connectome')], {
      input: JSON.stringify({ answers, events: eventsOf(experiment, conditions) }),
    });
    for (const [at, digest] of (JSON.parse(written.toString()) as string[]).entries()) {
      const { format, table } = answers[at]!;
      const expected = createHash('sha256')
        .update(await answer(format, { table }))
        .digest('hex');
      expect({ format, table, digest }).toEqual({ format, table, digest: expected });
    }
  }

  it('writes the same bytes', () => expectEqualBytes(process.execPath));

  describeWith(['other-nodes'], 'on other versions of Node', () => {
    it.each(OTHER_NODES)('writes the same bytes with %s', expectEqualBytes);
  });
});

describeWith(['pyarrow'], 'An answer read by pyarrow', () => {
  const script = `
import io, json, sys
import pyarrow as pa, pyarrow.parquet as pq
format, data = sys.argv[1], sys.stdin.buffer.read()
table = pa.ipc.open_stream(data).read_all() if format == 'arrow' else pq.read_table(io.BytesIO(data))
json.dump({'rows': table.to_pylist(), 'metadata': {k.decode(): v.decode() for k, v in table.schema.metadata.items()}}, sys.stdout)
`;

  it.each(TABLES.flatMap((table) => [['arrow', table] as const, ['parquet', table] as const]))(
    'has, as %s, the table %s',
    async (format, table) => {
      const output = execFileSync(PYARROW, ['-c', script, format], {
        input: await answer(format, { table }),
      });
      const { rows, metadata } = JSON.parse(output.toString()) as {
        rows: object[];
        metadata: Record<string, string>;
      };
      expect(rows).toEqual(EXPECTED[table]);
      expect(JSON.parse(metadata['experiment']!)).toEqual(experiment);
    },
  );
});

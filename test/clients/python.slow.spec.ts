import { execFile, type ExecFileException } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { answerWriter } from '../../src/answers/v2/formats/answer-writer.js';
import { encodeConnectome } from '../../src/connectome/format.js';
import { conditions, connectome, eventsOf, experiment } from '../support/answered-experiment.js';
import { connectomeFile } from '../support/connectomes.js';
import { describeWith, PANDAS, PYARROW } from '../support/requirements.js';
import { startReadyService, type Service } from '../support/service.js';
import { smallConnectome } from '../support/small-connectome.js';

const CLIENT_DIR = resolve('clients/python');
const FIRST_ID = 720575940600000000n;

let dir: string;
let service: Service;

/** The small brain as if it had been measured, so that its neurons have root ids. */
function measuredBrain(): Uint8Array {
  const small = smallConnectome();
  return encodeConnectome({
    ...small,
    metadata: { ...small.metadata, wiring: 'measured' },
    neuronIds: small.neuronIds.map((_, i) => String(FIRST_ID + BigInt(i))),
  });
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'python-client-'));
  const file = join(dir, 'measured.connectome');
  writeFileSync(file, measuredBrain());
  service = await startReadyService({ CONNECTOME_FILE: file });
});
afterAll(async () => {
  await service.stop();
  rmSync(dir, { recursive: true });
});

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of Python, to which the client and `lab` are known. */
async function python(script: string, { interpreter = 'python3', url = service.url } = {}): Promise<Output> {
  const prelude = `
import json, sys
from neural_experiment_client import *
lab = Lab(${JSON.stringify(url)})
def answer(value): print(json.dumps(value))
`;
  return new Promise((done, fail) => {
    execFile(
      interpreter,
      ['-c', prelude + script],
      { cwd: dir, env: { PATH: process.env['PATH'], PYTHONPATH: CLIENT_DIR, PYTHONDONTWRITEBYTECODE: '1' } },
      (error: ExecFileException | null, stdout, stderr) =>
        error === null ? done({ stdout, stderr }) : fail(new Error(stderr, { cause: error })),
    );
  });
}

async function answered(script: string, options: Parameters<typeof python>[1] = {}): Promise<unknown> {
  return JSON.parse((await python(script, options)).stdout);
}

const DOCUMENT = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 150 } },
  reports: {
    cells: { node_set: 'C_proboscis', group_by: ['neuron', 'side'] },
    bins: { node_set: 'C_*', type: 'histogram', group_by: ['type'], start_ms: 0.3, bin_ms: 10.1 },
    raster: { node_set: 'C_*', type: 'spikes' },
    events: { node_set: 'S_sugar', type: 'inputs' },
  },
  sweep: [
    { set: 'inputs.sugar.rate_hz', values: [50, 150] },
    { each: 'S_*:left', group_by: ['type', 'side'], as: 'silence' },
  ],
  duration_ms: 50,
  trials: 2,
};
const RUN = `document = json.loads(${JSON.stringify(JSON.stringify(DOCUMENT))})
result = lab.run(**document)
`;

async function posted(query: string, document: object = DOCUMENT): Promise<Buffer> {
  const response = await service.post(document, `/api/v2/experiments?${query}`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

describeWith(['python'], 'the Python client without other packages', () => {
  it('runs an experiment and has the whole answer', async () => {
    const { json, document, id, again } = (await answered(`${RUN}
answer({'json': result.json, 'document': result.document, 'id': result.id,
        'again': lab.run(**result.document).json})`)) as Record<string, unknown>;
    expect(JSON.stringify(json)).toBe((await posted('format=json')).toString());
    expect(json).toMatchObject({ id, experiment: document });
    expect(again).toEqual(json);
  });

  it('follows a job to its end: the result is that of a request', async () => {
    const { result, saved, states, name, again } = (await answered(`
document = json.loads(${JSON.stringify(JSON.stringify(DOCUMENT))})
job = lab.submit(**document)
states = []
result = job.wait(progress=states.append, every_s=0.05)
path = job.download('job.csv', table='spikes')
print_job_state(states[-1])
answer({'result': result.json, 'saved': path.read_text(), 'name': job.name,
        'states': [[s.status, s.progress, s.conditions_done, s.conditions] for s in states],
        'again': [lab.job(job.name).results().json == result.json, result.is_partial]})`)) as {
      result: object;
      saved: string;
      states: [string, number, number, number][];
      name: string;
      again: boolean[];
    };
    expect(JSON.stringify(result)).toBe((await posted('format=json')).toString());
    // Python reads line ends as \n.
    expect(saved).toBe((await posted('format=csv&table=spikes')).toString().replaceAll('\r\n', '\n'));
    const [status, progress, done, all] = states.at(-1)!;
    expect([status, progress, done]).toEqual(['successful', 100, all]);
    expect(name).toMatch(/^[\w-]{24}$/);
    expect(again).toEqual([true, false]);
  });

  it('ends a job, and says why one is not found or has failed', async () => {
    const script = `
endless = dict(inputs={'a': 'S_sugar'}, trials=100, duration_ms=200, reports={'r': 'C_walk'},
  sweep={'set': 'seed', 'from': 1, 'to': 10000, 'step': 1})
job = lab.submit(**endless)
while job.state.conditions_done < 2: pass
partial = job.results()
import warnings
with warnings.catch_warnings(record=True) as caught: job.download('partial.csv')
ended = job.end()
failures = []
for failing in (job.wait, lab.job('nobody').wait, lambda: lab.submit(**{**endless, 'trials': 0})):
    try: failing()
    except LabError as error: failures.append([error.status, error.code])
answer([ended.status, partial.is_partial, len(partial.json['conditions']) >= 2, [str(w.message) for w in caught], failures])`;
    expect(await answered(script)).toEqual([
      'dismissed',
      true,
      true,
      ['The job is running: partial.csv has only the conditions that are done.'],
      [
        [404, 'NOT_FOUND'],
        [404, 'NOT_FOUND'],
        [400, 'INVALID_PARAMETER'],
      ],
    ]);
  });

  it('says what an experiment would cost', async () => {
    expect(await answered(`${RUN}answer(lab.dry_run(**document))`)).toEqual(
      JSON.parse((await posted('format=json&dry_run=true')).toString()),
    );
  });

  it('writes out what a document may leave out', async () => {
    const [short, long] = (await answered(`
ids = [${FIRST_ID}, ${FIRST_ID + 1n}]
short = lab.run(inputs={'a': 'S_sugar', 'b': ids, 'c': {'node_set': ids[0], 'module': 'spikes', 'times_ms': {ids[0]: [1, 2.5]}}},
  silence=ids[1], reports={'r': ['C_motor', *ids]}, sweep={'set': 'inputs.a.rate_hz', 'values': [9]}, trials=1, duration_ms=9)
texts = [str(i) for i in ids]
long = lab.run(inputs={'a': {'node_set': 'S_sugar'}, 'b': {'node_set': [{'root_id': texts}]},
    'c': {'node_set': {'root_id': texts[0]}, 'module': 'spikes', 'times_ms': {texts[0]: [1, 2.5]}}},
  silence=[{'root_id': texts[1]}], reports={'r': {'node_set': ['C_motor', {'root_id': texts}]}},
  sweep=[{'set': 'inputs.a.rate_hz', 'values': [9]}], trials=1, duration_ms=9)
answer([short.json, long.json])`)) as object[];
    expect(short).toEqual(long);
  });

  it('finds neurons and published sets', async () => {
    const neurons = await (await service.get('/api/v2/neurons?type=S_*&side=left')).json();
    const sets = await (await service.get('/api/v2/node-sets')).json();
    const script = `
import builtins, neural_experiment_client
def missing(): raise ImportError
neural_experiment_client._pandas = missing
answer([lab.neurons('S_*', side='left'), lab.node_sets()])`;
    expect(await answered(script)).toEqual([neurons.neurons, sets.node_sets]);
  });

  it('raises what the service says of a mistake', async () => {
    const document = { inputs: { a: { node_set: 'S_suger' } } };
    const response = await service.post(document, '/api/v2/experiments');
    const { error, code, path, suggestions } = await response.json();
    expect(suggestions).toContain('S_sugar');
    expect(
      await answered(`
try: lab.run(inputs={'a': 'S_suger'})
except LabError as error:
  answer([str(error), error.status, error.code, error.path, error.suggestions])`),
    ).toEqual([error, response.status, code, path, suggestions]);
  });

  it('refuses an address that is none', async () => {
    await expect(python(`Lab('localhost:8080')`)).rejects.toThrow(
      "url must begin with http:// or https:// and name a host, got 'localhost:8080'",
    );
  });

  it('saves an answer as the service writes it', async () => {
    await python(`${RUN}
for name in ['a.csv', 'a.arrow', 'a.parquet']: lab.download(name, table='spikes', **document)
lab.download('a.json', **document)`);
    for (const format of ['csv', 'arrow', 'parquet']) {
      const saved = readFileSync(join(dir, `a.${format}`));
      expect(saved.equals(await posted(`format=${format}&table=spikes`))).toBe(true);
    }
    expect(readFileSync(join(dir, 'a.json'))).toEqual(await posted('format=json'));
    await expect(python(`lab.download('a.txt')`)).rejects.toThrow(
      "path must end in .csv, .arrow, .parquet, .ndjson, .json, got 'a.txt'",
    );
  });

  describe('beside a service that has trouble', () => {
    let server: Server;
    let url: string;
    let listener: RequestListener;
    beforeAll(async () => {
      server = createServer((request, response) => listener(request, response));
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterAll(() => server.close());

    const failing = (script: string) =>
      answered(
        `
try: ${script}
except LabError as error: answer([type(error).__name__, str(error), error.code, error.retry_after_s])`,
        { url },
      );
    const HEAD = '{"id":"1","experiment":{"trials":1}}\n';
    const TOTALS = '{"cost":{}}\n';

    it('comes again when the service says so, for as long as it may wait', async () => {
      let asked = 0;
      listener = (_, response) => {
        if (++asked % 3 === 0) {
          response.end(HEAD + TOTALS);
        } else {
          response.writeHead(asked % 3 === 1 ? 429 : 503, { 'Retry-After': '1' });
          response.end('{"error":"Later.","code":"QUEUE_FULL"}');
        }
      };
      expect(await answered(`answer(lab.run().id)`, { url })).toBe('1');
      expect(asked).toBe(3);
      expect(await failing(`Lab(lab.url, wait_at_most_s=1.5).run()`)).toEqual([
        'LabError',
        'Later.',
        'QUEUE_FULL',
        1,
      ]);
      expect(asked).toBe(5);
    });

    it('submits a job again under the same key where no answer came', async () => {
      const keys: unknown[] = [];
      listener = ({ headers }, response) => {
        keys.push(headers['idempotency-key']);
        if (keys.length === 1) response.socket!.resetAndDestroy();
        else response.writeHead(202).end('{"jobID":"a job"}');
      };
      expect(await answered(`answer([lab.submit().name, lab.submit().name])`, { url })).toEqual([
        'a job',
        'a job',
      ]);
      expect(keys).toHaveLength(3);
      expect(keys[0]).toMatch(/^"[\da-f-]{36}"$/);
      expect([keys[1] === keys[0], keys[2] === keys[0]]).toEqual([true, false]);
      // Where nobody listens, no job can have begun.
      const script = `Lab('http://127.0.0.1:1').submit()`;
      expect((await failing(script)) as unknown[]).toEqual([
        'LabConnectionError',
        expect.stringContaining('cannot be reached'),
        null,
        null,
      ]);
    });

    it('tells how far an experiment is', async () => {
      const progress = { conditions_done: 1, conditions: 2, trials_done: 3, trials: 6 };
      const end = { conditions_done: 2, conditions: 2, trials_done: 6, trials: 6 };
      listener = (_, response) => {
        response.write(HEAD);
        response.write(`${JSON.stringify({ progress })}\n`);
        response.end(`{"index":0}\n{"index":1}\n${JSON.stringify({ progress: end })}\n${TOTALS}`);
      };
      const { stdout, stderr } = await python(
        `
seen = []
lab.run(progress=seen.append)
answer([[p.conditions_done, p.trials_done, p.left_s == p.elapsed_s * (6 - p.trials_done) / p.trials_done] for p in seen])
lab.run(progress=True)`,
        { url },
      );
      expect(JSON.parse(stdout)).toEqual([
        [1, 3, true],
        [2, 6, true],
      ]);
      expect(stderr).toMatch(
        /^\r3 of 6 trials, 1 of 2 conditions, \d+ s left *\r6 of 6 trials, 2 of 2 conditions, 0 s left *\n$/,
      );
    });

    it('raises what ends an experiment under way', async () => {
      listener = (_, response) => response.end(`${HEAD}{"error":"The service stops.","code":"DRAINING"}\n`);
      for (const call of ['lab.run()', `lab.download('ended.ndjson')`]) {
        expect(await failing(call)).toEqual(['LabError', 'The service stops.', 'DRAINING', null]);
      }
      expect(existsSync(join(dir, 'ended.ndjson'))).toBe(false);
    });

    it.each([
      ['is cut between lines', HEAD, 'The answer ended before the experiment did.'],
      ['is cut within a line', HEAD.slice(0, 9), 'The answer is not JSON, or it was cut off.'],
    ])('takes no answer that %s for a whole one', async (_, body, message) => {
      listener = (__, response) => response.end(body);
      for (const call of ['lab.run()', `lab.download('cut.ndjson')`]) {
        expect(await failing(call)).toEqual(['LabConnectionError', message, null, null]);
      }
      expect(existsSync(join(dir, 'cut.ndjson'))).toBe(false);
    });

    it('leaves no file behind where the connection breaks', async () => {
      listener = (_, response) => {
        response.writeHead(200, { 'Content-Length': '1000' });
        response.write('PAR1', () => response.destroy());
      };
      expect(await failing(`lab.download('broken.parquet')`)).toMatchObject({ 0: 'LabConnectionError' });
      expect(readdirSync(dir).filter((name) => name.includes('broken'))).toEqual([]);
    });

    it('gives up where nothing answers, or not in time', async () => {
      listener = () => undefined;
      expect(await failing(`Lab(lab.url, timeout_s=0.2).run()`)).toEqual([
        'LabConnectionError',
        `${url} did not answer in time.`,
        null,
        null,
      ]);
      expect(await failing(`Lab('http://127.0.0.1:1').run()`)).toMatchObject({
        0: 'LabConnectionError',
        1: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 cannot be reached: .*refused/) as string,
      });
    });

    it('refuses a file of spikes that lacks some', async () => {
      const spikes = await answerWriter('parquet', { connectome, experiment, table: 'spikes' });
      const bytes = Buffer.concat(
        eventsOf(experiment, conditions).flatMap((event) => [...spikes.write(event)]),
      );
      listener = (_, response) => response.end(bytes);
      expect(await failing(`lab.download('spikes.parquet')`)).toEqual([
        'LabError',
        'There are more spikes than the service writes into one file. Run fewer trials, a shorter duration, or ' +
          'report fewer neurons.',
        null,
        null,
      ]);
      expect(existsSync(join(dir, 'spikes.parquet'))).toBe(false);
    });
  });
});

describeWith(['pandas'], 'the Python client with pandas', () => {
  it('has the tables of the service as DataFrames', async () => {
    const script = `${RUN}
import pandas as pd
for table, columns in {'rates': None, 'histogram': None, 'spikes': ['condition', 'trial', 't_ms', 'root_id'],
                       'inputs': ['condition', 'trial', 't_ms', 'input', 'root_id']}.items():
  path = lab.download(table + '.csv', table=table, **document)
  expected = pd.read_csv(path, dtype={'root_id': str}, keep_default_na=False)
  frame = getattr(result, table)
  assert len(frame) > 0, table
  if columns is None: assert list(frame.columns) == list(expected.columns), (table, frame.columns, expected.columns)
  else: frame, expected = frame[columns], expected[columns]
  pd.testing.assert_frame_equal(frame, expected, check_dtype=False)
`;
    await python(script, { interpreter: PANDAS });
  });

  it('has no rates where a trial was stopped', async () => {
    const script = `
condition = {'index': 0, 'parameters': {}, 'complete': False, 'reports': {'r': [
  {'neurons': 2, 'responding': None, 'responding_any': None, 'rate_hz': None}]}}
result = Result({'experiment': {'trials': 3, 'reports': {'r': {'type': 'rate', 'group_by': []}}}, 'conditions': [condition]})
answer(json.loads(result.rates.to_json(orient='records')))`;
    expect(await answered(script, { interpreter: PANDAS })).toEqual([
      {
        condition: 0,
        report: 'r',
        neurons: 2,
        responding: null,
        rate_hz_mean: null,
        rate_hz_sd: null,
        trials: 3,
      },
    ]);
  });

  it('warns of spikes that are missing', async () => {
    const { stderr } = await python(
      `
result = Result({'experiment': {'trials': 1, 'reports': {'r': {'type': 'spikes', 'group_by': []}}}, 'conditions': [
  {'index': 0, 'parameters': {}, 'reports': {'r': {'trial': [0], 't_ms': [1], 'root_id': ['1'], 'truncated': True}}}]})
result.spikes`,
      { interpreter: PANDAS },
    );
    expect(stderr).toContain('The service left out spikes beyond its limit.');
  });

  it('takes numbers and ids of NumPy', async () => {
    const script = `
import numpy as np
ids = np.array([${FIRST_ID}, ${FIRST_ID + 1n}])
result = lab.run(inputs={'a': {'node_set': ids, 'rate_hz': np.float64(50)}}, silence=ids[:1], trials=np.int64(1),
  duration_ms=10, sweep=[{'set': 'inputs.a.rate_hz', 'values': np.arange(1, 3)}], reports={'r': ids[1]})
answer([result.document['inputs']['a']['node_set'], result.document['sweep'][0]['values'], len(lab.neurons('S_sugar'))])`;
    expect(await answered(script, { interpreter: PANDAS })).toEqual([
      [{ root_id: [String(FIRST_ID), String(FIRST_ID + 1n)] }],
      [1, 2],
      12,
    ]);
  });

  it('runs the example', async () => {
    const onDefaultBrain = await startReadyService({ CONNECTOME_FILE: await connectomeFile('default') });
    try {
      const example = join(CLIENT_DIR, 'examples/looming_relay.py');
      const { stdout } = await python(
        `sys.argv = ['', ${JSON.stringify(onDefaultBrain.url)}]\nexec(open(${JSON.stringify(example)}).read())`,
        { interpreter: PANDAS },
      );
      expect(stdout).toMatch(/^Brain seconds: 9\b/);
      expect(stdout).toMatch(/silence\.type +PVLP122b +none/);
    } finally {
      await onDefaultBrain.stop();
    }
  });
});

/** Neurons of the small brain: sugar cells, whose input is under test, and one interneuron. */
const SUGAR = Array.from({ length: 12 }, (_, i) => FIRST_ID + BigInt(i));
const RUN_EXP = `
params = {**default_params, 't_run': 0.2, 'n_run': 3, 'r_poi': 100, 'r_poi2': 20}
exc, exc2, slnc = [${SUGAR.slice(0, 9).join(', ')}], [${SUGAR.slice(9).join(', ')}], [${SUGAR[0]}]
def run(**others):
  run_exp('sugar', exc, 'results', 'comp.csv', 'con.parquet', params=params, neu_slnc=slnc, neu_exc2=exc2, lab=lab, **others)
`;

interface Spike {
  readonly t: number;
  readonly trial: bigint;
  readonly flywire_id: bigint;
  readonly exp_name: string;
}

describeWith(['python'], 'run_exp', () => {
  const file = () => join(dir, 'results', 'sugar.parquet');
  const rootIds = (ids: readonly bigint[]) => ({ root_id: ids.map(String) });

  /** The same experiment, read as rates of every neuron. */
  async function ratesOfService(): Promise<Map<bigint, { mean: number; sd: number }>> {
    const document = {
      inputs: {
        neu_exc: { node_set: rootIds(SUGAR.slice(0, 9)), rate_hz: 100 },
        neu_exc2: { node_set: rootIds(SUGAR.slice(9)), rate_hz: 20 },
      },
      silence: [rootIds(SUGAR.slice(0, 1))],
      duration_ms: 200,
      trials: 3,
      reports: { all: { node_set: '@all', group_by: ['neuron'] } },
    };
    const answer = JSON.parse((await posted('format=json', document)).toString()) as {
      conditions: { reports: { all: { root_id: string; rate_hz: { mean: number; sd: number } }[] } }[];
    };
    const groups = answer.conditions[0]!.reports.all;
    expect(groups).toHaveLength(smallConnectome().neuronIds.length);
    return new Map(groups.map(({ root_id: id, rate_hz: rate }) => [BigInt(id), rate]));
  }

  it('writes the spikes of all neurons, whose rates over trials are those of the service', async () => {
    await python(`${RUN_EXP}\nrun()`);
    const bytes = readFileSync(file());
    const spikes = (await parquetReadObjects({ file: Uint8Array.from(bytes).buffer })) as unknown as Spike[];
    expect(Object.keys(spikes[0]!)).toEqual(['t', 'trial', 'flywire_id', 'exp_name']);
    expect(new Set(spikes.map(({ exp_name: name }) => name))).toEqual(new Set(['sugar']));
    const rates = await ratesOfService();
    expect(new Set(spikes.map(({ flywire_id: id }) => id))).toEqual(
      new Set([...rates].filter(([, { mean }]) => mean > 0).map(([id]) => id)),
    );
    // As get_rate of Shiu et al.: spikes of a trial by its duration in s, mean and ddof 0 over all trials.
    for (const [id, { mean, sd }] of rates) {
      const ofTrials = [0n, 1n, 2n].map(
        (trial) => spikes.filter((spike) => spike.flywire_id === id && spike.trial === trial).length / 0.2,
      );
      const meanOfTrials = ofTrials.reduce((sum, rate) => sum + rate, 0) / 3;
      const variance = ofTrials.reduce((sum, rate) => sum + (rate - meanOfTrials) ** 2, 0) / 3;
      expect(meanOfTrials).toBeCloseTo(mean, 3);
      expect(Math.sqrt(variance)).toBeCloseTo(sd, 3);
    }
  });

  it('keeps a file that is there unless it is told to replace it', async () => {
    await python(`${RUN_EXP}\nrun(force_overwrite=True)`);
    const bytes = readFileSync(file());
    writeFileSync(file(), 'kept');
    const { stdout } = await python(`${RUN_EXP}\nrun()`);
    expect(stdout).toContain('kept results/sugar.parquet');
    expect(readFileSync(file(), 'utf8')).toBe('kept');
    await python(`${RUN_EXP}\nrun(force_overwrite=True)`);
    expect(readFileSync(file()).equals(bytes)).toBe(true);
  });

  it.each([
    [`params = {'v_th': -0.044}`, 'v_th is a constant of the model, -0.045 in SI units, got -0.044'],
    [`params = {'eq_th': 'v > v_rst'}`, 'eq_th must be the equations of the model'],
    [`params = {'t_run': 0.0123456}`, 't_run must be a whole number of milliseconds, got 0.0123456'],
    [`params = {'rate': 3}`, 'params has no rate; it may have t_run, n_run, r_poi'],
    [`exc = [1, 2, 1]`, 'A neuron may be listed only once; repeated: 1'],
    [`exc = [1]`, 'LabError'],
  ])('refuses %s', async (change, message) => {
    await expect(python(`${RUN_EXP}\n${change}\nrun(force_overwrite=True)`)).rejects.toThrow(message);
  });

  it('takes the equations of the model, and leaves out ids that the model lacks unless told otherwise', async () => {
    const lacking = `${RUN_EXP}
params['eq_th'], params['v_th'] = 'v > v_th', -45e-3
exc.append(${FIRST_ID - 1n})
`;
    const { stderr } = await python(`${lacking}run(force_overwrite=True)`);
    expect(stderr).toContain(`The model lacks, and the experiment leaves out: ${FIRST_ID - 1n}`);
    await expect(python(`${lacking}run(force_overwrite=True, on_missing='error')`)).rejects.toThrow(
      `LabError: The model lacks "${FIRST_ID - 1n}"`,
    );
  });

  it('finds the service by its variable', async () => {
    await python(`
import os
os.environ['NEURAL_EXPERIMENT_URL'] = lab.url
run_exp('by_variable', [${SUGAR[0]}], 'results', params={'n_run': 1, 't_run': 0.05})`);
    expect(existsSync(join(dir, 'results/by_variable.parquet'))).toBe(true);
  });
});

describeWith(['pyarrow'], 'the file of run_exp in pandas with pyarrow', () => {
  it('has the columns, and gives the rates, that scripts of Shiu et al. expect', async () => {
    const script = `${RUN_EXP}
run(force_overwrite=True)
import pandas as pd
spikes = pd.read_parquet('results/sugar.parquet')
assert list(spikes.columns) == ['t', 'trial', 'flywire_id', 'exp_name']
assert [str(spikes[name].dtype) for name in ['t', 'trial', 'flywire_id']] == ['float64', 'int64', 'int64']
counts = spikes.groupby(['flywire_id', 'trial']).size().unstack(fill_value=0).reindex(columns=range(3), fill_value=0)
ids = [${SUGAR.join(', ')}]
frame = lab.run(inputs={'neu_exc': {'node_set': exc, 'rate_hz': 100}, 'neu_exc2': {'node_set': exc2, 'rate_hz': 20}},
  silence=slnc, duration_ms=200, trials=3, reports={'r': {'node_set': ids, 'group_by': ['neuron']}}).rates
expected = frame.set_index(frame['root_id'].astype('int64'))['rate_hz_mean']
rates = (counts / 0.2).mean(axis=1)
assert ((rates.reindex(expected.index, fill_value=0) - expected).abs() < 1e-3).all() and (expected > 0).any()
`;
    await python(script, { interpreter: PYARROW });
  });
});

import { execFile, type ExecFileException } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { answerWriter } from '../../src/experiments/formats/answer-writer.js';
import { FORMATS, type Format } from '../../src/experiments/formats/formats.js';
import type { AnsweredCondition } from '../../src/experiments/document/result.js';
import type { EventTable } from '../../src/experiments/kinds/result-rows.js';
import { encodeConnectome } from '../../src/engine/connectome/format.js';
import {
  conditions,
  connectome,
  eventsOf,
  experiment,
  inputTable,
  spikeTable,
} from '../support/answered-experiment.js';
import { connectomeFile } from '../support/connectomes.js';
import { describeWith, PANDAS, PYARROW } from '../support/requirements.js';
import { startReadyService, type Service } from '../support/service.js';
import { smallConnectome } from '../support/small-connectome.js';

const CLIENT_DIR = resolve('clients/python');
const FIRST_ID = 720575940600000000n;

let dir: string;
let service: Service;
/** Server of answers that a healthy service does not give: `listener`, at `url`. */
let server: Server;
let url: string;
let listener: RequestListener;

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
  server = createServer((request, response) => listener(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
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
def of_service(frame):
  """The rows and columns that the service's table has, too."""
  if 'unchanged' in frame: frame = frame[~frame.unchanged].reset_index(drop=True)
  added = [name for name in frame if name in ('unchanged', 'responding_any') or '_sem' in name or '_ci95_' in name]
  return frame.drop(columns=added)
`;
  return new Promise((done, fail) => {
    execFile(
      interpreter,
      ['-c', prelude + script],
      {
        cwd: dir,
        env: {
          PATH: process.env['PATH'],
          PYTHONPATH: CLIENT_DIR,
          PYTHONDONTWRITEBYTECODE: '1',
          XDG_STATE_HOME: dir,
        },
      },
      (error: ExecFileException | null, stdout, stderr) =>
        error === null ? done({ stdout, stderr }) : fail(new Error(stderr, { cause: error })),
    );
  });
}

async function answered(script: string, options: Parameters<typeof python>[1] = {}): Promise<unknown> {
  return JSON.parse((await python(script, options)).stdout);
}

/** The error that a script ends with, by default beside `listener`. */
const failing = (script: string, service = url) =>
  answered(
    `
try: ${script}
except LabError as error: answer([type(error).__name__, str(error), error.code, error.retry_after_s])`,
    { url: service },
  );

const DOCUMENT = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 150 } },
  reports: {
    cells: { node_set: 'C_proboscis', group_by: ['neuron', 'side'] },
    bins: { node_set: 'C_*', type: 'histogram', group_by: ['type'], start_ms: 0.3, bin_ms: 10.1 },
    raster: { node_set: 'C_*', type: 'spikes' },
    events: { node_set: 'S_sugar', type: 'inputs' },
    potentials: { node_set: 'C_*', type: 'membrane', dt_ms: 7 },
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

  it('goes on with a session, branches it, and replays it from its document', async () => {
    const script = `
with lab.session(
    inputs={"sugar": {"node_set": "S_sugar", "rate_hz": 0}},
    reports={"spikes": {"node_set": "@all", "type": "spikes"}},
) as fly:
    spikes = [fly.step(20, sugar=100)["spikes"], fly.step(100)["spikes"], fly.step(40, silence="S_sugar")["spikes"]]
    branch = fly.branch(silence=[])
    spikes.append(fly.step(50)["spikes"])
    branch.step(50)
    # As if the service had lost it.
    lab._open(lab._request("DELETE", fly._path, {})).read()
    spikes.append(fly.step(50, drive=True)["spikes"])
    document, other = fly.document, branch.document
    result = lab.run(**document)
    print(json.dumps([spikes, fly.t_ms, document, other["silence"], result.json["conditions"][0]["spikes"]["mean"], len(result.json["conditions"][0]["reports"]["spikes"]["trial"])]))
    branch.end()
    try: fly.step(0)
    except LabError as error: print(error.code)
try: fly.step(20)
except LabError as error: print(error.code)
`;
    const { stdout } = await python(script);
    const [printed, ...codes] = stdout.trim().split('\n');
    const [spikes, tMs, document, silence, mean, rows] = JSON.parse(printed!);
    expect(spikes.every((count: number) => count > 0)).toBe(true);
    const sum = spikes.reduce((a: number, b: number) => a + b, 0);
    expect({ tMs, mean, rows }).toEqual({ tMs: 260, mean: sum, rows: sum });
    expect(document.inputs.sugar.rate_hz).toBe(100);
    expect(document.silence).toEqual([{ node_set: 'S_sugar', start_ms: 120 }]);
    expect(silence).toEqual([{ node_set: 'S_sugar', start_ms: 120, end_ms: 160 }]);
    expect(codes).toEqual(['INVALID_PARAMETER', 'SESSION_ENDED']);
  });

  it('names the price of an experiment', async () => {
    expect(await answered(`${RUN}answer(lab.dry_run(**document))`)).toEqual(
      JSON.parse((await posted('format=json&dry_run=true')).toString()),
    );
  });

  it('writes out members that a document may leave out', async () => {
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

  it('reads a pattern of rates from a list, a CSV file or a DataFrame', async () => {
    const [long, ...others] = (await answered(`
from pathlib import Path
class Frame:  # what the client needs of a DataFrame
    columns = ['root_id', 'rate_hz', 'note']
    def to_dict(self, orient): return [{'root_id': ${FIRST_ID}, 'rate_hz': 41, 'note': 'x'}, {'root_id': ${FIRST_ID + 1n}, 'rate_hz': 5, 'note': ''}]
Path('ids.csv').write_text('rate_hz,root_id\\n41,${FIRST_ID}\\n5,${FIRST_ID + 1n}\\n', encoding='utf-8-sig')
Path('sets.csv').write_text('node_set,rate_hz\\n"{""root_id"": ""${FIRST_ID}""}",41\\n"{""root_id"": ""${FIRST_ID + 1n}""}",5\\n')
rows = [{'node_set': ${FIRST_ID}, 'rate_hz': 41}, {'node_set': {'root_id': '${FIRST_ID + 1n}'}, 'rate_hz': 5}]
answer([lab.dry_run(inputs={'odour': {'rates': rates, 'scale': 2}}, reports={'r': 'C_walk'})['experiment']['inputs']
  for rates in (rows, 'ids.csv', Path('sets.csv'), Frame())])`)) as object[];
    const row = (id: bigint, rate_hz: number) => ({ node_set: { root_id: String(id) }, rate_hz });
    expect(long).toMatchObject({ odour: { rates: [row(FIRST_ID, 41), row(FIRST_ID + 1n, 5)], scale: 2 } });
    expect(others).toEqual([long, long, long]);
    await expect(
      python(`
open('wrong.csv', 'w').write('node_set,rate_hz\\nC_walk,fast\\n')
lab.run(inputs={'odour': {'rates': 'wrong.csv'}})`),
    ).rejects.toThrow('wrong.csv, line 2: expected node_set or root_id, and a number in rate_hz');
  });

  it('shows warnings of the service', async () => {
    const { stderr } = await python(`
lab.run(inputs={'a': 'S_sugar'}, reports={'r': 'S_sugar'}, duration_ms=1, trials=1)`);
    expect(stderr).toMatch(
      /^<string>:\d+: UserWarning: The report r reads 12 of 12 neurons that an input stimulates/m,
    );
  });

  it('finds the service by its variable', async () => {
    const script = `
import os
first = Lab().url
os.environ['NEURAL_EXPERIMENT_URL'] = 'http://lab.example/'
answer([first, Lab().url])`;
    expect(await answered(script)).toEqual(['http://localhost:8080', 'http://lab.example']);
  });

  it('finds neurons and published sets', async () => {
    const neurons = await (await service.get('/api/v2/neurons?type=S_*&side=left')).json();
    const sets = await (await service.get('/api/v2/node-sets')).json();
    const script = `
sys.modules['pandas'] = None
answer([lab.neurons('S_*', side='left'), lab.node_sets()])`;
    expect(await answered(script)).toEqual([neurons.neurons, sets.node_sets]);
  });

  it('finds neurons of several types, and by their ids in the order of these', async () => {
    const ofTypes = await Promise.all(
      ['S_food', 'S_loom'].map(async (type) => (await service.get(`/api/v2/neurons?type=${type}`)).json()),
    );
    const food = ofTypes[0].neurons.map(({ root_id: id }: { root_id: string }) => id);
    const script = `
import sys
sys.modules['pandas'] = None
ids = [${food[3]}, '${food[1]}', ${food[3]}] + [${FIRST_ID - 5n}] * 2
many = list(range(${FIRST_ID - 500n}, ${FIRST_ID + 3n}))
answer([lab.neurons(['S_food', 'S_loom', 'S_f*d']), [row['root_id'] for row in lab.neurons(root_id=ids)],
  [row['root_id'] for row in lab.neurons(root_id=many)], lab.neurons([]), len(lab.neurons(root_id=int(ids[1]))),
  lab.neurons('S_food', root_id=[${FIRST_ID}])])`;
    const found = (await answered(script)) as unknown[];
    expect(found).toEqual([
      [...ofTypes[0].neurons, ...ofTypes[1].neurons],
      [food[3], food[1]],
      [0n, 1n, 2n].map((i) => String(FIRST_ID + i)),
      [],
      1,
      [],
    ]);
  });

  it('lists connections between selectors of any form, from all of their pages', async () => {
    const whole = await (await service.get('/api/v2/connections?target=C_stop')).json();
    const source = encodeURIComponent(JSON.stringify({ type: 'C_*', downstream_of: ['S_sugar'], hops: 2 }));
    const byNeuron = await (
      await service.get(`/api/v2/connections?source=${source}&group_by=neuron&limit=10000`)
    ).json();
    const script = `
import sys, neural_experiment_client
sys.modules['pandas'] = None
neural_experiment_client.client._ROWS_A_REQUEST = 7
selector = {'type': 'C_*', 'downstream_of': {'S_sugar'}, 'hops': 2}
answer([lab.connections(target='C_stop'), lab.connections(selector, group_by='neuron')])`;
    expect(byNeuron.count).toBeGreaterThan(20);
    expect(await answered(script)).toEqual([whole.connections, byNeuron.connections]);
    // A comma in a name separates nothing.
    const refused = (await failing(`lab.connections('S_sugar,S_loom')`, service.url)) as unknown[];
    expect(refused[1]).toContain('The model lacks "S_sugar,S_loom"');
  });

  it('writes a selector of neighbours out', async () => {
    const script = `
inputs = {'a': {'downstream_of': ${FIRST_ID}, 'hops': 1}, 'b': {'node_set': {'upstream_of': ['C_stop', ${FIRST_ID}]}}}
answer(lab.dry_run(inputs=inputs)['experiment']['inputs'])`;
    expect(await answered(script)).toMatchObject({
      a: { node_set: { downstream_of: { root_id: `${FIRST_ID}` }, hops: 1 } },
      b: { node_set: { upstream_of: ['C_stop', { root_id: [`${FIRST_ID}`] }] } },
    });
  });

  it('warns of names and ids that no neuron has', async () => {
    const script = `
import warnings
with warnings.catch_warnings(record=True) as caught:
  found = [len(lab.neurons(*names, **labels)) for names, labels in [
    ([['S_suger', 'S_loom', 'nothing*']], {}), (['S_loom'], {'side': 'center'}), ([], {'root_id': [5, ${FIRST_ID}]}),
    (['S_loom'], {'super_class': 'descending'})]]
answer([found, [[str(w.message), w.filename] for w in caught]])`;
    const [found, messages] = (await answered(script)) as [number[], string[][]];
    expect(found).toEqual([12, 0, 1, 0]);
    expect(messages).toEqual([
      [
        expect.stringMatching(
          /^The model has no neurons with: type S_suger \(near: S_sugar.*\); type nothing\*$/,
        ),
        '<string>',
      ],
      ['The model has no neurons with: side center', '<string>'],
      ['The model has no neurons with: root_id 5', '<string>'],
      ['The model has no neurons with: type S_loom, super_class descending', '<string>'],
    ]);
  });

  it('takes a list of neurons from all of its pages, and none of two models', async () => {
    const asked: string[] = [];
    let models = ['a'];
    listener = (request, response) => {
      const query = new URL(request.url!, url).searchParams;
      asked.push(request.url!);
      const from = Number(query.get('from'));
      const length = Math.min(Number(query.get('limit')), 25_000 - from);
      const neurons = Array.from({ length }, (_, i) => ({ root_id: String(from + i) }));
      const model = models[asked.length % models.length];
      response.end(JSON.stringify({ model, count: 25_000, neurons, suggestions: {} }));
    };
    const script = `
sys.modules['pandas'] = None
answer([int(row['root_id']) for row in lab.neurons()] == list(range(25_000)))`;
    expect(await answered(script, { url })).toBe(true);
    expect(asked).toEqual(
      [0, 1, 2].map((page) => `/api/v2/neurons?from=${page}0000&limit=10000`.replace('00000', '0')),
    );
    models = ['a', 'b'];
    expect(await failing('lab.neurons()')).toMatchObject({
      1: 'The service changed its model during the search; search again.',
    });
  });

  it('refuses ids that have lost digits, numbers that are none, and a folder that is not there', async () => {
    const calls = [
      `lab.run(inputs={'a': [7.2e17]})`,
      `lab.run(inputs={'a': {'root_id': [7.2e17]}})`,
      `lab.neurons(root_id=[7.2e17])`,
      `lab.run(inputs={'a': {'node_set': 'S_loom', 'rate_hz': float('nan')}})`,
      `lab.download('nowhere/a.csv')`,
    ];
    const script = `
messages = []
for call in ${JSON.stringify(calls)}:
  try: eval(call)
  except (ValueError, FileNotFoundError) as error: messages.append(str(error))
answer(messages)`;
    const lost =
      'Root ids must be integers or texts, got 7.2e+17: a float does not have all of their digits.';
    expect(await answered(script)).toEqual([
      lost,
      lost,
      lost,
      expect.stringMatching(/^A document cannot hold numbers that are infinite or NaN/),
      "path must name a file in a folder that exists, got 'nowhere/a.csv'",
    ]);
  });

  it('does not take an input or a report without neurons for a selector', async () => {
    const script = `
messages = []
for document in [{'inputs': {'a': {'rate_hz': 3}}}, {'reports': {'r': {'type': 'spikes', 'group_by': []}}}]:
  try: lab.run(**document)
  except LabError as error: messages.append([str(error), error.path])
answer(messages)`;
    expect(await answered(script)).toEqual([
      [expect.stringContaining('inputs.a must have the member node_set'), '/inputs/a/node_set'],
      [expect.stringContaining('reports.r must have the member node_set'), '/reports/r/node_set'],
    ]);
  });

  it('raises the error of the service for a mistake', async () => {
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

    it('submits a job again under the same key if no answer came', async () => {
      const keys: unknown[] = [];
      listener = ({ headers }, response) => {
        keys.push(headers['idempotency-key']);
        if (keys.length === 1) response.socket!.resetAndDestroy();
        else response.writeHead(202).end('{"jobID":"a job","created":"2026-01-01T00:00:00Z"}');
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

    it('raises the failure that ends an experiment under way', async () => {
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

    it('leaves no file behind if the connection breaks', async () => {
      listener = (_, response) => {
        response.writeHead(200, { 'Content-Length': '1000' });
        response.write('PAR1', () => response.destroy());
      };
      expect(await failing(`lab.download('broken.parquet')`)).toMatchObject({ 0: 'LabConnectionError' });
      expect(readdirSync(dir).filter((name) => name.includes('broken'))).toEqual([]);
    });

    it('gives up if nothing answers, or not in time', async () => {
      listener = () => undefined;
      expect(await failing(`Lab(lab.url, timeout_s=0.2).run()`)).toEqual([
        'LabConnectionError',
        `${url} did not answer within 0.2 s (timeout_s of Lab).`,
        null,
        null,
      ]);
      expect(await failing(`Lab('http://127.0.0.1:1').run()`)).toMatchObject({
        0: 'LabConnectionError',
        1: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 cannot be reached: .*refused/) as string,
      });
    });
  });
});

/** Beginnings of the pages of an answer that one page cannot hold; one condition is divided between two of them. */
const BORDERS = ['0.0', '0.2', '1.1'] as const;
const PAGED = { ...experiment, trials: 3 };
/** Two conditions, with rows in three trials. */
const PAGED_CONDITIONS = [0, 1].map((index): AnsweredCondition => {
  const { reports, ...condition } = conditions[0]!;
  const raster = spikeTable(
    [0, 1, 2].flatMap((trial) => [trial, trial + 3].map((step) => [trial, step, index])),
  );
  const [{ column }] = inputTable([], []).columns as [EventTable['columns'][number]];
  const values = Uint8Array.from(raster.trials, (trial) => trial % 2);
  const events = { ...raster, table: 'inputs' as const, columns: [{ column, values }] };
  return { ...condition, index, reports: { ...reports, raster, events } };
});

/** Conditions with the rows from one border to the next. */
function conditionsFrom(page: string, end: string | undefined): AnsweredCondition[] {
  const place = (border: string) => border.split('.').map(Number) as [number, number];
  const [first, firstTrial] = place(page);
  const [last, endTrial] = place(end ?? '2.0');
  const rows = (table: EventTable, index: number): EventTable => {
    const wanted = (_: number, row: number) =>
      (index > first || table.trials[row]! >= firstTrial) && (index < last || table.trials[row]! < endTrial);
    return {
      ...table,
      trials: table.trials.filter(wanted),
      steps: table.steps.filter(wanted),
      neurons: table.neurons.filter(wanted),
      columns: table.columns.map((own) => ({ ...own, values: own.values.filter(wanted) })),
    };
  };
  return PAGED_CONDITIONS.filter(
    ({ index }) => index >= first && (index < last || (index === last && endTrial > 0)),
  ).map(({ reports, ...condition }) => ({
    ...condition,
    reports: Object.fromEntries(
      Object.entries(reports).map(([name, report]) => [
        name,
        'table' in report ? rows(report, condition.index) : report,
      ]),
    ),
  }));
}

async function pagedBytes(
  format: Exclude<Format, 'json'>,
  results: readonly AnsweredCondition[],
  totals = {},
): Promise<Buffer> {
  const table = format === 'ndjson' ? {} : { table: 'spikes' as const };
  const writer = await answerWriter(format, { connectome, experiment: PAGED, ...table });
  const events = eventsOf(PAGED, results).map((event) =>
    event.kind === 'totals' ? { ...event, totals: { ...event.totals, ...totals } } : event,
  );
  return Buffer.concat(events.flatMap((event) => [...writer.write(event)]));
}

/** The lines or the object, in which each page has its costs. */
async function wholeAnswer(format: 'ndjson' | 'json'): Promise<string> {
  const cost = { brain_seconds: 0.24, input_events: 3, synaptic_events: 36 };
  const text = (await pagedBytes('ndjson', PAGED_CONDITIONS, { cost })).toString();
  if (format === 'ndjson') return text;
  const [head, ...others] = text.trimEnd().split('\n');
  const totals = others.pop()!;
  return `${head!.slice(0, -1)},"conditions":[${others.join(',')}],${totals.slice(1)}`;
}

/**
 * Answers with pages.
 * @param breaksAt a page of which only a half arrives
 * @returns the requests, to be filled
 */
function servePages({
  breaksAt,
  isChunked = true,
}: { breaksAt?: string; isChunked?: boolean } = {}): string[] {
  const requests: string[] = [];
  listener = (request, response) => {
    const query = new URL(request.url!, url).searchParams;
    const format = query.get('format') as Exclude<Format, 'json'>;
    const page = query.get('page') ?? BORDERS[0];
    const next = BORDERS[BORDERS.indexOf(page as '0.0') + 1];
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${body}`);
      void answer();
    });
    const answer = async () => {
      const results = conditionsFrom(page, next);
      let bytes = await pagedBytes(
        format,
        results,
        next !== undefined && format === 'ndjson' ? { next_page: next } : {},
      );
      response.setHeader('content-type', FORMATS[format].mediaType);
      if (format === 'ndjson') {
        const left = 2 - Number(page[0]);
        const progress = { conditions_done: results.length, conditions: left };
        const trials = { trials_done: 3 * results.length, trials: 3 * left };
        const lines = bytes.toString().split('\n');
        lines.splice(-2, 0, JSON.stringify({ progress: { ...progress, ...trials } }));
        bytes = Buffer.from(lines.join('\n'));
      } else if (next !== undefined) {
        query.set('page', next);
        response.setHeader('link', `<https://elsewhere.example/>; rel="help", <?${query}>; rel="next"`);
      }
      if (!isChunked) response.setHeader('content-length', bytes.length);
      if (page === breaksAt) response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
      else response.end(bytes);
    };
  };
  return requests;
}

const partsOfFiles = () => readdirSync(dir).filter((name) => /paged|part/.test(name));

describeWith(['python'], 'pages of an answer', () => {
  afterEach(() => {
    for (const name of partsOfFiles()) rmSync(join(dir, name));
  });

  it('gives one result, and tells how far all of it is', async () => {
    const requests = servePages();
    const script = `
seen = []
result = lab.run(progress=seen.append, inputs={'a': 'LC4'})
job = lab.job('a job').results()
answer([result.json, job.json, [[p.conditions_done, p.conditions, p.trials_done, p.trials] for p in seen]])`;
    const [result, job, progress] = (await answered(script, { url })) as [object, object, number[][]];
    expect(JSON.stringify(result)).toBe(await wholeAnswer('json'));
    expect(job).toEqual(result);
    expect(progress).toEqual([
      [1, 2, 3, 6],
      [2, 2, 6, 6],
      [2, 2, 6, 6],
    ]);
    const document = '{"inputs": {"a": {"node_set": "LC4"}}}';
    const pages = ['', '&page=0.2', '&page=1.1'];
    expect(requests).toEqual([
      ...pages.map((page) => `POST /api/v2/experiments?format=ndjson${page} ${document}`),
      ...pages.map((page) => `GET /api/v2/experiments/a%20job/results?format=ndjson${page} `),
    ]);
  });

  it('saves one file', async () => {
    const requests = servePages();
    await python(
      `
for name in ['paged.json', 'paged.ndjson', 'paged.csv']:
  table = 'spikes' if name.endswith('csv') else None
  lab.download(name, table=table, trials=3)
  lab.job('job').download('job.' + name, table=table)`,
      { url },
    );
    const expected = {
      json: await wholeAnswer('json'),
      ndjson: await wholeAnswer('ndjson'),
      csv: (await pagedBytes('csv', PAGED_CONDITIONS)).toString(),
    };
    for (const [format, text] of Object.entries(expected)) {
      for (const name of [`paged.${format}`, `job.paged.${format}`]) {
        expect([name, readFileSync(join(dir, name), 'utf8')]).toEqual([name, text]);
      }
    }
    expect(requests.filter((request) => request.includes('csv'))).toEqual([
      ...['', '&page=0.2', '&page=1.1'].map(
        (page) => `POST /api/v2/experiments?table=spikes&format=csv${page} {"trials": 3}`,
      ),
      ...['', '&page=0.2', '&page=1.1'].map(
        (page) => `GET /api/v2/experiments/job/results?table=spikes&format=csv${page} `,
      ),
    ]);
  });

  it.each(['json', 'ndjson', 'csv'])('leaves no %s behind if a later page breaks off', async (format) => {
    for (const isChunked of [true, false]) {
      servePages({ breaksAt: '0.2', isChunked });
      const name = `paged.${format}`;
      writeFileSync(join(dir, name), 'of before');
      expect(await failing(`lab.download('${name}', table='spikes')`)).toMatchObject({
        0: 'LabConnectionError',
      });
      expect(partsOfFiles()).toEqual([name]);
      expect(readFileSync(join(dir, name), 'utf8')).toBe('of before');
    }
    expect(await failing('lab.run()')).toMatchObject({ 0: 'LabConnectionError' });
  });

  it('takes no pages of another model', async () => {
    let asked = 0;
    listener = (_, response) => {
      response.end(`{"id":"${asked++}","experiment":{"trials":1}}\n{"cost":{},"next_page":"0.1"}\n`);
    };
    const [, message] = (await failing('lab.run()')) as string[];
    expect(message).toBe('The service changed its model between two parts of the answer; ask again.');
  });

  it.each(['arrow', 'parquet'])('says at once that one file of several %s needs pyarrow', async (format) => {
    const requests = servePages();
    const script = `
sys.modules['pyarrow'] = None
try: lab.download('paged.${format}', table='spikes')
except ImportError as error: answer(str(error))`;
    expect(await answered(script, { url })).toContain(
      `To make one .${format} of its pages, pyarrow is needed: pip install pyarrow.`,
    );
    expect(requests).toHaveLength(1);
    expect(partsOfFiles()).toEqual([]);
  });

  it('leaves rows out only if it is told to, and says so', async () => {
    const asked: string[] = [];
    const lines = (await wholeAnswer('ndjson')).replace(
      '"warnings":[]',
      '"warnings":[{"code":"SPIKES_TRUNCATED","message":"Rows are missing."}]',
    );
    listener = (request, response) => {
      asked.push(new URL(request.url!, url).searchParams.get('truncate')!);
      if (!request.url!.includes('ndjson')) response.setHeader('Spikes-Truncated', 'true');
      response.end(request.url!.includes('ndjson') ? lines : 't\r\n');
    };
    const { stdout } = await python(
      `
import warnings
with warnings.catch_warnings(record=True) as caught:
  warnings.simplefilter('always')
  lab.run(truncate=True)
  lab.job('job').results(truncate=True)
  for name in ['paged.csv', 'paged.arrow', 'paged.ndjson', 'paged.json']:
    lab.download(name, truncate=True)
    lab.job('job').download(name, truncate=True)
answer([str(w.message) for w in caught])
answer([w.filename for w in caught])`,
      { url },
    );
    const [messages, places] = stdout.trim().split('\n');
    const ofFiles = ['csv', 'arrow', 'ndjson', 'json'].flatMap((format) =>
      Array<string>(2).fill(
        `paged.${format} lacks rows beyond the limit of the service, as truncate=True allowed.`,
      ),
    );
    expect(JSON.parse(messages!)).toEqual(['Rows are missing.', 'Rows are missing.', ...ofFiles]);
    expect(new Set(JSON.parse(places!) as string[])).toEqual(new Set(['<string>']));
    expect(asked).toEqual(Array(10).fill('true'));
  });
});

describeWith(['pyarrow'], 'pages of an answer with pyarrow', () => {
  it.each(['arrow', 'parquet'] as const)(
    'become one file of %s, with the metadata of the experiment',
    async (format) => {
      const requests = servePages();
      const name = `paged.${format}`;
      await python(`lab.download('${name}', table='spikes')`, { interpreter: PYARROW, url });
      const contents = format === 'arrow' ? arrowContents : parquetContents;
      const { rows, metadata } = await contents(readFileSync(join(dir, name)));
      const whole = await contents(await pagedBytes(format, PAGED_CONDITIONS));
      expect(rows).toHaveLength(12);
      expect(rows).toEqual(whole.rows);
      expect(metadata).toMatchObject(whole.metadata);
      expect(whole.metadata['id']).toBe('0123456789abcdef0123456789abcdef');
      expect(requests).toHaveLength(3);
      servePages({ breaksAt: '0.2' });
      await expect(
        python(`lab.download('broken.${name}', table='spikes')`, { interpreter: PYARROW, url }),
      ).rejects.toThrow('LabConnectionError');
      expect(partsOfFiles()).toEqual([name]);
      rmSync(join(dir, name));
    },
  );

  it('are refused if the experiment of a later one differs', async () => {
    let asked = 0;
    listener = (_, response) => {
      void answerWriter('parquet', { connectome, experiment, table: 'spikes' }).then((writer) => {
        const document = { ...experiment, seed: asked++ };
        response.setHeader('link', '<?page=0.1>; rel="next"');
        response.end(Buffer.concat(eventsOf(document, []).flatMap((event) => [...writer.write(event)])));
      });
    };
    await expect(
      python(`lab.download('paged.parquet', table='spikes')`, { interpreter: PYARROW, url }),
    ).rejects.toThrow('The service changed its model between two pages; ask again.');
    expect([asked, partsOfFiles()]).toEqual([2, []]);
  });
});

interface Contents {
  readonly rows: object[];
  readonly metadata: Record<string, unknown>;
}

function arrowContents(bytes: Buffer): Contents {
  const table = tableFromIPC(bytes);
  const rows = table.toArray().map((row: { toJSON(): object }) => row.toJSON());
  return { rows, metadata: Object.fromEntries(table.schema.metadata) };
}

async function parquetContents(bytes: Buffer): Promise<Contents> {
  const file = Uint8Array.from(bytes).buffer;
  const pairs = parquetMetadata(file).key_value_metadata!.map(({ key, value }) => [key, value]);
  return { rows: await parquetReadObjects({ file }), metadata: Object.fromEntries(pairs) };
}

describeWith(['pandas'], 'the Python client with pandas', () => {
  it('has the tables of the service as DataFrames', async () => {
    const script = `${RUN}
import pandas as pd
for table, columns in {'rates': None, 'histogram': None, 'spikes': ['condition', 'trial', 't_ms', 'root_id'],
                       'inputs': ['condition', 'trial', 't_ms', 'input', 'root_id'],
                       'membrane': ['condition', 'trial', 't_ms', 'root_id', 'v_mv']}.items():
  path = lab.download(table + '.csv', table=table, **document)
  expected = pd.read_csv(path, dtype={'root_id': str}, keep_default_na=False)
  frame = getattr(result, table)
  assert len(frame) > 0, table
  if columns is None:
    frame = of_service(frame)
    assert list(frame.columns) == list(expected.columns), (table, frame.columns, expected.columns)
  else: frame, expected = frame[columns], expected[columns]
  pd.testing.assert_frame_equal(frame, expected, check_dtype=False)
`;
    await python(script, { interpreter: PANDAS });
  });

  it('has results of controls as DataFrames', async () => {
    const script = `${RUN}
import pandas as pd
controlled = {**document, 'reports': {'cells': document['reports']['cells']}, 'controls': {'shuffle': 'weights', 'count': 3}}
result = lab.run(**controlled)
for table in ('rates', 'controls'):
  path = lab.download(table + '.csv', table=table, **controlled)
  expected = pd.read_csv(path, dtype={'root_id': str}, keep_default_na=False)
  pd.testing.assert_frame_equal(of_service(getattr(result, table)), expected, check_dtype=False)
answer([len(result.controls) / len(of_service(result.rates)), 'control_hz_sd' in result.rates])
`;
    expect(await answered(script, { interpreter: PANDAS })).toEqual([3, true]);
  });

  it('has no rates if a trial was stopped', async () => {
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
        responding_any: null,
        rate_hz_sem: null,
        rate_hz_ci95_low: null,
        rate_hz_ci95_high: null,
        unchanged: false,
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
    expect(stderr).toContain('Rows beyond the limit of the service are left out, as truncate=True allowed.');
  });

  it('takes found neurons as selectors, and sets in one order', async () => {
    const script = `
loom = lab.neurons('S_loom', side='left')
document = lab.dry_run(inputs={'a': loom, 'b': [loom.root_id[:2], 'S_sugar']}, silence={'S_song', 'S_food', 'S_bitter'},
  reports={'r': 'C_*'})['experiment']
with_none = lab.neurons('nobody')
answer([document['inputs']['a']['node_set'], document['inputs']['b']['node_set'], document['silence'],
  loom.root_id.tolist(), list(with_none.columns) == list(loom.columns), len(with_none),
  lab.node_sets().set_index('name').loc['@stimulus/loom', 'neurons'].item()])`;
    const [a, b, silence, ids, ...others] = (await answered(script, { interpreter: PANDAS })) as unknown[];
    expect(ids).toHaveLength(6);
    expect(a).toEqual({ root_id: ids });
    expect(b).toEqual([{ root_id: (ids as string[]).slice(0, 2) }, 'S_sugar']);
    expect(silence).toEqual(['S_bitter', 'S_food', 'S_song']);
    expect(others).toEqual([true, 0, 12]);
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
      // More than one page of the search, and all of the brain.
      const onService = async (query: string) =>
        ((await (await onDefaultBrain.get(`/api/v2/neurons?limit=0${query}`)).json()) as { count: number })
          .count;
      const counts = [await onService('&type=KCg-m'), await onService('')];
      expect(counts[0]).toBeGreaterThan(1000);
      const script = `answer([len(lab.neurons('KCg-m')), len(set(lab.neurons()['root_id']))])`;
      expect(await answered(script, { interpreter: PANDAS, url: onDefaultBrain.url })).toEqual(counts);
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

  /** Rates of every neuron in the experiment of RUN_EXP, as the service computes them. */
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
    // Formula of get_rate of Shiu et al.: spikes of a trial by its duration in s, mean and ddof 0 over all trials.
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

  it('keeps the file of an equal call, and replaces it if it is told to', async () => {
    await python(`${RUN_EXP}\nrun(force_overwrite=True)`);
    const { mtimeMs } = statSync(file());
    const { stdout } = await python(`${RUN_EXP}\nrun()`);
    expect(stdout).toContain('kept results/sugar.parquet, which an equal call made');
    expect(statSync(file()).mtimeMs).toBe(mtimeMs);
    const bytes = readFileSync(file());
    writeFileSync(file(), 'of another program');
    await python(`${RUN_EXP}\nrun(force_overwrite=True)`);
    expect(readFileSync(file()).equals(bytes)).toBe(true);
  });

  it('takes no other file of the same name for its result', async () => {
    const { stdout } = await python(`${RUN_EXP}
run(force_overwrite=True)
def refusal():
  try: run()
  except FileExistsError as error: return str(error)
refusals = []
params['r_poi'] = 101
refusals.append(refusal())
params['r_poi'], params['n_run'], slnc = 100, 4, []
refusals.append(refusal())
for content in [b'', b'of another program', b'PAR1' * 9]:
  open('results/sugar.parquet', 'wb').write(content)
  refusals.append(refusal())
answer(refusals)`);
    const advice =
      '. Choose another exp_name or path_res, move the file away, or replace it with force_overwrite=True.';
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual([
      `results/sugar.parquet was made by another call, with other inputs${advice}`,
      `results/sugar.parquet was made by another call, with other silence, trials${advice}`,
      ...Array<string>(3).fill(`results/sugar.parquet was not made by run_exp of this client${advice}`),
    ]);
  });

  it('takes no file that lacks spikes for its result', async () => {
    const spikes = await answerWriter('parquet', { connectome, experiment, table: 'spikes' });
    writeFileSync(
      join(dir, 'cut.parquet'),
      Buffer.concat(eventsOf(experiment, conditions).flatMap((event) => [...spikes.write(event)])),
    );
    const { id, model } = (eventsOf(experiment, [])[0] as { head: { id: string; model: string } }).head;
    listener = (_, response) => response.end(JSON.stringify({ id, model, experiment, resolved: {} }));
    const script = `run_exp('cut', [1], '.', lab=lab)`;
    await expect(python(script, { url })).rejects.toThrow(
      'FileExistsError: cut.parquet lacks spikes beyond a limit of the service.',
    );
  });

  it('leaves out a set that the model lacks as a whole, unless told otherwise', async () => {
    const lacking = `${RUN_EXP}\nexc2, slnc = [1, 2], [3]\n`;
    const { stderr } = await python(`${lacking}run(force_overwrite=True)`);
    expect(stderr).toContain('leaves out: 1, 2, 3; that is all of neu_exc2 and neu_slnc. Ids of another');
    const without = await python(
      `${RUN_EXP}\nexc2, slnc = [], []\nparams['n_run'] = 3\nrun(on_missing='skip')`,
    );
    expect(without.stdout).toContain('kept results/sugar.parquet');
    await expect(python(`${lacking}run(force_overwrite=True, on_missing='error')`)).rejects.toThrow(
      'LabError: The model lacks "1", "2", "3"',
    );
    const alone = await python(
      `run_exp('alone', [1], 'results', params={'n_run': 1, 't_run': 0.01}, lab=lab)`,
    );
    expect(alone.stderr).toContain('leaves out: 1; that is all of neu_exc, so no neuron is stimulated');
    expect(existsSync(join(dir, 'results/alone.parquet'))).toBe(true);
  });

  it.each([
    [`params = {'v_rst': -0.044}`, 'v_rst is a constant of the model, -0.052 in SI units, got -0.044'],
    [`params = {'eq_th': 'v > v_rst'}`, 'eq_th must be the equations of the model'],
    [`params = {'t_run': 0.0123456}`, 't_run must be a whole number of milliseconds, got 0.0123456'],
    [`params = {'rate': 3}`, 'params has no rate; it may have t_run, n_run, r_poi'],
    [`exc = [1, 2, 1]`, 'A neuron may be listed only once; repeated: 1'],
    [`params = {'n_run': 2.5}`, 'n_run must be a whole number of trials, got 2.5'],
  ])('refuses %s', async (change, message) => {
    await expect(python(`${RUN_EXP}\n${change}\nrun(force_overwrite=True)`)).rejects.toThrow(message);
  });

  it('says that published ids need a measured brain, and how to get it', async () => {
    listener = (_, response) => response.end('{"wiring":"synthetic","name":"a made-up brain"}');
    await expect(python("run_exp('e', [1], 'results', lab=lab)", { url })).rejects.toThrow(
      /Published root ids need a measured brain, and http.* serves a made-up brain: .*npm run up/,
    );
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

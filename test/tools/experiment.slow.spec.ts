/**
 * Open experiments from the command line, on the small brain, beside a real service. Commands run in this process but
 * for those that signals end and one that reads standard input.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { runBuilt, startBuilt } from '../support/commands.js';
import {
  complete,
  directory,
  DOCUMENT,
  experiment,
  file,
  inDirectory,
  screenFile,
} from '../support/experiment-command.js';
import { startGateway } from '../support/gateway.js';
import { startReadyService, type Service } from '../support/service.js';
import { until } from '../support/service-process.js';

/** Computes experiments that are small enough for one request. */
let service: Service;
/** Makes jobs of the same. */
let small: Service;
beforeAll(async () => {
  service = await startReadyService({ WORKERS: '2' });
  small = await startReadyService({ WORKERS: '2', EXPERIMENT_BRAIN_SECONDS: '1' });
});
afterAll(async () => {
  await service.stop();
  await small.stop();
});

const widest = (text: string) => Math.max(...text.split('\n').map((line) => [...line].length));

describe('npm run experiment -- DOCUMENT.json beside a service', () => {
  const answered = async (query: string) => {
    const answer = await service.post(DOCUMENT, `/api/v2/experiments${query}`);
    return Buffer.from(await answer.arrayBuffer());
  };

  it('prints the bytes of the HTTP answer, computed here or there', async () => {
    const http = (await answered('')).toString();
    expect((await experiment([file, '--json', '--workers', '2'])).stdout).toBe(http);
    expect((await experiment([file, '--json', '--url', `${service.url}/`])).stdout).toBe(http);
  });

  it('goes on at a condition as the service does', async () => {
    const http = (await answered('?from=2')).toString();
    const given = { input: JSON.stringify(DOCUMENT) };
    const piped = await runBuilt('experiment', complete(['-', '--from', '2', '--json']), given);
    expect(piped).toMatchObject({ status: 0, stdout: http });
    expect((await experiment([file, '--from', '2', '--json', '--url', service.url])).stdout).toBe(http);
  });

  it('writes the files of the service, computed here or there', async () => {
    const csv = await answered('?format=csv');
    const printed: string[] = [];
    const plots: string[] = [];
    const htmls: string[] = [];
    for (const [at, [format, further]] of (
      [
        ['parquet', []],
        ['csv', []],
        ['arrow', ['--url', service.url]],
      ] as const
    ).entries()) {
      const paths = ['csv', format, 'svg', 'html'].map((ending, file) =>
        inDirectory(`files-${at}-${file}.${ending}`),
      );
      const [csvFile, spikesFile, plotFile, htmlFile] = paths as [string, string, string, string];
      const files = ['--csv', csvFile, '--spikes', spikesFile, '--plot', plotFile, '--html', htmlFile];
      const { status, stdout, stderr } = await experiment([file, ...files, ...further]);
      expect(status).toBe(0);
      expect(readFileSync(csvFile).equals(csv)).toBe(true);
      const spikes = await answered(`?format=${format}&table=spikes`);
      expect(readFileSync(spikesFile).equals(spikes)).toBe(true);
      expect(stderr).toContain(`Wrote the spikes to ${spikesFile}.\n`);
      printed.push(stdout);
      plots.push(readFileSync(plotFile, 'utf8'));
      htmls.push(readFileSync(htmlFile, 'utf8'));
    }
    expect(new Set(htmls).size).toBe(1);
    expect(htmls[0]).toMatch(
      /^<!doctype html>\n[^]*<h1>Sugar, twice<[^]*neural-experiment-service \d[^]*<\/html>\n$/,
    );
    expect(new Set(printed).size).toBe(1);
    expect(new Set(plots).size).toBe(1);
  });

  it('writes membrane potentials as the service does, computed here or there', async () => {
    const expected = await answered('?format=csv&table=membrane');
    expect(expected.toString()).toMatch(/^condition,trial,t_ms,root_id,type,side,v_mv\r\n0,0,20,/);
    for (const further of [[], ['--url', service.url]]) {
      const path = inDirectory(`membrane-${further.length}.csv`);
      const { status } = await experiment([file, '--csv', path, '--table', 'membrane', ...further]);
      expect(status).toBe(0);
      expect(readFileSync(path).equals(expected)).toBe(true);
    }
  });

  it('describes the experiment beforehand', async () => {
    const http = (await answered('?dry_run=true')).toString();
    expect((await experiment([file, '--dry-run', '--json'])).stdout).toBe(http);
    const here = await experiment([file, '--dry-run']);
    expect((await experiment([file, '--dry-run', '--url', service.url])).stdout).toBe(here.stdout);
    expect(here.stdout).toContain('inputs.sugar         12 neurons; left 6, right 6; S_sugar 12');
    expect(here.stdout).toContain('At most 0.9 brain seconds');
    const { id, model } = JSON.parse(http) as { id: string; model: string };
    expect(here.stdout.replaceAll(/\s+/g, ' ')).toContain(
      `To preregister We will run experiment ${id} on model ${model}, and read walk, bins, spikes, events, potentials from it. `,
    );
    // Four neurons, four samples, three trials of three conditions.
    expect(here.stdout.replaceAll(/\s+/g, ' ')).toContain('144 rows of membrane potentials');
    expect(here.stdout).toContain('2: inputs.sugar.rate_hz=200');
    expect(widest(here.stdout)).toBeLessThanOrEqual(80);
  });
});

describe('npm run experiment -- DOCUMENT.json --url with more rows of spikes than an answer may have', () => {
  // A trial has up to some 1,000 rows: the first page ends within a condition.
  const LIMITS = { jsonRows: 1500, jobsPerClient: 1 };
  let pages: Service;
  let pagesOfJobs: Service;
  beforeAll(async () => {
    pages = await startReadyService({ WORKERS: '2' }, { limits: LIMITS });
    // 3 conditions of 5 trials of 0.1 s are too much for one request.
    pagesOfJobs = await startReadyService(
      { WORKERS: '2', EXPERIMENT_BRAIN_SECONDS: '1' },
      { limits: LIMITS },
    );
  });
  afterAll(async () => {
    await pages.stop();
    await pagesOfJobs.stop();
  });

  it('writes the files and the answer of this machine, at once or by a job', async () => {
    const run = async (side: string, ...further: string[]) => {
      const files = [inDirectory(`${side}-pages.csv`), inDirectory(`${side}-pages.arrow`)];
      const args = [
        '--csv',
        files[0]!,
        '--table',
        'inputs',
        '--spikes',
        files[1]!,
        '--trials',
        '5',
        '--json',
      ];
      const finished = await experiment([file, ...args, ...further]);
      expect(finished.status).toBe(0);
      return { ...finished, written: files.map((name) => readFileSync(name).toString('base64')) };
    };
    const here = await run('here');
    for (const there of [pages, pagesOfJobs]) {
      const { stdout, stderr, written } = await run('there', '--url', there.url);
      expect(stdout).toBe(here.stdout);
      expect(stderr.includes(' computes it as ')).toBe(there === pagesOfJobs);
      expect(written).toEqual(here.written);
    }
    const answer = await pages.post(DOCUMENT, '/api/v2/experiments');
    expect((await answer.json()).next_page).toMatch(/^\d\.[12]$/);
  });

  it('has the screen of all pages', async () => {
    const screen = ['--stimulate', 'S_sugar@200', '--report', 'C_walk', '--trials', '5', '--json'];
    const args = [...screen, '--sweep', 'silence=S_*/type', '--controls', 'matched:3'];
    const run = (...further: string[]) =>
      experiment([...args, '--spikes', inDirectory('screen.csv'), '--duration', '100', ...further]);
    const here = await run();
    expect((JSON.parse(here.stdout) as { screen: { tests: number } }).screen.tests).toBeGreaterThan(0);
    for (const there of [pages, pagesOfJobs])
      expect((await run('--url', there.url)).stdout).toBe(here.stdout);
  });

  it('fails without a file if a page cannot be had', async () => {
    const spikes = inDirectory('refused.csv');
    // Without sugar a trial fits, with it the second condition has one that does not.
    const args = ['--duration', '400', '--spikes', spikes, '--url', pages.url];
    const failed = await experiment([file, ...args]);
    expect(failed).toMatchObject({ status: 2, stdout: '' });
    expect(failed.stderr).toMatch(/Trial 0 of condition [12] has \d+ rows of events; at most 1500 /);
    expect(readdirSync(directory).filter((name) => name.startsWith('refused'))).toEqual([]);
  });

  it('begins one job if the answer to its request is lost', async () => {
    const gateway = await startGateway(pagesOfJobs);
    try {
      let posted = 0;
      // The first request is refused as too large, the second begins the job, the third is its repetition.
      gateway.wayOf = (path) =>
        /\/experiments\?/.test(path) && ++posted === 2 ? { losesAnswerOf: pagesOfJobs } : pagesOfJobs;
      // A second job would be refused: the first one would not be done.
      const long = ['--stimulate', 'S_sugar', '--report', 'C_walk', '--duration', '500', '--trials', '20'];
      const followed = await experiment([...long, '--sweep', 'seed=1:8:1', '--url', gateway.url]);
      expect([followed.status, posted]).toEqual([0, 3]);
    } finally {
      await gateway.stop();
    }
  });
});

describe('npm run experiment -- DOCUMENT.json --url with an experiment that is too large for one request', () => {
  const ENDLESS = [
    '--stimulate',
    'S_sugar@200',
    '--duration',
    '1000',
    '--trials',
    '100',
    '--report',
    'C_walk',
  ];
  /** 3 conditions of 5 trials of 0.1 s. */
  const LONGER = [file, '--trials', '5'];
  const AS_JOB = /^The experiment is too large for one request; the service computes it as (http:\S+)$/m;
  const stateOf = async (stderr: string) => {
    const answer = await fetch(AS_JOB.exec(stderr)![1]!);
    return (await answer.json()) as { status: string; conditions: number; conditions_done: number };
  };

  it.each([
    ['every type of report', file],
    ['a lesion screen', screenFile],
  ])('lets a job compute it, and gives the bytes of the immediate answer: %s', async (_, path) => {
    const run = async (side: string, url: string, ...further: string[]) => {
      const names = [`${side}.csv`, `${side}.svg`, `${side}.parquet`].map((name) =>
        inDirectory(`job-${name}`),
      );
      const [csv, plot, spikes] = names as [string, string, string];
      const files = ['--csv', csv, '--plot', plot, ...(path === file ? ['--spikes', spikes] : [])];
      const finished = await experiment([path, '--trials', '5', ...files, '--url', url, ...further]);
      expect(finished).toMatchObject({ status: 0 });
      const written = names.filter((name) => existsSync(name)).map((name) => readFileSync(name));
      for (const name of names) rmSync(name, { force: true });
      return { ...finished, written };
    };
    const conditions: number[] = [];
    for (const further of [[], ['--from', '1', '--json']]) {
      const immediate = await run('immediate', service.url, ...further);
      const job = await run('job', small.url, ...further);
      expect(immediate.stderr).not.toMatch(AS_JOB);
      expect(job.stderr.match(new RegExp(AS_JOB, 'gm'))).toHaveLength(1);
      expect(job.stdout).toBe(immediate.stdout);
      expect(job.written.length).toBe(path === file ? 3 : 2);
      expect(job.written.map((bytes) => bytes.toString('base64'))).toEqual(
        immediate.written.map((bytes) => bytes.toString('base64')),
      );
      const [ofJob, ofRequest] = [job, immediate].map(({ stderr }) => /Ran \d+ trials/.exec(stderr)![0]);
      expect(ofJob).toMatch(/Ran [1-9]/);
      expect(ofRequest).toBe(ofJob);
      const state = await stateOf(job.stderr);
      expect(state).toMatchObject({ status: 'successful', conditions_done: state.conditions });
      conditions.push(state.conditions);
    }
    // A screen of lesions needs the first condition, its baseline; the conditions of the sweep do not.
    const [all, later] = conditions as [number, number];
    expect(later).toBe(path === file ? all - 1 : all);
  });

  it('says beforehand that it would be a job', async () => {
    const immediate = await experiment([...LONGER, '--dry-run', '--url', service.url]);
    const job = await experiment([...LONGER, '--dry-run', '--url', small.url]);
    expect(job.stdout).toBe(immediate.stdout);
    expect([immediate.stderr, job.stderr]).toEqual([
      '',
      expect.stringMatching(/would compute it as a job\.\n$/),
    ]);
  });

  it('lets a job compute more conditions than a request may have, and finds a bad file before', async () => {
    const sweep = ['--sweep', 'seed=1:2001:1'];
    const refused = await experiment([...ENDLESS, ...sweep, '--csv', directory, '--url', service.url]);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toMatch(/The job was ended\.\n.* cannot be written: it is a directory\.\n$/s);
    expect(await stateOf(refused.stderr)).toMatchObject({ status: 'dismissed', conditions: 2001 });
    const outside = await experiment([...ENDLESS, ...sweep, '--from', '2001', '--url', service.url]);
    expect(outside).toMatchObject({ status: 2, stdout: '' });
    expect(outside.stderr).toMatch(/from must be the index of a condition, from 0 to 2000, got 2001\.\n$/);
    expect(outside.stderr).not.toMatch(AS_JOB);
    const wrong = await experiment(['--report', 'C_walk', '--sweep', 'seed=1:20001:1', '--url', service.url]);
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('at most 20000 conditions') });
  });

  it('ends the job at SIGTERM, and keeps the conditions that are done', async () => {
    const folder = mkdtempSync(join(directory, 'job-'));
    const [csv, whole] = ['a.csv', 'whole.csv'].map((name) => join(folder, name)) as [string, string];
    const args = [...ENDLESS, '--sweep', 'seed=1:500:1', '--csv', csv, '--url', small.url];
    const running = startBuilt('experiment', args);
    const resultsOf = async (stderr: string) => {
      const answer = await fetch(`${AS_JOB.exec(stderr)![1]}/results?format=ndjson`);
      return answer.text();
    };
    await until(
      async () => AS_JOB.test(running.stderr) && (await resultsOf(running.stderr)).includes('"index":0,'),
    );
    running.kill('SIGTERM');
    const { stderr, ...ended } = await running.ended;
    expect(ended).toEqual({ status: 143, stdout: '' });
    const [, next, path] =
      /The job was ended\.\nInterrupted: \d+ conditions? (?:was|were) complete; those before condition (\d+) are in (\S+)\. --from \d+ runs the rest\. Append the rows of its CSV file to the partial one\.\n$/.exec(
        stderr,
      ) ?? [];
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([path]);
    expect(await stateOf(stderr)).toMatchObject({ status: 'dismissed' });
    await experiment([...ENDLESS, '--sweep', `seed=1:${next}:1`, '--csv', whole, '--workers', '2']);
    expect(readFileSync(path!, 'utf8')).toBe(readFileSync(whole, 'utf8'));
  });

  it('repeats the refusal of an experiment that is too expensive even for a job', async () => {
    const sweep = ['--sweep', 'seed=1:4000:1'];
    for (const dryRun of [[], ['--dry-run']]) {
      const expensive = await experiment([...ENDLESS, ...sweep, '--url', small.url, ...dryRun]);
      expect(expensive).toMatchObject({ status: 2, stdout: '' });
      expect(expensive.stderr).toMatch(
        /^(Running trials\n)?http\S+: The experiment has 400000 brain seconds \(4000 conditions x 100 trials\); at most 300000 /,
      );
    }
    // The command itself limits nothing.
    expect(await experiment([...ENDLESS, ...sweep, '--dry-run'])).toMatchObject({ status: 0 });
  });

  it('follows a job over failures that pass', async () => {
    const gateway = await startGateway(small);
    try {
      // Once for the head, a state and the results, in this order.
      const failing = [/\/results\?/, /\/experiments\/[\w-]+$/, /\/results\?/];
      gateway.wayOf = (path) => {
        if (failing[0]?.test(path) !== true) return small;
        failing.shift();
        return { status: 502, html: '<h1>Bad gateway</h1>' };
      };
      const followed = await experiment([...LONGER, '--json', '--url', gateway.url]);
      expect(failing).toEqual([]);
      expect(followed.stdout).toBe((await experiment([...LONGER, '--json', '--url', service.url])).stdout);
      expect(followed.status).toBe(0);
    } finally {
      await gateway.stop();
    }
  });

  it('repeats the failure of the job', async () => {
    const limits = { jobResultBytes: 1024 };
    const narrow = await startReadyService({ EXPERIMENT_BRAIN_SECONDS: '1' }, { limits });
    try {
      const failed = await experiment([...LONGER, '--url', narrow.url]);
      expect(failed).toMatchObject({ status: 2, stdout: '' });
      expect(failed.stderr).toMatch(/\nhttp\S+: The results of the job need more than 1024 bytes/);
    } finally {
      await narrow.stop();
    }
  });
});

describe('npm run experiment with the options of an open experiment', () => {
  const OPTIONS = [
    ...['--stimulate', 'sugar=S_sugar@150', '--window', '20+50', '--silence', 'S_food'],
    ...['--report', 'walk=@channel/walk/side', '--duration', '100', '--trials', '2', '--seed', '7'],
    ...['--sweep', 'rate=0:200:100'],
  ];

  it('prints the document that they stand for, and runs it', async () => {
    const printed = await experiment([...OPTIONS, '--print-document']);
    const document: unknown = JSON.parse(printed.stdout);
    expect(document).toEqual({
      inputs: { sugar: { node_set: 'S_sugar', rate_hz: 150, delay_ms: 20, duration_ms: 50 } },
      silence: ['S_food'],
      duration_ms: 100,
      trials: 2,
      seed: 7,
      reports: { walk: { node_set: '@channel/walk', group_by: ['side'] } },
      sweep: [{ set: 'inputs.sugar.rate_hz', from: 0, to: 200, step: 100 }],
    });
    const fromDocument = await experiment(['-'], printed.stdout);
    const fromOptions = await experiment(OPTIONS);
    expect(fromOptions).toMatchObject({ status: 0, stdout: fromDocument.stdout });
    expect(fromOptions.stdout).toMatch(/^ {2}experiment [0-9a-f]{32}$/m);
  });

  it('reads the rates of a pattern from a table', async () => {
    const table = inDirectory('odour.csv');
    writeFileSync(
      table,
      '\ufeffglomerulus,rate_hz,node_set\r\nDM1,41,S_sugar\r\nVA2,120.5,"{""type"": ""S_food""}"\r\n',
    );
    const options = ['--rates', `odour=${table}`, '--sweep', 'scale=0.5,1', '--report', 'C_walk'];
    const printed = await experiment([...options, '--print-document']);
    expect(JSON.parse(printed.stdout)).toEqual({
      inputs: {
        odour: {
          rates: [
            { node_set: 'S_sugar', rate_hz: 41 },
            { node_set: { type: 'S_food' }, rate_hz: 120.5 },
          ],
        },
      },
      reports: { C_walk: { node_set: 'C_walk' } },
      sweep: [{ set: 'inputs.odour.scale', values: [0.5, 1] }],
    });
    const { stdout } = await experiment([...options, '--dry-run', '--json']);
    const { resolved, conditions } = JSON.parse(stdout) as { resolved: object; conditions: object[] };
    expect(resolved).toMatchObject({ 'inputs.odour': { types: { S_food: 12, S_sugar: 12 } } });
    expect(conditions).toHaveLength(2);
    writeFileSync(table, 'root_id,rate_hz\n10034.0,41\n');
    const ids = await experiment(['--rates', `odour=${table}`, '--print-document']);
    expect(JSON.parse(ids.stdout)).toMatchObject({
      inputs: { odour: { rates: [{ node_set: { root_id: '10034' } }] } },
    });
  });

  it.each([
    [
      'node_set,hz\nS_sugar,1\n',
      'odour.csv, line 1: expected a column rate_hz, found the columns "node_set,hz".',
    ],
    ['root_id,rate_hz\n7,fast\n', 'odour.csv, line 2: expected rate_hz to be a number, found "fast".'],
    [
      'root_id,rate_hz\n10034.0,1\n7.205759406e17,1\n',
      'odour.csv, line 3: expected root_id to be 64-bit integers or text, found "7.205759406e17": floats round ids of this size.',
    ],
    ['node_set,rate_hz\n,1\n', 'odour.csv, line 2: expected node_set to be a selector, found "".'],
    ['node_set,rate_hz\n"{",1\n', 'odour.csv, line 2: expected node_set to be a selector, found "{".'],
  ])('names the fault of such a table: %j', async (text, message) => {
    const table = inDirectory('odour.csv');
    writeFileSync(table, text);
    const { status, stderr } = await experiment(['--rates', table, '--print-document']);
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
  });

  it('shows conditions, mean ± sd and responders in 80 columns, then warnings and citations', async () => {
    const { stdout, stderr } = await experiment(OPTIONS);
    const { conditions } = JSON.parse((await experiment([...OPTIONS, '--json'])).stdout) as {
      conditions: {
        parameters: Record<string, number>;
        responding_neurons: { mean: number; sd: number };
        reports: { walk: { rate_hz: { mean: number; sd: number } }[] };
      }[];
    };
    expect(conditions).toHaveLength(3);
    for (const { parameters, responding_neurons: responding, reports } of conditions) {
      const rates = reports.walk.map(
        ({ rate_hz: rate }) => `${rate.mean.toFixed(2).padStart(6)} ± ${rate.sd.toFixed(2)}`,
      );
      const row = stdout
        .split('\n')
        .find((line) => line.startsWith(`  ${parameters['inputs.sugar.rate_hz']} `))!;
      expect(row.replace(/ +/g, ' ')).toContain(` ${rates.join(' ')} `.replace(/ +/g, ' '));
      expect(row.endsWith(`${responding.mean.toFixed(1)} ± ${responding.sd.toFixed(1)}`)).toBe(true);
    }
    expect(stdout).toContain('\n  mean ± population sd over the trials\n');
    expect(conditions[2]!.reports.walk[0]!.rate_hz.mean).toBeGreaterThan(0);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
    expect(stdout).toMatch(
      /\nWarnings\n {2}SYNTHETIC_WIRING: [^]*\nPlease cite\n {2}Dorkenwald et al\. 2024/,
    );
    expect(stderr).toMatch(/^Running trials\nRan 6 trials in [\d.]+ s\.\n$/);
  });

  it('writes the spikes of all neurons if no report asks for spikes', async () => {
    const spikes = inDirectory('added.csv');
    const args = ['--stimulate', 'S_sugar', '--duration', '50', '--trials', '1', '--json'];
    const { stdout } = await experiment([...args, '--spikes', spikes]);
    const [condition] = (JSON.parse(stdout) as { conditions: { spikes: { mean: number } }[] }).conditions;
    const rows = readFileSync(spikes, 'utf8').trimEnd().split('\r\n').slice(1);
    expect(rows.length).toBe(condition!.spikes.mean);
    expect(rows.length).toBeGreaterThan(10);
  });

  it('writes membrane potentials, every so many ms', async () => {
    const csv = inDirectory('potentials.csv');
    const args = ['--stimulate', 'S_sugar@200', '--duration', '50', '--trials', '2'];
    const { status } = await experiment([...args, '--membrane', 'v=C_proboscis:left@5', '--csv', csv]);
    expect(status).toBe(0);
    const [header, ...rows] = readFileSync(csv, 'utf8').trimEnd().split('\r\n');
    expect(header).toBe('condition,trial,t_ms,root_id,type,side,v_mv');
    const times = new Set(rows.map((row) => row.split(',')[2]));
    expect([...times]).toEqual(Array.from({ length: 9 }, (_, at) => String(5 * (at + 1))));
    expect(new Set(rows.map((row) => row.split(',').slice(4, 6).join()))).toEqual(
      new Set(['C_proboscis,left']),
    );
    expect(rows.length % 18).toBe(0);
  });

  it('has a --help of 80 columns with examples that parse', async () => {
    const { status, stdout } = await experiment(['--help']);
    expect(status).toBe(0);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
    const shown = [...stdout.matchAll(/npm run experiment -- (--stimulate(?:[^\\\n]|\\\n)*)/g)].map(
      ([, args]) => args!.replaceAll(/\\\n/g, ' ').trim().split(/ +/),
    );
    expect(shown).toHaveLength(3);
    for (const args of shown) {
      expect(await experiment([...args, '--print-document'])).toMatchObject({ status: 0, stderr: '' });
    }
  });

  it.each([
    [[inDirectory('none.json')], /none\.json cannot be read: ENOENT/],
    [['-'], /Standard input should hold a document as JSON, found ""/],
    [['--stimulate', 'S_suga'], /^The model lacks "S_suga" \(near: S_sugar/],
    [['--report', 'C_walk', '--trials', '0'], /^trials must be .* from 1 to 100, got 0/],
    [['--stimulate', 'S_sugar', '--sweep', 'rate=1:1e9:1'], /rate_hz|to must be .* got 1000000000/],
    [['--membrane', 'C_walk@0.25'], /^reports\.membrane_C_walk\.dt_ms must be .* got 0\.25/],
    [['--stimulus', 'loom'], /Unknown option '--stimulus'; did you mean --stimulate\?/],
    [['--report', 'C_walk', '--from', '1'], /^from must be the index of a condition, from 0 to 0, got 1/],
    [['--report', 'C_walk', '--from', '-1'], /--from should be a whole number from 0/],
    [['--report', 'C_walk', '--workers', '0'], /--workers should be a whole number from 1 to 256, found "0"/],
    [
      ['--report', 'C_walk', '--plot', 'a.gif'],
      /--plot should be a file that ends in .svg, .png, .pdf, found "a.gif"/,
    ],
    [['--report', 'C_walk', '--dpi', '300'], /--dpi needs --plot/],
    [
      ['--report', 'C_walk', '--plot', 'a.svg', '--colours', 'red'],
      /--colours should be grey, or colours such/,
    ],
    [['--report', 'C_walk', '--plot', 'x.pdf', '--font', 'none.ttf'], /The font none.ttf cannot be read/],
    [
      ['--report', 'C_walk', '--plot', 'x.png', '--font', 'package.json'],
      /--font should be a file of a TrueType/,
    ],
    [
      ['--report', 'C_walk', '--spikes', 'a.txt'],
      /--spikes should be a file that ends in .csv, .arrow, .parquet, found "a.txt"/,
    ],
    [['--report', 'C_walk', '--csv', 'a.csv', '--spikes', './a.csv'], /should be different files/],
    [[file, '--csv', file], /it reads .*, so no option may write to that file/],
    [['--report', 'C_walk', '--html', 'a.pdf'], /--html should be a file that ends in .html, found "a.pdf"/],
    [['--report', 'C_walk', '--csv', 'x.parquet'], /--csv should be a file of CSV.* found "x.parquet"/],
    [['--report', 'C_walk', '--dry-run', '--csv', 'x.csv'], /--dry-run computes nothing.* with --csv/],
    [['--print-document', '--html', 'x.html'], /--print-document computes nothing.* with --html/],
    // These name the file, so they come before the unknown neurons.
    [['--stimulate', 'S_suga', '--plot', `${file}/x.svg`], /x.svg cannot be written: E/],
    [['--stimulate', 'S_suga', '--html', `${file}/x.html`], /x.html cannot be written: E/],
    [['--report', 'C_walk', '--table', 'rates'], /--table needs --csv/],
    [
      ['--report', 'C_walk', '--csv', inDirectory('x.csv'), '--table', 'inputs'],
      /inputs needs a report of type/,
    ],
    [['--report', 'C_walk', '--names', 'shiu', '--spikes', inDirectory('x.csv')], /shiu needs root ids/],
    [['a.json', 'b.json'], /it takes at most 1 DOCUMENT.json, found a.json b.json/],
  ])('ends %j with status 2 and one clear line', async (args, message) => {
    const finished = await experiment(args);
    expect(finished).toMatchObject({ status: 2, stdout: '' });
    const lines = finished.stderr.trimEnd().split('\n');
    expect(lines.filter((line) => line !== 'Running trials')).toEqual([expect.stringMatching(message)]);
    expect(readdirSync(directory).filter((name) => name.startsWith('x.'))).toEqual([]);
  });

  it('refuses a document with a member twice, as the service does', async () => {
    const path = inDirectory('twice.json');
    writeFileSync(path, '{"inputs": {"a": {"node_set": "S_sugar"}, "a": {"node_set": "S_loom"}}}');
    const { status, stderr } = await experiment([path, '--dry-run']);
    expect(stderr).toBe('The document must have each member once, got "a" twice in the same object.\n');
    expect(status).toBe(2);
  });
});

it('a command whose standard output is full ends with status 1 and one line', () => {
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', `${process.execPath} dist/tools/cli/run.js config >/dev/full`],
    {
      encoding: 'utf8',
    },
  );
  expect(stderr).toMatch(/^Standard output cannot be written: .*ENOSPC.*\n$/);
  expect(status).toBe(1);
});

describe('npm run experiment, interrupted', () => {
  it('leaves what came before the connection to the service broke, and --from runs the rest', async () => {
    const gateway = await startGateway(service);
    try {
      const folder = mkdtempSync(join(directory, 'broken-'));
      const rows = (name: string) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\r\n');
      const run = (...further: string[]) =>
        experiment([
          ...['--stimulate', 'S_sugar@200', '--report', 'C_walk', '--duration', '100', '--trials', '2'],
          ...['--sweep', 'seed=1:4:1', '--csv', join(folder, 'a.csv'), '--url', gateway.url, ...further],
        ]);
      // The head and two conditions.
      gateway.wayOf = (path) =>
        /\/experiments\?/.test(path) ? { cutsAnswerOf: service, lines: 3 } : service;
      const broken = await run();
      expect(broken).toMatchObject({ status: 1, stdout: '' });
      expect(broken.stderr).toMatch(
        /failed after 2 conditions were complete; those before condition 2 are in \S+a\.partial\.csv\. --from 2 runs the rest\. Append the rows of its CSV file to the partial one\.\n/,
      );
      expect(broken.stderr).toMatch(/The connection broke before the experiment ended/);
      expect(readdirSync(folder)).toEqual(['a.partial.csv']);

      gateway.wayOf = () => service;
      expect(await run()).toMatchObject({ status: 0 });
      const expected = rows('a.csv');
      expect(await run('--from', '2')).toMatchObject({ status: 0 });
      expect([...rows('a.partial.csv'), ...rows('a.csv').slice(1)]).toEqual(expected);
    } finally {
      await gateway.stop();
    }
  });

  it('ends at SIGINT with status 130, and leaves no file', async () => {
    const folder = mkdtempSync(join(directory, 'interrupted-'));
    const endless = [
      '--stimulate',
      'S_sugar@200',
      '--report',
      'C_walk',
      '--duration',
      '5000',
      '--trials',
      '100',
    ];
    const files = ['--csv', join(folder, 'a.csv'), '--spikes', join(folder, 'a.arrow')];
    const running = startBuilt('experiment', complete([...endless, '--sweep', 'seed=1:2000:1', ...files]));
    // The unfinished files are there once trials run.
    await until(() => readdirSync(folder).length === 2);
    running.kill('SIGINT');
    const { stderr, ...ended } = await running.ended;
    expect(ended).toEqual({ status: 130, stdout: '' });
    expect(stderr).toMatch(/Interrupted: \d+ conditions? (was|were) complete; no file was written\.\n$/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('finishes every file if one cannot get its name, and gives that one another', async () => {
    const folder = mkdtempSync(join(directory, 'unnamed-'));
    const at = (name: string) => join(folder, name);
    const run = (seeds: number, name = 'a') =>
      experiment([
        ...['--stimulate', 'S_sugar@200', '--report', 'C_walk', '--duration', '500', '--trials', '20'],
        ...['--sweep', `seed=1:${seeds}:1`, '--csv', at(`${name}.csv`), '--spikes', at(`${name}.arrow`)],
        ...['--plot', at(`${name}.svg`)],
      ]);
    const running = run(10);
    await until(() => readdirSync(folder).length === 2);
    mkdirSync(at('a.csv'));
    const { status, stdout, stderr } = await running;
    expect(status).toBe(2);
    expect(stdout).toMatch(/C_walk/);
    expect(stderr).toContain(`Wrote the table to ${at('a.partial.csv')}.\n`);
    expect(stderr).toContain(`Wrote the spikes to ${at('a.arrow')}.\n`);
    expect(stderr).toMatch(/a\.csv cannot be written: [^\n]+\n$/);
    expect(readdirSync(folder).sort()).toEqual(['a.arrow', 'a.csv', 'a.partial.csv', 'a.svg']);
    expect(await run(10, 'b')).toMatchObject({ status: 0, stdout });
    for (const [one, other] of [
      ['a.partial.csv', 'b.csv'],
      ['a.arrow', 'b.arrow'],
    ] as const) {
      expect(readFileSync(at(one)).equals(readFileSync(at(other)))).toBe(true);
    }
  });

  it.each([[], ['--json']])('finishes the files if standard output is full: %j', (...json) => {
    const folder = mkdtempSync(join(directory, 'full-'));
    const args = ['--csv', join(folder, 'a.csv'), '--plot', join(folder, 'a.svg'), ...json];
    const command = [process.execPath, 'dist/tools/cli/run.js', 'experiment', ...complete([file, ...args])];
    const { status, stderr } = spawnSync('sh', ['-c', '"$@" >/dev/full', 'sh', ...command], {
      encoding: 'utf8',
    });
    expect(stderr.match(/Standard output cannot be written: .*ENOSPC.*\n/g)).toHaveLength(1);
    expect(status).toBe(1);
    expect(readdirSync(folder).sort()).toEqual(['a.csv', 'a.svg']);
  });

  it('leaves the conditions that are complete in partial files, and --from runs the rest', async () => {
    const folder = mkdtempSync(join(directory, 'partial-'));
    const at = (name: string) => join(folder, name);
    const asked = (count: number) =>
      complete([
        ...['--stimulate', 'S_sugar@200', '--report', 'C_walk', '--duration', '100', '--trials', '20'],
        ...['--sweep', `seed=1:${count}:1`, '--csv', at('a.csv')],
      ]);
    const running = startBuilt('experiment', asked(2000));
    const rows = (name: string) => readFileSync(at(name), 'utf8').trimEnd().split('\r\n').slice(1);
    const unfinished = () => readdirSync(folder).find((name) => name.endsWith('.part'));
    await until(() => unfinished() !== undefined && rows(unfinished()!).length > 3);
    running.kill('SIGINT');
    const { stderr, status } = await running.ended;
    expect(status).toBe(130);
    const [, before, path, next] =
      /; those before condition (\d+) are in (\S+)\. --from (\d+) runs the rest\. Append the rows of its CSV file to the partial one\.\n$/.exec(
        stderr,
      ) ?? [];
    expect([before, path]).toEqual([next, at('a.partial.csv')]);
    expect(readdirSync(folder)).toEqual(['a.partial.csv']);
    const done = Number(next);
    expect(rows('a.partial.csv')).toHaveLength(done);

    const whole = done + 3;
    expect(await runBuilt('experiment', asked(whole))).toMatchObject({ status: 0 });
    const expected = rows('a.csv');
    expect(await runBuilt('experiment', [...asked(whole), '--from', next!])).toMatchObject({ status: 0 });
    expect([...rows('a.partial.csv'), ...rows('a.csv')]).toEqual(expected);
  });
});

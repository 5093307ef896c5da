/**
 * The guide promises that its examples work, so they are taken out of its pages and run: each against a real
 * service that has the brain that ships; those in a browser by guide-browser.slow.spec.ts, pages without a service by
 * test/browser/tab-brain.slow.spec.ts, and that of generated types by test/clients/generated.slow.spec.ts.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { runCommand } from '../support/commands.js';
import { connectomeFile } from '../support/connectomes.js';
import { codeAt, examples, pages } from '../support/guide-examples.js';
import { describeWith } from '../support/requirements.js';
import { startReadyService, type Service } from '../support/service.js';

let service: Service;
let connectome: string;
const directory = mkdtempSync(join(tmpdir(), 'guide-'));

beforeAll(async () => {
  connectome = await connectomeFile('default');
  service = await startReadyService({ CONNECTOME_FILE: connectome });
  // The brain is compiled here if no test has done so yet.
}, 180_000);
afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true });
});

const codeOf = (name: string) => codeAt(service.url, name);

/** Output of a program, which runs in its own writable directory. Rejects if the program fails. */
async function outputOf(program: string, args: string[]): Promise<string> {
  const env = { ...process.env, CONNECTOME_FILE: connectome };
  const { stdout } = await promisify(execFile)(program, args, { cwd: directory, env, maxBuffer: 2 ** 26 });
  return stdout;
}

function runPython(name: string): Promise<string> {
  return outputOf('python3', ['-c', codeOf(name)]);
}

/** Runs an example as npm run -s would, but in the directory of this test. */
function runShell(name: string): Promise<string> {
  const command = (_: string, script: string) => `node ${resolve('dist/tools/cli/run.js')} ${script}`;
  return outputOf('bash', [
    '-euo',
    'pipefail',
    '-c',
    codeOf(name).replaceAll(/npm run -s (experiment|preset) --/g, command),
  ]);
}

/**
 * Runs the commands of an example in this process, which writes its files to a test directory.
 * @returns their output
 */
async function runCommands(name: string): Promise<string> {
  const home = process.cwd();
  process.chdir(directory);
  try {
    let printed = '';
    for (const line of codeOf(name).replaceAll('\\\n', '').split('\n')) {
      const [, command, args, file] = /^npm run -s (\w+) -- (.*?)(?: > (\S+))?$/.exec(line)!;
      const given = { environment: { CONNECTOME_FILE: connectome } };
      const { status, stdout } = await runCommand(command!, args!.split(/ +/), given);
      expect(status).toBe(0);
      if (file === undefined) printed += stdout;
      else writeFileSync(file, stdout);
    }
    return printed;
  } finally {
    process.chdir(home);
  }
}

describe('docs/guide', () => {
  it('opens each page with an example', () => {
    for (const [page, text] of pages) {
      const [beforeTable] = text.split(/^\||^## /m);
      expect([page, beforeTable]).toEqual([page, expect.stringMatching(/<!-- (?:example|not run): /)]);
    }
  });

  it('has no example that is not run', () => {
    const all = [...pages.values()].join('');
    const blocks = [...all.matchAll(/^```\S+$/gm)].length;
    const notRun = [...all.matchAll(/<!-- not run: .+ -->/g)].length;
    expect([...examples.keys()]).toEqual([
      'typescript-client',
      'python-client',
      'r-client',
      'browser-page',
      'game-loop',
      'open-experiment-command',
      'lesion',
      'preset',
      'driver-lines',
      'error',
      'open-experiment',
      'spikes',
      'stream',
      'figure',
      'odour',
      'job',
      'model',
      'membrane',
      'curl',
      'python',
      'raster',
      'check',
      'selectors',
      'connections',
      'session',
      'edits',
      'own-page',
      'own-experiment',
      'own-session',
      'screen',
      'controls',
      'matched',
    ]);
    expect(blocks - notRun).toBe(examples.size);
  });

  it('membrane: prints the potentials of MN9, every half millisecond of the window', async () => {
    const [header, ...rows] = (await runShell('membrane')).trimEnd().split('\r\n');
    expect(header).toBe('condition,trial,t_ms,root_id,type,side,v_mv');
    // Two neurons from 20 to 79.5 ms.
    expect(rows).toHaveLength(2 * 120);
    expect([rows[0], rows.at(-1)].map((row) => row!.split(',')[2])).toEqual(['20', '79.5']);
    const potentials = rows.map((row) => Number(row.split(',').at(-1)));
    expect(Math.max(...potentials.map((mv) => Math.abs(mv + 52)))).toBeLessThan(52);
    expect(new Set(potentials).size).toBeGreaterThan(100);
  });

  it('odour: prints rates of receptor neurons that follow the scale', async () => {
    const [header, ...rows] = (await runShell('odour'))
      .trimEnd()
      .split('\r\n')
      .map((row) => row.split(','));
    const column = (name: string) => rows.map((row) => row[header!.indexOf(name)]!);
    const rates = column('rate_hz_mean').map(Number);
    const [half, one, two] = ['0.5', '1', '2'].map((scale) =>
      rates.find((_, at) => column('inputs.odour.scale')[at] === scale && column('type')[at] === 'ORN_DM1'),
    );
    expect(half! < one! && one! < two!).toBe(true);
    // Some 60 events in 0.2 s of DM1 at scale 1: 100 ms at 120 Hz and 50 ms at 10 Hz.
    expect(one).toBeGreaterThan(50);
    const document = JSON.parse(/-d '([^]*)'/.exec(codeOf('odour'))![1]!) as object;
    const dryRun = await (await service.post(document, '/api/v2/experiments?dry_run=true')).json();
    expect(Object.keys(dryRun.resolved['inputs.odour'].types)).toEqual(['ORN_DM1', 'ORN_DM4', 'ORN_VA2']);
  });

  it('open-experiment: prints a table in which MN9 follows the dose', async () => {
    const rows = (await runShell('open-experiment')).trimEnd().split('\r\n');
    expect(rows).toHaveLength(1 + 3 * 2);
    const header = rows[0]!.split(',');
    const rates = rows.slice(1).map((row) => Number(row.split(',')[header.indexOf('rate_hz_mean')]));
    expect(rates[0]! + rates[1]!).toBeLessThan(rates[4]! + rates[5]!);
    const document = JSON.parse(/-d '([^]*)'/.exec(codeOf('open-experiment'))![1]!) as object;
    const priced = await service.post(document, '/api/v2/experiments?dry_run=true');
    expect((await priced.json()).cost.brain_seconds).toBe(7.5);
    expect(pages.get('experiments')).toContain('The experiment above costs 7.5.');
  });

  it('session: prints each step, and its document the same spikes as an experiment', async () => {
    const [first, second, third, ...rest] = (await runShell('session')).split('\n');
    const steps = [first, second, third].map((line) => JSON.parse(line!));
    expect(steps.map(({ t_ms: tMs }) => tMs)).toEqual([20, 120, 220]);
    const { experiment, conditions } = JSON.parse(rest.join('\n').replace(/\}\{"session".*$/s, '}'));
    expect(experiment.inputs.sugar.rate_hz).toBe(100);
    expect(experiment.silence).toEqual([{ node_set: '@MN9', start_ms: 120, end_ms: 220 }]);
    expect(conditions[0].spikes.mean).toBe(steps.reduce((sum, { spikes }) => sum + spikes, 0));
  });

  it('draws the figure of a dose curve', async () => {
    expect(await runShell('figure')).toBe('<svg');
    const svg = readFileSync(join(directory, 'dose.svg'), 'utf8');
    expect(svg).toMatch(/^<svg[^]*MN9[^]*<\/svg>\n$/);
  });

  it('job: prints the table of the immediate answer, once it is done', async () => {
    const table = await runShell('job');
    const document = JSON.parse(/-d '([^]*?)'\)/.exec(codeOf('job'))![1]!) as object;
    expect(table).toBe(await (await service.post(document, '/api/v2/experiments?format=csv')).text());
    expect(table.trimEnd().split('\r\n').length).toBeGreaterThan(3);
  });

  it('connections: prints a row for each type of detector', async () => {
    const [header, ...rows] = (await runShell('connections')).trimEnd().split('\r\n');
    expect(header).toMatch(/^source_type,target_type,pairs,synapses,sign,/);
    expect(rows.map((row) => row.split(',').slice(0, 2))).toEqual([
      ['LC4', 'DNp01'],
      ['LPLC2', 'DNp01'],
    ]);
  });

  it('selectors: a dry run says which neurons they stand for', async () => {
    const { resolved, experiment } = JSON.parse(await runShell('selectors'));
    expect(resolved.looming.sides).toEqual({ left: resolved.looming.neurons });
    expect(Object.keys(resolved.looming.types)).toEqual(['LC4', 'LPLC2']);
    expect(resolved['inputs.loom']).toEqual(resolved.looming);
    const { types } = resolved['reports.others'];
    expect([types.DNp01, types.DNp02 > 0]).toEqual([undefined, true]);
    expect(experiment.trials).toBe(10);
  });

  it('edits: the giant fibre fires less, the weaker the connections are that LC4 has with it', async () => {
    const [header, ...rows] = (await runShell('edits')).trimEnd().split('\r\n');
    const column = (name: string) =>
      rows.map((row) => Number(row.split(',')[header!.split(',').indexOf(name)]));
    expect(column('connection_overrides.direct.weight')).toEqual([0, 0, 0.5, 0.5, 1, 1]);
    const rates = column('rate_hz_mean');
    expect(rates[0]! + rates[1]!).toBeLessThan(rates[4]! + rates[5]!);
    const document = JSON.parse(/-d '([^]*)'/.exec(codeOf('edits'))![1]!) as object;
    const dryRun = await (await service.post(document, '/api/v2/experiments?dry_run=true')).json();
    expect(dryRun.resolved.constants).toMatchObject({ synapse_mv: 0.3, threshold_mv: -45 });
    expect(dryRun.resolved.connection_overrides.direct.pairs).toBeGreaterThan(0);
  });

  it('edits: lists all constants, whose values docs/science.md has', async () => {
    const dryRun = await service.post(
      { constants: { excitatory_scale: 1 } },
      '/api/v2/experiments?dry_run=true',
    );
    const { constants } = (await dryRun.json()).resolved as { constants: Record<string, number> };
    const table = /\| member of `constants`[^]*?\n\n/.exec(pages.get('silence-and-edits')!)![0];
    expect(table.match(/(?<=`)\w+_(?:mv|ms|scale)(?=`)/g)!.sort()).toEqual(Object.keys(constants).sort());
    const science = readFileSync('docs/science.md', 'utf8').replace(/\s+/g, ' ');
    for (const [name, value] of Object.entries(constants)) {
      if (name.endsWith('_scale')) expect(value).toBe(1);
      else expect(science).toContain(` ${value} ${name.endsWith('_mv') ? 'mV' : 'ms'}`);
    }
  });

  it('error: prints the refusal that the page shows', async () => {
    const [, shown] = /```json\n([^]*?)\n```/.exec(pages.get('errors')!)!;
    expect(JSON.parse(await runShell('error'))).toEqual(JSON.parse(shown!));
  });

  it('model: prints the network and its origin', async () => {
    const {
      network,
      licence,
      cite,
      signs,
      synapse_mv: synapseMv,
      wiring,
    } = JSON.parse(await runShell('model'));
    expect([network, licence, wiring]).toEqual(['flywire-783-synthetic', 'CC-BY-NC-4.0', 'synthetic']);
    expect([cite.length > 0, signs.rule, synapseMv]).toEqual([true, 'corrected', 0.275]);
  });

  it('controls: sugar drives the proboscis more than in any of 20 brains with shuffled weights', async () => {
    const [header, ...rows] = (await runShell('controls')).trimEnd().split('\r\n');
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      const value = (name: string) => Number(row.split(',')[header!.split(',').indexOf(name)]);
      expect(value('rate_hz_mean')).toBeGreaterThan(20 * value('control_hz_mean'));
      // Both sides are the furthest of 21.
      expect([value('p'), value('q')]).toEqual([1 / 21, 1 / 21]);
    }
  });

  it('matched: two neurons, each beside 50 others', async () => {
    const [header, ...rows] = (await runShell('matched')).trimEnd().split('\r\n');
    const values = (name: string) => rows.map((row) => row.split(',')[header!.split(',').indexOf(name)]!);
    expect(values('silence.root_id')[0]).toBe('none');
    expect(rows).toHaveLength(3);
    const [ofBaseline, ...others] = values('p');
    expect(ofBaseline).toBe('');
    for (const p of others) expect(Number(p) * 51).toBeCloseTo(Math.max(1, Math.round(Number(p) * 51)), 6);
  });

  it('screen: the baseline and three lesions of the types that respond most', async () => {
    const [header, ...rows] = (await runShell('screen')).trimEnd().split('\r\n');
    const column = (name: string) => rows.map((row) => row.split(',')[header!.split(',').indexOf(name)]!);
    const silenced = column('silence.type');
    expect(silenced.slice(0, 2)).toEqual(['none', 'none']);
    expect(new Set(silenced).size).toBe(4);
    expect(column('side').slice(0, 2)).toEqual(['left', 'right']);
    expect(Number(column('rate_hz_mean')[0])).toBeGreaterThan(0);
  });

  it('driver-lines: ends with the list that the page shows, and writes a report with it', async () => {
    const [, shown] = /```\n(Driver lines\n[^]*?)```/.exec(pages.get('driver-lines')!)!;
    const printed = await runShell('driver-lines');
    const sorted = (text: string) => text.trimEnd().split('\n').sort();
    const [, listed] = /^(Driver lines\n(?: {2}.*\n)+)/m.exec(printed)!;
    expect(sorted(listed!)).toEqual(sorted(shown!));
    const report = readFileSync(join(directory, 'order.html'), 'utf8');
    expect(report).toContain('<td>made-up-3, made-up-2 (+2)</td>');
    expect(report).toContain('<li>Nobody 2026</li>');
  });

  it('spikes: a table of the spikes of MN9', async () => {
    const printed = (await runShell('spikes')).split('\r\n');
    expect(printed[0]).toBe('condition,trial,t_ms,root_id,type,side');
    expect(printed[1]).toMatch(/^0,0,\d+(\.\d)?,/);
    expect(readFileSync(join(directory, 'spikes-of-mn9.csv'), 'utf8')).toContain(printed[1]!);
  });

  it('names every member of an answer', async () => {
    const answer = (await (await service.post({})).json()) as Record<string, unknown>;
    const table = /\| member[^]*?\n\n/.exec(pages.get('run')!)![0];
    for (const member of Object.keys(answer)) expect(table).toContain(`\`${member}\``);
  });

  it('asks once', async () => {
    const answer = JSON.parse(await outputOf('bash', ['-c', codeOf('curl')])) as Record<string, unknown>;
    const request = { stimulus: 'loom', duration_ms: 100, intensity: 1, seed: 42 };
    expect(answer).toEqual(await (await service.post(request, '/api/v1/run?view=drive')).json());
  });

  it('runs open experiments without a server', async () => {
    const printed = await runCommands('open-experiment-command');
    expect(printed).toMatch(/^DNp01 +neurons responding {3}Hz$/m);
    expect(printed).toMatch(/^ {2}stimulus.rate_hz DNp01 left +DNp01 right +responding$/m);
    expect(printed).toContain('At most 8 brain seconds');
    const read = (name: string) => readFileSync(join(directory, name));
    expect(JSON.parse(read('looming.json').toString())).toMatchObject({ silence: ['PVLP122b'], trials: 5 });
    expect(read('spikes.parquet').subarray(0, 4).toString()).toBe('PAR1');
    expect(read('looming.svg').toString()).toMatch(/^<svg /);
    expect(read('looming.html').toString()).toContain('PVLP122b silenced');
    expect(read('rates.csv').toString().trimEnd().split('\r\n')).toHaveLength(1 + 2 * 2);
  });

  it('runs presets', async () => {
    const printed = await runShell('preset');
    expect(printed).toContain('loom: 200 ms, intensity 1.5, seed 7');
    expect(printed).toContain('{"id":"');
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const name of ['experiment', 'preset'])
      expect(scripts[name]).toBe(`node dist/tools/cli/run.js ${name}`);
  });

  it('cuts the outputs of a cell type', async () => {
    const printed = await runCommands('lesion');
    const rateHz = (condition: string) =>
      Number(new RegExp(`^  ${condition} +([\\d.]+) ±`, 'm').exec(printed)![1]);
    expect(rateHz('LC4')).toBeLessThan(rateHz('none'));
  });
});

/** Id and rate of MN9, which the small clients of docs/guide/client-of-your-own.md print. */
async function idAndRate(): Promise<[string, number]> {
  const document = { inputs: { sugar: { node_set: '@sugar' } }, reports: { mn9: { node_set: '@MN9' } } };
  const { id, conditions } = await (await service.post(document, '/api/v2/experiments')).json();
  return [id, conditions[0].reports.mn9[0].rate_hz.mean];
}

describeWith(['httr2'], 'docs/guide in R', () => {
  it('asks with httr2', async () => {
    const [id, rate] = (await outputOf('Rscript', ['-e', codeOf('r-client')])).split(' ');
    const [expectedId, expectedRate] = await idAndRate();
    expect(id).toBe(expectedId);
    // R prints seven digits.
    expect(Number(rate)).toBeCloseTo(expectedRate, 3);
  });
});

describeWith(['python'], 'docs/guide in Python', () => {
  it('is a client in five lines', async () => {
    const [id, rate] = (await runPython('python-client')).split(' ');
    expect([id, Number(rate)]).toEqual(await idAndRate());
  });

  it('asks with nothing installed', async () => {
    const lines = (await runPython('python')).trimEnd().split('\n');
    const expected = await Promise.all(
      [0.5, 1, 2].map(async (intensity) => {
        const answer = await (await service.post({ stimulus: 'sugar', intensity, seed: 1 })).json();
        return [intensity, answer.channels.proboscis];
      }),
    );
    expect(lines.map((line) => line.split(' ').slice(0, 2).map(Number))).toEqual(expected);
  });

  it('prints conditions as they come', async () => {
    const printed = (await runPython('stream')).trimEnd().split('\n');
    const rates = printed.map((line) => Number(/ (\S+) Hz$/.exec(line)![1]));
    expect(printed[0]).toMatch(/^\{'inputs\.sugar\.rate_hz': 50\} /);
    expect(rates).toHaveLength(3);
    expect(rates[2]!).toBeGreaterThan(rates[0]!);
  });

  it('draws the raster and says who spiked first', async () => {
    const printed = await runPython('raster');
    const answer = await (await service.post({ stimulus: 'loom' })).json();
    const svg = readFileSync(join(directory, 'raster.svg'), 'utf8');
    expect(svg.split('M').length - 1).toBe(answer.spikes.total);
    expect(printed).toMatch(/^\d+ spikes; the first at \d+\.\d ms in a (LPLC2|LC4) neuron, \S+\n$/);
  });

  it('checks id and digest', async () => {
    expect(await runPython('check')).toBe('id True\ndigest True\n');
  });
});

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RunBody } from '../../src/cli/preset-runs/source.js';
import { runOnTerminal } from '../support/commands.js';
import { describeWith } from '../support/requirements.js';
import { startReadyService, type Service } from '../support/service.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

const COMMAND = resolve('dist/cli/experiment.js');
const connectome = smallConnectomeFile();
const directory = mkdtempSync(join(tmpdir(), 'experiment-'));
afterAll(() => rmSync(directory, { recursive: true }));

interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built command as a person calls it, on the small connectome unless the arguments say otherwise. */
function experiment(...args: string[]): Promise<Finished> {
  const says = args.some((arg) => arg === '--url' || arg === '--connectome');
  return run(says ? args : [...args, '--connectome', connectome]);
}

function run(args: string[], env: NodeJS.ProcessEnv = process.env): Promise<Finished> {
  return new Promise((done) => {
    execFile(process.execPath, [COMMAND, ...args], { env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      done({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

async function bodyOf(...args: string[]): Promise<RunBody> {
  return JSON.parse((await experiment('--json', ...args)).stdout) as RunBody;
}

describe('npm run experiment', () => {
  it('shows numbers and bars in 80 columns, without a word on standard error', async () => {
    const { status, stdout, stderr } = await experiment('--stimulus', 'loom');
    const body = await bodyOf('--stimulus', 'loom');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('loom: 100 ms, intensity 1, seed 42');
    expect(stdout).toContain(`${body.spikes.total} spikes of ${body.spikes.responding_neurons} neurons`);
    expect(stdout).toContain(body.id);
    for (const [channel, rateHz] of Object.entries(body.channels)) {
      expect(stdout).toMatch(new RegExp(`^  ${channel} +${rateHz.toFixed(2)}( [█▏▎▍▌▋▊▉]+)?$`, 'm'));
    }
    // Each channel below the heading of its kind.
    const blocks = stdout.split('\n\n');
    const blockOf = (heading: string) =>
      blocks.find((block) => block.startsWith(`${heading} (mean rate, Hz)`));
    expect(blockOf('Descending neurons')).toContain('  escape ');
    expect(blockOf('Motor neurons')).toContain('  proboscis ');
    expect(blockOf('Upstream neurons')).toContain('  food_relay ');
    expect(Math.max(...stdout.split('\n').map((line) => [...line].length))).toBeLessThanOrEqual(80);
  });

  it('runs on what CONNECTOME_FILE names where it is told nothing else', async () => {
    const { stdout } = await run(['--json'], { ...process.env, CONNECTOME_FILE: connectome });
    expect(JSON.parse(stdout)).toEqual(await bodyOf());
  });

  it('has a part of --help, behind that of open experiments, that fits a screen', async () => {
    const [, own] = (await experiment('--help')).stdout.split('\n\n\n');
    expect(own).toMatch(/^Simulates the response of the brain to a stimulus/);
    const lines = own!.split('\n');
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('gives means over trials that are those of the single runs', async () => {
    const runs = await Promise.all(['7', '8', '9'].map((seed) => bodyOf('--seed', seed)));
    const { stdout } = await experiment('--seed', '7', '--trials', '3', '--json');
    const [condition] = (JSON.parse(stdout) as { conditions: Record<string, never>[] }).conditions;
    const rates = runs.map(({ channels }) => channels['escape']!);
    const mean = (rates[0]! + rates[1]! + rates[2]!) / 3;
    const sd = Math.sqrt(rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / 2);
    expect(condition).toMatchObject({
      seeds: [7, 8, 9],
      run_ids: runs.map(({ id }) => id),
      channels_hz: { escape: { mean: Math.round(mean * 100) / 100, sd: Math.round(sd * 100) / 100 } },
    });
    expect(sd).toBeGreaterThan(0);
  });

  it('writes every spike as a row: the rows have the digest that the body states', async () => {
    const file = join(directory, 'spikes.csv');
    await experiment('--stimulus', 'touch', '--csv', file);
    const [header, ...rows] = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(header).toBe('stimulus,silenced,seed,time_ms,neuron,id,type,side');
    const raster = rows.map((row) => row.split(','));
    expect(raster.every(([stimulus, , seed]) => stimulus === 'touch' && seed === '42')).toBe(true);
    const pairs = Uint32Array.from(
      raster.flatMap(([, , , timeMs, neuron]) => [Math.round(10 * Number(timeMs)), Number(neuron)]),
    );
    const body = JSON.parse((await experiment('--stimulus', 'touch', '--json')).stdout) as {
      spikes: { digest: string; total: number };
    };
    expect(rows.length).toBe(body.spikes.total);
    expect(createHash('sha256').update(pairs).digest('hex')).toBe(body.spikes.digest);
    expect(raster[0]!.slice(5)).toEqual([expect.stringMatching(/^N_\d{4}$/), 'S_touch', expect.any(String)]);
  });

  it('draws every spike, and the same picture each time', async () => {
    const [one, other] = [join(directory, 'one.svg'), join(directory, 'other.svg')];
    expect(await experiment('--plot', one)).toMatchObject({
      status: 0,
      stderr: `Wrote raster and rates to ${one}.\n`,
    });
    await experiment('--plot', other);
    const svg = readFileSync(one, 'utf8');
    expect(svg).toBe(readFileSync(other, 'utf8'));
    expect(svg).toMatch(/^<svg [^]*<\/svg>\n$/);
    const { spikes } = await bodyOf();
    // The spikes are two paths, stimulated types and others, of two points each; axes have no long paths.
    const points = [...svg.matchAll(/ d="(M[^"]+)"/g)].map(([, path]) => path!.split('M').length - 1);
    const drawn = points.sort((a, b) => b - a).slice(0, 2);
    expect(drawn[0]! + drawn[1]!).toBe(spikes.total);
    expect(svg).toContain('S_sugar');
    // As the table of the same run names them, and not among the rest.
    expect(svg).toContain('untyped central');
    expect(svg).not.toContain('others');
    expect(svg).toContain('Small test brain');
  });

  it('puts a lesion beside the intact brain: what it silences is heard no more', async () => {
    const { status, stdout } = await experiment('--silence', 'S_sug*', '--json');
    const { conditions } = JSON.parse(stdout) as {
      conditions: { model: string; silenced: string[]; spikes: { responding_neurons: { mean: number } } }[];
    };
    const [intact, lesioned] = conditions;
    expect(status).toBe(0);
    expect(lesioned!.silenced).toEqual(['S_sug*']);
    // The twelve sugar neurons still spike; nothing else does.
    expect(lesioned!.spikes.responding_neurons.mean).toBe(12);
    expect(intact!.spikes.responding_neurons.mean).toBeGreaterThan(12);
    expect(lesioned!.model).not.toBe(intact!.model);
    expect((await experiment('--silence', 'S_sug*')).stdout).toContain('sugar, S_sug* silenced');
  });

  it.each([
    [['--stimulus', 'salt'], 2, '--stimulus should be one of sugar'],
    [['--view', 'drive', '--csv', 'x.csv'], 2, '--csv and --plot need the spikes'],
    [['--plot', 'x.png'], 2, '--plot writes SVG: its file should end in .svg, found "x.png"'],
    [
      ['--url', 'http://localhost:1', '--silence', 'LC4'],
      2,
      'cannot be combined with --connectome or --silence',
    ],
    [['--url', 'localhost'], 2, '--url should be an address'],
    [['--silence', 'S_suga'], 2, 'near matches: S_sugar'],
    [['--connectome', '/no/such.connectome'], 1, 'There is no connectome file /no/such.connectome'],
    [['--url', 'http://127.0.0.1:1'], 1, 'http://127.0.0.1:1/api/v1/run?view=full does not answer'],
  ])('ends %j with status %d and one clear line', async (args, status, message) => {
    const finished = await experiment(...args);
    expect(finished.status).toBe(status);
    expect(finished.stdout).toBe('');
    expect(finished.stderr).toContain(message);
    expect(finished.stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('npm run experiment beside a service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startReadyService({ CONNECTOME_FILE: connectome });
  });
  afterAll(() => service.stop());

  it.each(['full', 'drive'])('prints the very bytes of the HTTP body, view %s', async (view) => {
    const request = { stimulus: 'food', duration_ms: 150, intensity: 1.25, seed: 9 };
    const http = await (await service.post(request, `/api/v1/run?view=${view}`)).text();
    const args = ['--stimulus', 'food', '--duration', '150', '--intensity', '1.25', '--seed', '9'];
    const asked = [...args, '--json', '--view', view];
    expect((await experiment(...asked)).stdout).toBe(http);
    expect((await experiment(...asked, '--url', service.url)).stdout).toBe(http);
  });

  it('shows the same through --url as without it', async () => {
    const args = ['--stimulus', 'song', '--compare', 'heat', '--trials', '2'];
    const written = (side: string) => ['csv', 'svg'].map((kind) => join(directory, `${side}.${kind}`));
    const [[localCsv, localPlot], [remoteCsv, remotePlot]] = [written('local'), written('remote')];
    const here = await experiment(...args, '--csv', localCsv!, '--plot', localPlot!);
    const there = await experiment(
      ...[...args, '--csv', remoteCsv!, '--plot', remotePlot!, '--url', `${service.url}/`],
    );
    expect(there.stdout).toBe(here.stdout);
    expect(readFileSync(remoteCsv!, 'utf8')).toBe(readFileSync(localCsv!, 'utf8'));
    expect(readFileSync(remotePlot!, 'utf8')).toBe(readFileSync(localPlot!, 'utf8'));
  });

  it('repeats what the service says of a failure', async () => {
    const { status, stderr } = await experiment('--url', `${service.url}/nowhere`);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^http\S+\/nowhere\/api\/v1\/run\?view=full: There is nothing at .+\n$/);
  });
});

/** Answers requests with these, one after the other, as a service would: a status and a body. */
async function answering(
  answers: readonly (readonly [number, string])[],
  ask: (url: string) => Promise<void>,
): Promise<void> {
  const left = [...answers];
  const server = createServer((_, response) => {
    const [status, body] = left.shift()!;
    response.writeHead(status, status === 429 ? { 'retry-after': '0' } : {}).end(body);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
}
const TOO_MANY = [429, '{"error":"too many","code":"RATE_LIMITED"}'] as const;
const BROKEN = [500, '{"error":"broken","code":"INTERNAL"}'] as const;
const NAMED = [
  200,
  '{"name":"A brain","atlas_url":"/atlas","channels":[{"id":"escape","kind":"descending"}]}',
] as const;

describe('npm run experiment against a busy service', () => {
  it('waits as long as it is told, then goes on', async () => {
    const body = (await experiment('--json', '--view', 'drive')).stdout;
    await answering([TOO_MANY, TOO_MANY, [200, body]], async (url) => {
      const finished = await experiment('--url', url, '--json', '--view', 'drive');
      expect(finished).toMatchObject({ status: 0, stdout: body });
      expect(finished.stderr).toBe('Waiting 0 s for the rate limit of the service.\n'.repeat(2));
    });
  });
});

it.each(['{}', 'null', '[1]'])(
  'npm run experiment says of %s that it is no answer of the service',
  async (body) => {
    for (const args of [['--json'], ['--trials', '2'], []]) {
      await answering([[200, body]], async (url) => {
        const { status, stdout, stderr } = await experiment('--url', url, ...args);
        expect([status, stdout]).toEqual([1, '']);
        expect(stderr).toMatch(/should have answered with id, model, [^\n]*, found "[^\n]*\n$/);
      });
    }
  },
);

describeWith(['python'], 'npm run experiment on a terminal', () => {
  const ERASE = '\r\u001b[2K';
  const linesOf = (text: string) => text.trimEnd().split('\r\n');

  it('clears what it showed of its progress before it says what went wrong', async () => {
    const body = (await experiment('--json', '--view', 'drive')).stdout;
    await answering([[200, body], BROKEN], async (url) => {
      const { status, stdout } = await runOnTerminal('experiment', ['--url', url, '--trials', '3']);
      expect(status).toBe(1);
      expect(stdout).toContain('Running experiments …');
      const [last, ...others] = stdout.split(ERASE).reverse();
      expect(linesOf(last!)).toEqual([`${url}/api/v1/run?view=drive: broken`]);
      expect(others.join('')).not.toContain('\n');
    });
  });

  it('notes a wait on a line of its own, and goes on with its step or its output below', async () => {
    const body = (await experiment('--json', '--view', 'drive')).stdout;
    const note = 'Waiting 0 s for the rate limit of the service.';
    await answering([TOO_MANY, [200, body], NAMED], async (url) => {
      const { stdout } = await runOnTerminal('experiment', ['--url', url, '--view', 'drive']);
      expect(linesOf(stdout).slice(0, 2)).toEqual([note, 'A brain']);
    });
    await answering([[200, body], TOO_MANY, [200, body], NAMED], async (url) => {
      const { stdout } = await runOnTerminal('experiment', ['--url', url, '--trials', '2']);
      const [before, after] = stdout.split(`${ERASE}${note}\r\n`);
      expect(before).toMatch(/^Running experiments …/);
      expect(after).toMatch(/^Running experiments/);
      expect(linesOf(after!.split(ERASE).at(-1)!)[0]).toBe('A brain');
    });
  });
});

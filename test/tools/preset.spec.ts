import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FullRun } from '../../clients/typescript/src/client.js';
import { runCommand, runOnTerminal, type CommandResult } from '../support/commands.js';
import { describeWith } from '../support/requirements.js';
import { startReadyService, type Service } from '../support/service.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

const connectome = smallConnectomeFile();

/** On the small connectome unless the arguments say otherwise. */
function preset(...args: string[]): Promise<CommandResult> {
  const says = args.some((arg) => arg === '--url' || arg === '--connectome');
  return runCommand('preset', says ? args : [...args, '--connectome', connectome]);
}

async function bodyOf(...args: string[]): Promise<FullRun> {
  return JSON.parse((await preset('--json', ...args)).stdout) as FullRun;
}

describe('npm run preset', () => {
  it('shows numbers and bars in 80 columns, without a word on standard error', async () => {
    const { status, stdout, stderr } = await preset('loom');
    const body = await bodyOf('loom');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('loom: 100 ms, intensity 1, seed 42');
    expect(stdout).toContain(`${body.spikes.total} spikes of ${body.spikes.responding_neurons} neurons`);
    expect(stdout).toContain(body.id);
    expect(stdout).toContain('S_loom *');
    for (const [channel, rateHz] of Object.entries(body.channels)) {
      expect(stdout).toMatch(new RegExp(`^  ${channel} +${rateHz.toFixed(2)}( [█▏▎▍▌▋▊▉]+)?$`, 'm'));
    }
    for (const [drive, value] of Object.entries(body.drive)) {
      expect(stdout).toMatch(new RegExp(`^  ${drive} +${value.toFixed(4)}( [◂█▏▎▍▌▋▊▉]+)?$`, 'm'));
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

  it('runs on the file of CONNECTOME_FILE if it is told nothing else', async () => {
    const environment = { CONNECTOME_FILE: connectome };
    const { stdout } = await runCommand('preset', ['--json'], { environment });
    expect(JSON.parse(stdout)).toEqual(await bodyOf());
    expect(await bodyOf()).toMatchObject({ stimulus: 'sugar' });
  });

  it('has a --help that fits a screen', async () => {
    const lines = (await preset('--help')).stdout.split('\n');
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it.each([
    [['salt'], 2, 'the stimulus should be one of sugar'],
    [['--duration', '75'], 2, '--duration should be one of 50, 100, 150, 200, found "75"'],
    [['--duration', '100.0'], 2, '--duration should be'],
    [['--intensity', '2.01'], 2, '--intensity should be a number from 0 to 2, found "2.01"'],
    [['--intensity', ''], 2, '--intensity should be'],
    [['--intensity', '0x1'], 2, '--intensity should be'],
    [['--seed', '4294967296'], 2, '--seed should be a whole number from 0 to 4294967295, found "4294967296"'],
    [['--seed', '1e3'], 2, '--seed should be'],
    [['--view', 'all'], 2, '--view should be full or drive, found "all"'],
    [['loom', 'sugar'], 2, 'it takes at most 1 STIMULUS, found loom sugar'],
    [
      ['--url', 'http://localhost:1', '--connectome', 'a.connectome'],
      2,
      'cannot be combined with --connectome',
    ],
    [['--url', 'localhost'], 2, '--url should be an http or https address'],
    [['--connectome', '/no/such.connectome'], 1, 'There is no connectome file /no/such.connectome'],
    [['--url', 'http://127.0.0.1:1'], 1, 'http://127.0.0.1:1 does not answer'],
  ])('ends %j with status %d and one clear line', async (args, status, message) => {
    const finished = await preset(...args);
    expect(finished.status).toBe(status);
    expect(finished.stdout).toBe('');
    expect(finished.stderr).toContain(message);
    expect(finished.stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('npm run preset beside a service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startReadyService({ CONNECTOME_FILE: connectome });
  });
  afterAll(() => service.stop());

  it.each(['full', 'drive'])('prints the very bytes of the HTTP body, view %s', async (view) => {
    const request = { stimulus: 'food', duration_ms: 150, intensity: 1.25, seed: 9 };
    const http = await (await service.post(request, `/api/v1/run?view=${view}`)).text();
    const args = ['food', '--duration', '150', '--intensity', '1.25', '--seed', '9'];
    const asked = [...args, '--json', '--view', view];
    expect((await preset(...asked)).stdout).toBe(http);
    expect((await preset(...asked, '--url', service.url)).stdout).toBe(http);
  });

  it('shows the same through --url as without it', async () => {
    const here = await preset('song');
    expect((await preset('song', '--url', `${service.url}/`)).stdout).toBe(here.stdout);
  });

  it('repeats the error of the service', async () => {
    const { status, stderr } = await preset('--url', `${service.url}/nowhere`);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^http\S+\/nowhere: There is nothing at .+\n$/);
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
const NAMED =
  '{"id":"a","name":"A brain","atlas_url":"/atlas","channels":[{"id":"escape","kind":"descending"}]}';
const NOTE = 'Waiting 0 s for the service: too many';

describe('npm run preset against a busy service', () => {
  it('waits as long as it is told, then goes on', async () => {
    const body = (await preset('--json', '--view', 'drive')).stdout;
    await answering([TOO_MANY, TOO_MANY, [200, body]], async (url) => {
      const finished = await preset('--url', url, '--json', '--view', 'drive');
      expect(finished).toMatchObject({ status: 0, stdout: body });
      expect(finished.stderr).toBe(`${NOTE}\n`.repeat(2));
    });
  });
});

it.each(['{}', 'null', '[1]', '<html>'])(
  'npm run preset says of %s that it is no answer of the service',
  async (body) => {
    for (const args of [['--json'], []]) {
      await answering([[200, body]], async (url) => {
        const { status, stdout, stderr } = await preset('--url', url, ...args);
        expect([status, stdout]).toEqual([1, '']);
        expect(stderr).toMatch(/should have answered with id, model, [^\n]*, found "[^\n]*\n$/);
      });
    }
  },
);

describeWith(['python'], 'npm run preset on a terminal', () => {
  it('notes a wait on a line of its own, with its output below', async () => {
    const body = (await preset('--json', '--view', 'drive')).stdout;
    await answering([TOO_MANY, [200, body], [200, NAMED]], async (url) => {
      const { stdout } = await runOnTerminal('preset', ['--url', url, '--view', 'drive']);
      expect(stdout.split('\r\n').slice(0, 2)).toEqual([NOTE, 'A brain']);
    });
  });
});

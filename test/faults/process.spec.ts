/** Surroundings of the process: the reader of its log, the file that it reads, and signals to end it. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { jobsFolder } from '../support/disk-jobs.js';
import { freePort } from '../support/free-port.js';
import { exchange } from '../support/raw-http.js';
import { smallConnectomeFile } from '../support/small-connectome.js';
import { startProcess, until, valueOf } from '../support/service-process.js';
import { extent, observed } from './extent.js';

const dir = mkdtempSync(join(tmpdir(), 'process-'));
const connectome = smallConnectomeFile();
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rmSync(dir, { recursive: true }));

function fifo(name: string): string {
  const path = join(dir, name);
  execFileSync('mkfifo', [path]);
  return path;
}

interface Started {
  readonly child: ChildProcess;
  readonly port: number;
  readonly metricsPort: number;
  ended(): Promise<[number | null, NodeJS.Signals | null]>;
  isReady(): Promise<boolean>;
}

/**
 * @param output both for standard output and for standard error, as after 2>&1
 * @param wrapped the command that starts the service by the given one
 */
async function start(
  variables: Record<string, string>,
  output: number | 'pipe' = 'pipe',
  nodeOptions: readonly string[] = [],
  wrapped: (command: readonly string[]) => readonly string[] = (command) => command,
): Promise<Started> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const [program, ...args] = wrapped([process.execPath, ...nodeOptions, resolve('dist/main.js')]);
  const child = spawn(program!, args, {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      WORKERS: '1',
      BACKEND: 'cpu',
      RATE_LIMIT: '0',
      CONNECTOME_FILE: connectome,
      JOBS_PATH: jobsFolder(),
      ...variables,
    },
    stdio: ['ignore', output, output],
  });
  children.push(child);
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  return {
    child,
    port,
    metricsPort,
    ended: () => exit,
    isReady: async () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
      return fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    },
  };
}

const run = (port: number) =>
  fetch(`http://127.0.0.1:${port}/api/v1/run?view=drive`, { method: 'POST' }).then(({ status }) => status);

describe('the log', () => {
  const BATCH = `GET /${'x'.repeat(199)} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(64);

  /** Fills the log until lines are dropped, as more of them wait for a reader than may. */
  async function fill({ port, metricsPort }: Started): Promise<number> {
    for (;;) {
      await Promise.all(Array.from({ length: 8 }, () => exchange(port, [BATCH], { endAfter: 64 })));
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const dropped = valueOf(text, 'nes_log_lines_dropped_total')!;
      if (dropped > 0) return dropped;
    }
  }

  /** Reads all that is in the pipe. */
  function drained(fd: number): string {
    const buffer = Buffer.alloc(2 ** 16);
    let text = '';
    for (;;) {
      try {
        const bytes = readSync(fd, buffer);
        if (bytes === 0) return text;
        text += buffer.toString('utf8', 0, bytes);
      } catch {
        return text;
      }
    }
  }

  it('whose reader stalls holds up neither runs nor the end; later it gets whole lines', async () => {
    const path = fifo('stalled');
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const pipe = openSync(path, constants.O_WRONLY);
    const service = await start({}, pipe);
    closeSync(pipe);
    await until(service.isReady);
    const dropped = await fill(service);
    for (let i = 0; i < 10; i++) expect(await run(service.port)).toBe(200);
    expect(await service.isReady()).toBe(true);
    observed('a reader of the log that stalls', `${dropped} lines dropped; runs were answered all the while`);

    let text = '';
    // The log continues after the stall; new lines come after waiting ones.
    await until(async () => {
      await run(service.port);
      return (text += drained(reader)).includes('"/api/v1/run"');
    });
    await fill(service);
    service.child.kill('SIGTERM');
    expect(await service.ended()).toEqual([0, null]);
    text += drained(reader);
    closeSync(reader);
    const lines = text.split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.length).toBeGreaterThan(1_000);
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('msg');
  });

  it('whose reader has gone is lost, and nothing else', async () => {
    const path = fifo('gone');
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    const service = await start({}, writer);
    closeSync(writer);
    await until(service.isReady);
    closeSync(reader);
    for (let i = 0; i < 10; i++) expect(await run(service.port)).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.ended()).toEqual([0, null]);
  });

  it('does not hold up a start that fails either', async () => {
    const pipe = openSync(fifo('failing'), constants.O_RDWR | constants.O_NONBLOCK);
    writeFileSync(pipe, Buffer.alloc(2 ** 16));
    const service = await start({ PORT: 'none' }, pipe);
    expect(await service.ended()).toEqual([2, null]);
    closeSync(pipe);
  });
});

describe('CONNECTOME_FILE', () => {
  it.each([
    ['a pipe', () => fifo('connectome'), 'a pipe'],
    ['a directory', () => dir, 'a directory'],
    ['a device', () => '/dev/zero', 'a device'],
  ])('that is %s is refused, and the service can be ended', async (_, make, kind) => {
    const path = make();
    const service = await startProcess({ CONNECTOME_FILE: path });
    await service.untilReadyz(({ body }) => body['code'] === 'MODEL_FAILED');
    expect(service.log().map(({ msg }) => msg)).toContainEqual(
      expect.stringContaining(
        `The connectome file ${path} cannot be read: it must be a regular file, but is ${kind}.`,
      ),
    );
    expect(await service.stop()).toBe(0);
  });
});

describe('a signal', () => {
  it('ends the process also if a thread of it waits for the system without end', async () => {
    const preload = join(dir, 'hang.mjs');
    // Opening a pipe that nobody writes to takes until somebody does.
    writeFileSync(
      preload,
      `import { open } from 'node:fs/promises'; void open(${JSON.stringify(fifo('hangs'))});`,
    );
    const service = await start({ SHUTDOWN_MS: '1000' }, 'pipe', ['--import', preload]);
    await until(service.isReady);
    const sentMs = performance.now();
    service.child.kill('SIGTERM');
    // The status of a process that ends by itself cannot be had.
    expect(await service.ended()).toEqual([null, 'SIGKILL']);
    observed(
      'a thread that hangs in the file system',
      `gone ${Math.round(performance.now() - sentMs)} ms after SIGTERM`,
    );
  });

  it('ends it with 0 also if a name is still being looked up, which takes longer than a second', async () => {
    const preload = join(dir, 'lookup.mjs');
    // One lookup after the other stands for one that a name server does not answer.
    writeFileSync(
      preload,
      `import { lookup } from 'node:dns';
       process.on('SIGTERM', () => {
         const untilMs = performance.now() + 3_000;
         const again = () => performance.now() < untilMs && lookup('localhost', again);
         again();
       });`,
    );
    const service = await start({}, 'pipe', ['--import', preload]);
    await until(service.isReady);
    const sentMs = performance.now();
    service.child.kill('SIGTERM');
    expect(await service.ended()).toEqual([0, null]);
    observed('a name is looked up', `ended ${Math.round(performance.now() - sentMs)} ms after SIGTERM`);
  });

  it('ends it with 0 also if the log goes to a file, and nothing of the log is lost', async () => {
    const path = join(dir, 'log');
    const file = openSync(path, 'w');
    const service = await start({}, file);
    closeSync(file);
    await until(service.isReady);
    expect(await run(service.port)).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.ended()).toEqual([0, null]);
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg).slice(-2)).toEqual([
      expect.stringMatching(/^SIGTERM: /),
      'Ended.',
    ]);
  });

  it('in the first second, while everything loads, ends the process with 0', async () => {
    const afterMs = extent({ short: [0, 150], full: [0, 50, 100, 150, 200, 300, 400, 500, 700, 1_000] });
    for (const ms of afterMs) {
      const service = await start({});
      // Node itself listens for SIGTERM from its start; of ours SIGHUP is the last.
      await until(() => listensFor(service.child.pid!, 1));
      await new Promise((next) => setTimeout(next, ms));
      service.child.kill('SIGTERM');
      expect([ms, ...(await service.ended())]).toEqual([ms, 0, null]);
    }
  });

  it('below nohup ignores SIGHUP, and opens no debugger at SIGUSR1; SIGTERM ends it', async () => {
    const service = await start({}, 'pipe', [], (command) => ['nohup', ...command]);
    const { child, port } = service;
    let [output, errors] = ['', ''];
    child.stdout!.on('data', (text: string) => (output += text));
    child.stderr!.on('data', (text: string) => (errors += text));
    await until(service.isReady);
    child.kill('SIGUSR1');
    await until(() => !isPending(child.pid!, 10));
    child.kill('SIGHUP');
    await until(() => output.includes('SIGHUP: ignored'));
    for (let i = 0; i < 5; i++) expect(await run(port)).toBe(200);
    child.kill('SIGTERM');
    expect(await service.ended()).toEqual([0, null]);
    expect(errors).toBe('');
  });

  it('in a terminal drains at SIGHUP as at SIGTERM', async () => {
    // A terminal whose output is that of `script`, which ends with the status of the command.
    const inTerminal = (command: readonly string[]) => [
      'script',
      '-qec',
      `exec ${command.join(' ')}`,
      '/dev/null',
    ];
    const service = await start({}, 'pipe', [], inTerminal);
    const { child } = service;
    let output = '';
    child.stdout!.on('data', (text: string) => (output += text));
    await until(service.isReady);
    const [pid] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
    process.kill(Number(pid), 'SIGHUP');
    expect(await service.ended()).toEqual([0, null]);
    expect(output).toContain('SIGHUP: finishing');
  });
});

const listensFor = (pid: number, signal: number) => isSet(pid, 'SigCgt', signal);
const isPending = (pid: number, signal: number) => isSet(pid, 'ShdPnd', signal);

function isSet(pid: number, mask: string, signal: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bits = BigInt(`0x${new RegExp(`^${mask}:\\s+(\\w+)$`, 'm').exec(status)![1]}`);
  return (bits & (1n << BigInt(signal - 1))) !== 0n;
}

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { jobsFolder } from './disk-jobs.js';
import { freePort } from './free-port.js';
import { smallConnectomeFile } from './small-connectome.js';
import { spawnEnding } from './spawn-ending.js';

/** Faults that a test may put into a service; see faulty.worker.mjs and faulty-service.mjs. */
export interface Faults {
  /** Delay of each run and trial, in ms. */
  readonly FAULT_DELAY_MS?: string;
  /** While a file of this name exists, no run ends. */
  readonly FAULT_HOLD_RUNS?: string;
  /** While a file of this name exists, no trial of version 2 ends. */
  readonly FAULT_HOLD_TRIALS?: string;
  /**
   * The first trial that ends while a file of this name exists takes its worker and the file with it, and is not
   * answered.
   */
  readonly FAULT_EXIT_AFTER_TRIAL?: string;
  /** Seed of a run that ends its worker. */
  readonly FAULT_EXIT_SEED?: string;
  /** Seed of a run that fills the memory of its worker. */
  readonly FAULT_MEMORY_SEED?: string;
  /** Seed of a run that never ends. */
  readonly FAULT_SPIN_SEED?: string;
  /** Seed of a run that comes upon a defect of ours. */
  readonly FAULT_THROW_SEED?: string;
  /** While a file of this name exists, no worker can start. */
  readonly FAULT_REFUSE_START?: string;
  /** While a file of this name exists, every run ends its worker. */
  readonly FAULT_EXIT_RUNS?: string;
  /** While a file of this name exists, workers do not answer probes. */
  readonly FAULT_SILENT_PROBES?: string;
}

export interface Readiness {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** The service as a process of its own, as an operator runs it. */
export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly port: number;
  readonly metricsPort: number;
  readonly url: string;
  /** Text of its standard output and standard error so far. */
  output(): string;
  /** Lines of its log so far. */
  log(): Record<string, unknown>[];
  readyz(): Promise<Readiness>;
  metric(name: string): Promise<number | undefined>;
  untilReady(): Promise<void>;
  /** Also asks a service that does not listen yet. */
  untilReadyz(matches: (answer: Readiness) => boolean): Promise<void>;
  /** Sends SIGTERM if it still runs; resolves with its exit code, or the signal that ended it. */
  stop(): Promise<number | NodeJS.Signals>;
  exited(): Promise<number | NodeJS.Signals>;
}

/** Starts the built service on free ports of the loopback; ready when untilReady resolves. */
export async function startProcess(
  variables: Record<string, string> = {},
  faults?: Faults,
  node: string = process.execPath,
): Promise<ServiceProcess> {
  const port = Number(variables['PORT'] ?? (await freePort()));
  const metricsPort = Number(variables['METRICS_PORT'] ?? (await freePort()));
  const entry = faults === undefined ? 'dist/main.js' : 'test/support/faulty-service.mjs';
  const child = spawnEnding(node, [resolve(entry)], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      WORKERS: '1',
      RATE_LIMIT: '0',
      BACKEND: 'cpu',
      CONNECTOME_FILE: variables['CONNECTOME_FILE'] ?? smallConnectomeFile(),
      JOBS_PATH: variables['JOBS_PATH'] ?? jobsFolder(),
      ...variables,
      ...faults,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (output += text));
  // Not 'exit', because its last output may not have been read by then.
  const exit = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const url = `http://127.0.0.1:${port}`;

  const service: ServiceProcess = {
    child,
    port,
    metricsPort,
    url,
    output: () => output,
    log: () =>
      output
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    readyz: async () => {
      const response = await fetch(`${url}/readyz`);
      return { status: response.status, body: (await response.json()) as Readiness['body'] };
    },
    metric: async (name) => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return valueOf(text, name);
    },
    untilReady: () => service.untilReadyz(({ status }) => status === 200),
    untilReadyz: (matches) =>
      until(async () => {
        if (child.exitCode !== null) throw new Error(`The service ended: ${output}`);
        const answer = await service.readyz().catch(() => undefined);
        return answer !== undefined && matches(answer);
      }),
    stop: () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      return service.exited();
    },
    exited: async () => {
      const [code, signal] = await exit;
      return code ?? signal!;
    },
  };
  return service;
}

/** @param name with its labels, exactly as exposed, such as nes_workers{state="ready"} */
export function valueOf(exposition: string, name: string): number | undefined {
  const line = exposition.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

/** Asks until the answer is yes; the time limit of the test is the limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((next) => setTimeout(next, 20));
}

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from './free-port.js';
import { until } from './service-process.js';
import { spawnEnding } from './spawn-ending.js';

/** A real redis-server that keeps nothing on disk, or, for jobs, every command. */
export class RedisServer {
  #child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly options: readonly string[],
  ) {}

  static async start(): Promise<RedisServer> {
    return RedisServer.#startWith(['--appendonly', 'no']);
  }

  /** Starts Redis with the settings for jobs in docker/compose.yaml. */
  static async startForJobs(maximumMemory = '256mb'): Promise<RedisServer> {
    const memory = ['--maxmemory', maximumMemory, '--maxmemory-policy', 'noeviction'];
    const directory = mkdtempSync(join(tmpdir(), 'redis-'));
    return RedisServer.#startWith(['--appendonly', 'yes', '--dir', directory, ...memory]);
  }

  /** Starts a node of a Redis Cluster that has no slots yet. */
  static async startCluster(): Promise<RedisServer> {
    const directory = mkdtempSync(join(tmpdir(), 'redis-'));
    const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())];
    return RedisServer.#startWith(['--appendonly', 'no', '--dir', directory, ...cluster]);
  }

  static async #startWith(options: readonly string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), options);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', ...this.options];
    this.#child = spawnEnding('redis-server', options, { stdio: 'ignore', cwd: tmpdir() });
    await until(() => accepts(this.port));
  }

  /** Without a chance to say goodbye. */
  async kill(): Promise<void> {
    if (this.#child === undefined) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
    this.#child = undefined;
  }

  /** Connections stay, answers stop. */
  freeze(): void {
    this.#child!.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child!.kill('SIGCONT');
  }
}

/** A real nginx with the configuration that is shipped, in front of replicas of the loopback. */
export class NginxServer {
  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
  ) {}

  /** @param changes of texts that the configuration holds exactly once, for tests that cannot wait as long as it does */
  static async start(
    replicaPorts: readonly number[],
    changes: Readonly<Record<string, string>> = {},
  ): Promise<NginxServer> {
    const port = await freePort();
    const prefix = mkdtempSync(join(tmpdir(), 'nginx-'));
    mkdirSync(join(prefix, 'logs'));
    const shipped = readFileSync(resolve('docker/nginx.conf'), 'utf8');
    // Sessions have an upstream of their own.
    const placed = replicaPorts.reduce(
      (text, replica, at) => text.replaceAll(`replica-${at + 1}:8080`, `127.0.0.1:${replica}`),
      shipped,
    );
    const all = {
      'listen 8080': `listen 127.0.0.1:${port}`,
      'listen [::]:8080 sndbuf=128k;': '',
      ...changes,
    };
    const replaced = Object.entries<string>(all).reduce(
      (text, change) => replaceOnce(text, ...change),
      placed,
    );
    const conf = replaced.replaceAll(' /tmp/', ` ${prefix}/`);
    // Workers of root would be "nobody", who cannot write below the prefix.
    const user = process.getuid!() === 0 ? 'user root;\n' : '';
    writeFileSync(join(prefix, 'nginx.conf'), `daemon off;\n${user}${conf}`);
    const args = ['-p', prefix, '-c', join(prefix, 'nginx.conf'), '-e', 'stderr'];
    const child = spawnEnding('nginx', args, { stdio: 'ignore' }, 'TERM');
    await until(() => accepts(port));
    return new NginxServer(port, child);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exit;
  }
}

function replaceOnce(text: string, what: string, by: string): string {
  if (text.split(what).length !== 2) throw new Error(`"${what}" must be in the configuration exactly once`);
  return text.replace(what, by);
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

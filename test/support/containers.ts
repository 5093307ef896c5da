/** Podman on this machine, for tests that build and run the files of docker/. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from './service-process.js';

const execute = promisify(execFile);
const OUTPUT_BYTES = 64 * 1024 * 1024;

/** The ulimits are podman's own that a machine with lower hard limits refuses; crun does not take hybrid cgroups. */
const CONFIGURATION = `
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=1000:1000"]
[engine]
runtime = "runc"
[network]
network_backend = "netavark"
`;

/** Options that an operator should give every container of ours. */
export const HARDENED = ['--read-only', '--cap-drop', 'all', '--security-opt', 'no-new-privileges'];

export interface ContainerState {
  readonly Config: {
    readonly User: string;
    readonly Cmd: readonly string[];
  };
  readonly HostConfig: { readonly Memory: number; readonly ReadonlyRootfs: boolean };
  readonly EffectiveCaps: readonly string[] | null;
  readonly RestartCount: number;
  readonly State: { readonly Status: string; readonly ExitCode: number };
  readonly NetworkSettings: {
    readonly IPAddress: string;
    readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>>;
  };
}

/** Everything that it creates has its name, so that it can remove all of it. */
export class ContainerEngine {
  readonly name = `nes-test-${process.pid}`;
  readonly folder = mkdtempSync(join(tmpdir(), 'containers-'));
  readonly environment: NodeJS.ProcessEnv;
  #containers = 0;

  constructor() {
    const configuration = join(this.folder, 'containers.conf');
    writeFileSync(configuration, CONFIGURATION);
    this.environment = { ...process.env, CONTAINERS_CONF: configuration };
  }

  /** @returns its standard output */
  async podman(...args: readonly string[]): Promise<string> {
    return this.#run('podman', args);
  }

  /** @returns its exit status */
  async status(...args: readonly string[]): Promise<number> {
    return this.podman(...args).then(
      () => 0,
      ({ code }: { code: number }) => code,
    );
  }

  /** Makes an image of a folder that holds a root file system. */
  async import(root: string, image: string): Promise<void> {
    const changes = ['ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt', 'CMD ["node"]'];
    await this.#run('bash', [
      '-o',
      'pipefail',
      '-c',
      'tar -C "$0" -c . | podman import "$@"',
      root,
      ...changes.flatMap((change) => ['--change', change]),
      '-',
      image,
    ]);
  }

  /** @returns the name of the image */
  async build(target: string, args: readonly string[], context = '.'): Promise<string> {
    const image = `localhost/${this.name}:${target}`;
    // The OCI format, podman's default, has no HEALTHCHECK.
    const format = ['--format', 'docker', '--isolation', 'chroot', '--network', 'host'];
    await this.podman('build', ...format, ...args, '--tag', image, context);
    return image;
  }

  async start(
    image: string,
    options: readonly string[],
    command: readonly string[] = [],
  ): Promise<Container> {
    const name = `${this.name}-${++this.#containers}`;
    await this.podman('run', '--detach', '--name', name, ...options, image, ...command);
    return new Container(this, name);
  }

  async compose(...args: readonly string[]): Promise<string> {
    return this.#run('podman-compose', ['-p', this.name, ...args]);
  }

  /** Removes every container, pod, network, secret and image of this engine's name. */
  async dispose(): Promise<void> {
    const named = (all: string) => all.split('\n').filter((each) => each.includes(this.name));
    const remove = async (kind: string, names: readonly string[], ...options: readonly string[]) => {
      if (names.length > 0) await this.podman(kind, 'rm', ...options, ...names);
    };
    const pods = await this.podman('pod', 'ls', '--format', '{{.Name}}');
    await remove('pod', named(pods), '--force', '--time', '0');
    const containers = await this.podman('container', 'ls', '--all', '--format', '{{.Names}}');
    await remove('container', named(containers), '--force', '--time', '0', '--volumes');
    await remove('network', named(await this.podman('network', 'ls', '--format', '{{.Name}}')));
    await remove('secret', named(await this.podman('secret', 'ls', '--format', '{{.Name}}')));
    const images = await this.podman('image', 'ls', '--format', '{{.Repository}}:{{.Tag}}');
    await remove('image', named(images), '--force');
    rmSync(this.folder, { recursive: true, force: true });
    // Podman leaves this file if a container ran out of memory.
    rmSync('oom', { force: true });
  }

  async #run(program: string, args: readonly string[]): Promise<string> {
    const { stdout } = await execute(program, args, { env: this.environment, maxBuffer: OUTPUT_BYTES });
    return stdout.trim();
  }
}

export class Container {
  constructor(
    private readonly engine: ContainerEngine,
    readonly name: string,
  ) {}

  async inspect(): Promise<ContainerState> {
    return (JSON.parse(await this.engine.podman('container', 'inspect', this.name)) as [ContainerState])[0];
  }

  /** URL at which this machine reaches it, on its own network or on the one that is named. */
  async url(port: number, network?: string): Promise<string> {
    const { NetworkSettings } = await this.inspect();
    const { IPAddress } = network === undefined ? NetworkSettings : NetworkSettings.Networks[network]!;
    return `http://${IPAddress}:${port}`;
  }

  async untilReady(port = 8080, network?: string): Promise<string> {
    const url = await this.url(port, network);
    await until(async () => {
      if ((await this.inspect()).State.Status === 'exited') throw new Error(await this.log());
      return (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true;
    });
    return url;
  }

  /** Runs a program of Node inside it. */
  async evaluate(program: string): Promise<string> {
    return this.engine.podman('exec', this.name, 'node', '--input-type=module', '--eval', program);
  }

  /** @returns the exit status of its HEALTHCHECK */
  async health(): Promise<number> {
    return this.engine.status('healthcheck', 'run', this.name);
  }

  /** SIGTERM, and SIGKILL twenty seconds later. @returns its exit status */
  async stop(): Promise<number> {
    await this.engine.podman('stop', '--time', '20', this.name);
    return (await this.inspect()).State.ExitCode;
  }

  async log(): Promise<string> {
    return this.engine.podman('logs', this.name);
  }
}

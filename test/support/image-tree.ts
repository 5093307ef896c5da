/**
 * What Docker would make of a Dockerfile, as far as that is possible without Docker: each stage is a folder, COPY
 * copies, RUN runs. Either every stage begins as an empty folder and the programs of this machine are used (clean),
 * or as a fresh Debian with Node in which the commands run changed-root (debian; needs root and debootstrap).
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, resolve } from 'node:path';
import { assignments, filledIn, type Stage, type Step } from './dockerfile.js';

export type Kind = 'clean' | 'debian';

/** What HTTP clients in the tree need of this machine to reach the registries it uses. */
const PASSED_ON = /^(?:https?_proxy|no_proxy|npm_config_registry|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i;
const SUITE = 'trixie';

export class ImageTree {
  readonly #environment: Record<string, string> = {};
  #workdir = '/';
  #user = '0:0';
  #command: readonly string[] = [];
  #healthcheck: readonly string[] = [];

  private constructor(
    readonly root: string,
    private readonly kind: Kind,
  ) {}

  /** @param base a tree of the same kind that this one begins as */
  static begin(folder: string, stage: Stage, kind: Kind, base: ImageTree | string | undefined): ImageTree {
    const tree = new ImageTree(join(folder, stage.name), kind);
    const from = base instanceof ImageTree ? base.root : base;
    if (from === undefined) mkdirSync(tree.root);
    else execFileSync('cp', ['-a', from, tree.root]);
    if (base instanceof ImageTree) {
      Object.assign(tree.#environment, base.#environment);
      tree.#workdir = base.#workdir;
      tree.#command = base.#command;
      tree.#healthcheck = base.#healthcheck;
    }
    return tree;
  }

  /** @returns why the step was not tried; undefined where it was */
  apply(step: Step, context: { folder: string; files: readonly string[] }, trees: Map<string, ImageTree>) {
    switch (step.keyword) {
      case 'WORKDIR':
        this.#workdir = posix.resolve(this.#workdir, step.text);
        mkdirSync(this.#inside('.'), { recursive: true });
        return undefined;
      case 'ARG':
      case 'ENV':
        for (const [name, value] of Object.entries(assignments(step.words))) {
          this.#environment[name] = filledIn(value, this.#environment);
        }
        return undefined;
      case 'USER':
        this.#user = step.text;
        return undefined;
      case 'CMD':
        this.#command = step.list!;
        return undefined;
      case 'HEALTHCHECK':
        this.#healthcheck = step.list!;
        return undefined;
      case 'EXPOSE':
        return undefined;
      case 'COPY':
        return this.#copy(step, context, trees);
      case 'RUN':
        return this.#run(step.text);
      default:
        throw new Error(`${step.keyword} is not known here; teach ImageTree what Docker does`);
    }
  }

  /** Starts CMD as the user of the image, who can write nowhere. */
  start(variables: Record<string, string>): ChildProcess {
    this.#takeRights();
    return this.#spawn(this.#command, variables);
  }

  /** @returns exit status of HEALTHCHECK */
  async health(variables: Record<string, string>): Promise<number | null> {
    const child = this.#spawn(this.#healthcheck, variables);
    return new Promise((done) => child.on('exit', done));
  }

  remove(): void {
    if (process.getuid!() !== 0) execFileSync('chmod', ['-R', 'u+w', this.root]);
    rmSync(this.root, { recursive: true, force: true });
  }

  #copy(
    step: Step,
    context: { folder: string; files: readonly string[] },
    trees: Map<string, ImageTree>,
  ): undefined {
    const sources = step.words.slice(0, -1);
    const target = step.words.at(-1)!;
    const stage = step.flags['from'];
    for (const source of sources) {
      const from = stage === undefined ? join(context.folder, source) : trees.get(stage)!.#inside(source);
      const isFolder = statSync(from).isDirectory();
      // Into the target where that is a folder; what a folder holds and not the folder itself, as Docker does.
      const to = this.#inside(
        !isFolder && target.endsWith('/') ? posix.join(target, posix.basename(source)) : target,
      );
      mkdirSync(dirname(to), { recursive: true });
      if (stage !== undefined || !isFolder) {
        cpSync(from, to, { recursive: true, verbatimSymlinks: true });
        continue;
      }
      for (const file of context.files.filter((each) => each.startsWith(`${source}/`))) {
        cpSync(join(context.folder, file), join(to, file.slice(source.length + 1)), { recursive: true });
      }
    }
    return undefined;
  }

  #run(command: string): string | undefined {
    if (this.kind === 'clean' && /\bapt-get\b/.test(command)) return 'would install into this machine';
    if (this.kind === 'clean') {
      execFileSync('sh', ['-c', command], {
        cwd: this.#inside('.'),
        env: {
          ...this.#passedOn(),
          PATH: process.env['PATH'],
          HOME: join(this.root, '..'),
          ...this.#environment,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    } else {
      const inWorkdir = `cd ${this.#workdir} && ${command}`;
      execFileSync('chroot', [this.root, '/bin/sh', '-c', inWorkdir], {
        env: {
          ...this.#passedOn(),
          PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          HOME: '/root',
          ...this.#environment,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    }
    return undefined;
  }

  #spawn([program, ...args]: readonly string[], variables: Record<string, string>): ChildProcess {
    const environment = { ...this.#environment, ...variables };
    if (this.kind === 'debian') {
      const inWorkdir = ['/bin/sh', '-c', `cd ${this.#workdir} && exec "$@"`, 'sh', program!, ...args];
      return spawn('chroot', [`--userspec=${this.#user}`, this.root, ...inWorkdir], {
        env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/bin', ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    }
    const [uid, gid] = this.#user.split(':').map(Number);
    return spawn(program === 'node' ? process.execPath : program!, args, {
      cwd: this.#inside('.'),
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(process.getuid!() === 0 && { uid, gid }),
    });
  }

  #takeRights(): void {
    // But for devices, which are written to without being changed.
    const all = readdirSync(this.root).filter((name) => !['dev', 'proc', 'sys'].includes(name));
    execFileSync('chmod', ['a-w', this.root]);
    execFileSync('chmod', ['-R', 'a-w', ...all.map((name) => join(this.root, name))]);
  }

  /** Where a path of the image lies on this machine. */
  #inside(path: string): string {
    return join(this.root, posix.resolve('/', this.#workdir, path));
  }

  #passedOn(): Record<string, string | undefined> {
    return Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.test(name)));
  }
}

/** @returns a folder of its own that every user may look into */
export function treeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  chmodSync(folder, 0o755);
  return folder;
}

/** A fresh Debian with the Node of this process or of another folder, as the base image has it below /usr/local. */
export function debianWithNode(folder: string, node: string): string {
  const root = join(folder, 'debian');
  execFileSync('debootstrap', ['--variant=minbase', '--include=ca-certificates', SUITE, root], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  cpSync(node, join(root, 'usr/local/bin/node'));
  const npm = resolve(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm');
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true, verbatimSymlinks: true });
  execFileSync('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm')]);
  execFileSync('ln', ['-s', '../lib/node_modules/npm/bin/npx-cli.js', join(root, 'usr/local/bin/npx')]);
  // Of this machine: how registries are reached, and whom to believe that it is them.
  for (const file of ['etc/resolv.conf', 'etc/hosts', 'etc/ssl/certs/ca-certificates.crt', 'root/.npmrc']) {
    if (existsSync(`/${file}`)) cpSync(`/${file}`, join(root, file), { dereference: true });
  }
  for (const file of readdirSync('/etc/apt/apt.conf.d').filter((name) => /proxy/i.test(name))) {
    cpSync(`/etc/apt/apt.conf.d/${file}`, join(root, 'etc/apt/apt.conf.d', file));
  }
  return root;
}

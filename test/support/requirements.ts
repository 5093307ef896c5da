import { existsSync, mkdtempSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { networkInterfaces, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Data and programs that a test may need beyond Node. If one is missing, the test is skipped visibly; the
 * environment variable REQUIRE (a comma list of their names) turns such skips into failures.
 */
export const TABLES_DIR = resolve(process.env['FLYWIRE_TABLES'] ?? '../shared/flywire-783');
/** Spikes of Brian 2, and the tables that they were computed on: fewer pairs than TABLES_DIR has. */
export const GOLDEN_DIR = resolve(process.env['FLYWIRE_GOLDEN'] ?? '../shared/golden');
export const GOLDEN_TABLES_DIR = resolve(
  process.env['FLYWIRE_GOLDEN_TABLES'] ?? '../shared/flywire-783-partial',
);

/** A part of the connectivity file of Shiu et al. 2024, with its list of neurons. */
export const SHIU_DIR = resolve(process.env['SHIU_FILES'] ?? '../shared/shiu-783-subset');

/** Executables of Node of other versions, colon-separated: answers must not depend on which one runs. */
export const OTHER_NODES = (process.env['OTHER_NODES'] ?? '').split(':').filter(Boolean);

/** Debian's packages belong to Debian's Python, which need not be the first one on the path. */
const DEBIAN_PYTHON = '/usr/bin/python3';
/** A Python with pandas. */
export const PANDAS = process.env['PANDAS_PYTHON'] ?? DEBIAN_PYTHON;
/** A Python with pyarrow, which Debian does not package: a virtual environment's, or the first on the path. */
export const PYARROW = process.env['PYARROW_PYTHON'] ?? 'python3';
/** A Python with Brian 2, which Debian packages; python3 if there is none. */
export function pythonWithBrian(): string {
  return ['python3', DEBIAN_PYTHON].find((python) => imports(python, 'brian2')) ?? 'python3';
}

const present = {
  tables: () => existsSync(`${TABLES_DIR}/connections.csv.gz`),
  golden: () => existsSync(`${GOLDEN_TABLES_DIR}/connections.csv.gz`) && existsSync(GOLDEN_DIR),
  shiu: () => existsSync(`${SHIU_DIR}/connectivity.parquet`),
  redis: () => onPath('redis-server'),
  nginx: () => onPath('nginx'),
  promtool: () => onPath('promtool'),
  chromium: () => onPath('chromium'),
  'other-nodes': () => OTHER_NODES.length > 0,
  python: () => onPath('python3'),
  httr2: hasHttr2,
  ipv6: () =>
    Object.values(networkInterfaces()).some((addresses) =>
      addresses?.some(({ family }) => family === 'IPv6'),
    ),
  podman: hasPodman,
  pandas: () => imports(PANDAS, 'pandas'),
  brian: () => imports(pythonWithBrian(), 'brian2'),
  pyarrow: () => imports(PYARROW, 'pyarrow'),
  mount: canMount,
  gpu: hasGpuAdapter,
} as const;

export type Requirement = keyof typeof present;

const required = requirementsIn(process.env['REQUIRE'] ?? '');

/** @throws Error for a name that no test asks for: a misspelt one would demand nothing. */
export function requirementsIn(list: string): string[] {
  const names = list.split(',').filter(Boolean);
  const unknown = names.filter((name) => !Object.hasOwn(present, name));
  if (unknown.length > 0) {
    throw new Error(`REQUIRE knows ${Object.keys(present).join(', ')}; found ${unknown.join(', ')}`);
  }
  return names;
}

/** A describe block that runs only if all its requirements are met. */
export function describeWith(needs: readonly Requirement[], name: string, body: () => void): void {
  const missing = needs.filter((need) => !present[need]());
  const demanded = missing.filter((need) => required.includes(need));
  if (missing.length === 0) {
    describe(name, body);
  } else if (demanded.length > 0) {
    it(name, () => {
      throw new Error(`REQUIRE asks for ${demanded.join(', ')}, which this machine does not have`);
    });
  } else {
    describe.skip(`${name} (needs ${missing.join(', ')})`, body); // This machine lacks them; REQUIRE makes it a failure.
  }
}

/** Checks for all that builds and runs containers: limits of memory need root, names of containers aardvark-dns. */
function hasPodman(): boolean {
  const programs = ['podman', 'runc', 'debootstrap', 'podman-compose', 'catatonit'];
  return process.getuid!() === 0 && programs.every(onPath) && existsSync('/usr/lib/podman/aardvark-dns');
}

/** For a disk that is full or read-only. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder]);
    return true;
  } catch {
    return false;
  }
}

function imports(python: string, module: string): boolean {
  try {
    execFileSync(python, ['-c', `import ${module}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** R with the package for HTTP that the guide uses. */
function hasHttr2(): boolean {
  try {
    execFileSync('Rscript', ['-e', 'library(httr2)'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Any adapter will do, a software one too. Asked in a process of its own, because a driver may take it down. */
function hasGpuAdapter(): boolean {
  const ask =
    "import { create } from 'webgpu'; process.exit((await create([]).requestAdapter()) === null ? 1 : 0);";
  try {
    execFileSync(process.execPath, ['--input-type=module', '--eval', ask], {
      stdio: 'ignore',
      timeout: 30_000,
    });
    return true;
  } catch {
    return false;
  }
}

function onPath(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

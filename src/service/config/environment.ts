/**
 * The environment, read once, checked and frozen. Nothing else in the service knows a variable of process.env; the name of
 * a variable, its default, what it allows and its meaning stand here alone.
 */
import { availableParallelism } from 'node:os';
import { isIP } from 'node:net';
import { CodedError, describeValue } from '../../errors.js';
import { allowedBy, isAllowedBy } from '../../schema/allowed-values.js';
import { integer, oneOf, text, type Schema, type Static } from '../../schema/json-schema.js';
import { isRedisUrl, withoutPassword } from './redis-url.js';

const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MEBIBYTE = 1024 * 1024;

/** Names of networks in TRUST_PROXY. */
const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

/** Schema of a variable. */
interface Variable extends Schema {
  readonly default: string | number;
  /** The part of a refused text that a message may show. */
  readonly shown?: (text: string) => unknown;
}

const whole = (initial: number, minimum: number, maximum: number) =>
  integer(undefined, { default: initial, minimum, maximum });
const word = <const V extends string>(initial: NoInfer<V>, values: readonly V[]) =>
  oneOf(undefined, values, { default: initial });
const free = (initial: string, check: Partial<Variable> = {}) =>
  text(undefined, { ...check, default: initial });

const REDIS_URL: Partial<Variable> = {
  allowed: 'a URL that begins with redis:// or rediss://, with no parameter but db, family and password',
  accepts: isRedisUrl,
  shown: withoutPassword,
};
const PROXIES: Partial<Variable> = {
  allowed: `a comma-separated list of addresses, networks (10.0.0.0/8, not /0) or ${NAMED_NETWORKS.join(', ')}`,
  accepts: (list) => entriesOf(String(list)).every(isProxy),
  shown: (list) => entriesOf(list).find((entry) => !isProxy(entry)),
};
const WEB_URL: Partial<Variable> = {
  allowed: 'a URL that begins with http:// or https://, without user, query or fragment',
  accepts: isPublicUrl,
};
const CORES_BUT_ONE = Math.max(2, availableParallelism() - 1);

/** Each variable and its meaning. */
const VARIABLES = {
  HOST: [free('0.0.0.0'), 'address of the API'],
  PORT: [whole(8080, 0, 65535), 'port of the API; 0 takes a free port'],
  METRICS_HOST: [free('127.0.0.1'), 'address of the Prometheus metrics; 0.0.0.0 in the container image'],
  METRICS_PORT: [whole(9464, 0, 65535), 'port of the Prometheus metrics; 0 turns them off'],
  CONNECTOME_FILE: [free('data/default.connectome'), 'connectome to serve'],
  WORKERS: [
    whole(CORES_BUT_ONE, 1, 1024),
    'CPU workers; by default one fewer than the cores of the machine, at least 2',
  ],
  BACKEND: [word('auto', ['auto', 'cpu', 'gpu']), 'simulation backend: cpu, gpu, or auto for the faster one'],
  GPU_ALLOW_SOFTWARE: [whole(0, 0, 1), '1 accepts a software GPU, for tests'],
  RATE_LIMIT: [whole(30, 0, 1_000_000), 'runs per client and minute; 0 turns the limit off'],
  TRUST_PROXY: [free('', PROXIES), 'proxies whose X-Forwarded-For, -Host and -Proto are trusted'],
  PUBLIC_URL: [
    free('', WEB_URL),
    'base URL in the OpenAPI description; by default the address of the request',
  ],
  QUEUE_LIMIT: [whole(64, 1, 1_000_000), 'runs that may wait; further ones are answered with 503'],
  RUN_TIMEOUT_MS: [
    whole(30_000, 100, MAX_TIMEOUT_MS),
    'time limit of a run from its complete arrival; then 503',
  ],
  SHUTDOWN_MS: [whole(30_000, 0, MAX_TIMEOUT_MS), 'time to finish accepted runs when the service stops'],
  CACHE_BYTES: [whole(64 * MEBIBYTE, 0, Number.MAX_SAFE_INTEGER), 'size of the result cache; 0 turns it off'],
  REDIS_URL: [free('', REDIS_URL), 'shares the limits of runs and brain seconds between replicas'],
  EXPERIMENT_BRAIN_SECONDS: [
    whole(600, 1, 1_000_000),
    'brain seconds per open experiment: conditions x trials x duration',
  ],
  EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: [
    whole(600, 0, 1_000_000),
    'price of experiments per client and minute; 0 turns the limit off',
  ],
  EXPERIMENTS_AT_ONCE: [
    whole(16, 1, 1_000),
    'open experiments of all clients at once; the last quarter for clients that have none',
  ],
  REDIS_JOBS_URL: [
    free('', REDIS_URL),
    'shares jobs between replicas; without it they are held in the memory of the process',
  ],
  ROLE: [
    word('service', ['service', 'worker']),
    'worker computes chunks of jobs with every worker, for processes that get no requests',
  ],
  JOBS_AT_ONCE: [
    whole(64, 1, 10_000),
    'unfinished jobs of all clients; the last quarter for clients that have none',
  ],
  JOB_BRAIN_SECONDS_PER_CLIENT: [
    whole(300_000, 1, 1_000_000_000),
    'price of what is left of the unfinished jobs of a client, in brain seconds',
  ],
  JOBS_KEPT_BYTES: [
    whole(256 * MEBIBYTE, 4_096, 64 * 1024 * MEBIBYTE),
    'compressed results of all jobs in memory; beyond it, the oldest of the client with most is removed',
  ],
  JOBS_KEPT_S: [whole(86_400, 1, 2_000_000), 'seconds for which a job is kept after its end'],
  LOG_LEVEL: [
    word('info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    'log level, from fatal to trace, or silent',
  ],
} as const satisfies Readonly<Record<string, readonly [Variable, meaning: string]>>;

type Values = { readonly [Name in keyof typeof VARIABLES]: Static<(typeof VARIABLES)[Name][0]> };

/** Values of all variables; a class, because Nest provides it by its constructor. */
export class Environment extends (Object as unknown as new () => Values) {}

const entries = Object.entries<readonly [Variable, meaning: string]>(VARIABLES);

export const MEANINGS = Object.fromEntries(entries.map(([name, [, meaning]]) => [name, meaning])) as Readonly<
  Record<keyof Environment, string>
>;

/** Variables of earlier versions and what holds instead: a limit that is ignored would be taken for one that holds. */
const GONE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'EXPERIMENT_BODY_BYTES',
      'EXPERIMENT_IDS',
      'EXPERIMENT_SELECTED_NEURONS',
      'EXPERIMENT_INPUT_EVENTS',
      'EXPERIMENT_SYNAPTIC_EVENTS',
      'EXPERIMENT_RATES',
      'EXPERIMENT_JSON_SPIKES',
      'EXPERIMENT_TABLE_SPIKES',
      'JOBS_KEPT',
    ].map((name) => [name, 'its limit is fixed now, and docs/operations.md lists it']),
  ),
  EXPERIMENTS_PER_CLIENT: 'a client may have a quarter of EXPERIMENTS_AT_ONCE',
  JOBS_PER_CLIENT: 'a client may have a sixteenth of JOBS_AT_ONCE',
  JOB_RESULT_BYTES: 'a job may have a quarter of JOBS_KEPT_BYTES',
};

/**
 * @param variables what is set; an empty value counts as not set
 * @throws CodedError CONFIG_INVALID that lists every variable with a value that is not allowed
 */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const problems: string[] = [];
  const environment: Record<string, string | number> = new Environment() as never;
  for (const [name, [variable]] of entries) {
    const set = variables[name] ?? '';
    // In decimal digits only: other forms that Number() accepts are typing errors.
    const value = variable.type === 'integer' && /^-?\d{1,16}$/.test(set) ? Number(set) : set;
    if (set === '') environment[name] = variable.default;
    else if (isAllowedBy(variable, value)) environment[name] = value;
    else {
      const got = variable.shown === undefined ? value : variable.shown(set);
      problems.push(`${name} must be ${allowedBy(variable)}, got ${describeValue(got)}`);
    }
  }
  for (const [name, instead] of Object.entries(GONE)) {
    if ((variables[name] ?? '') !== '') problems.push(`${name} must not be set: ${instead}`);
  }
  if (environment['PORT'] !== 0 && environment['PORT'] === environment['METRICS_PORT']) {
    problems.push(`METRICS_PORT must differ from PORT, got ${environment['METRICS_PORT']} for both`);
  }
  if (problems.length > 0) {
    throw new CodedError('CONFIG_INVALID', `The environment cannot be used: ${problems.join('; ')}.`);
  }
  return Object.freeze(environment) as unknown as Environment;
}

function isPublicUrl(value: unknown): boolean {
  // Parts beyond scheme, host, port and path would end up in the middle of each operation's address.
  const url = String(value);
  return /^https?:\/\/[^\s/?#@\\]+[^\s?#@\\]*$/i.test(url) && URL.canParse(url);
}

function entriesOf(list: string): string[] {
  return list.split(',').map((entry) => entry.trim());
}

function isProxy(entry: string): boolean {
  return NAMED_NETWORKS.includes(entry) || isAddressOrNetwork(entry);
}

function isAddressOrNetwork(entry: string): boolean {
  const [address, prefix, ...rest] = entry.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address ?? '')]!;
  return (
    bits > 0 &&
    rest.length === 0 &&
    // A /0 would trust every client, so Fastify refuses it.
    (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= bits))
  );
}

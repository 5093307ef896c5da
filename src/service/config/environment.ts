/**
 * The environment variables, read once, checked and frozen. Only this file reads their names, defaults, allowed
 * values and meanings; the rest of the service uses Environment.
 */
import { isIP } from 'node:net';
import { CodedError, describeValue } from '../../engine/errors.js';
import { allowedBy, isAllowedBy } from '../../engine/schema/allowed-values.js';
import { integer, oneOf, text, type Schema, type Static } from '../../engine/schema/json-schema.js';
import { DEFAULT_WORKERS } from './default-workers.js';
import { EVERY_ADDRESS } from './every-address.js';
import { isRedisUrl, withoutPassword } from '../redis/redis-url.js';
import { mapped } from '../../engine/mapped.js';
import { own } from '../../engine/own.js';

const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MEBIBYTE = 1024 * 1024;

/** Names of networks in TRUST_PROXY. */
const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

/** Schema of a variable. */
interface Variable extends Schema {
  readonly default: string | number;
  /** Returns the part of a refused value that a message may contain. */
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

/** Each variable and its meaning. */
const VARIABLES = {
  HOST: [free(EVERY_ADDRESS), 'address of the API; :: is every one, of IPv4 and of IPv6, if there is any'],
  PORT: [whole(8080, 0, 65535), 'port of the API; 0 takes a free port'],
  METRICS_HOST: [free('127.0.0.1'), 'address of the Prometheus metrics; :: in the container image'],
  METRICS_PORT: [whole(9464, 0, 65535), 'port of the Prometheus metrics; 0 turns them off'],
  CONNECTOME_FILE: [free('data/default.connectome'), 'connectome to serve'],
  WORKERS: [
    whole(DEFAULT_WORKERS.workers, 1, 1024),
    'CPU workers; by default one fewer than the cores, at least 2, or as many as the memory allows',
  ],
  BACKEND: [word('cpu', ['cpu', 'gpu']), 'simulation backend; gpu needs an adapter'],
  GPU_ALLOW_SOFTWARE: [whole(0, 0, 1), '1 accepts a software GPU, for tests'],
  RATE_LIMIT: [whole(30, 0, 1_000_000), 'runs per client and minute; 0 turns the limit off'],
  TRUST_PROXY: [free('', PROXIES), 'proxies whose X-Forwarded-For, -Host, -Proto and -Prefix are trusted'],
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
    'shares jobs between replicas; without it they are stored in JOBS_PATH',
  ],
  JOBS_PATH: [
    free('data/jobs'),
    'folder of jobs, of one process; its parent must exist; unused with REDIS_JOBS_URL',
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
    'remaining price of the unfinished jobs of a client, in brain seconds',
  ],
  JOBS_KEPT_BYTES: [
    whole(256 * MEBIBYTE, 4_096, 64 * 1024 * MEBIBYTE),
    'compressed results of all jobs on disk; beyond it, the oldest of the client with most is removed',
  ],
  JOBS_KEPT_S: [whole(86_400, 1, 2_000_000), 'seconds for which a job is kept after its end'],
  LOG_LEVEL: [
    word('info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    'log level, from fatal to trace, or silent',
  ],
} as const satisfies Readonly<Record<string, readonly [Variable, meaning: string]>>;

type Values = { readonly [Name in keyof typeof VARIABLES]: Static<(typeof VARIABLES)[Name][0]> };

/** Values of all variables. It is a class because Nest identifies providers by their class. */
export class Environment extends (Object as unknown as new () => Values) {}

export const MEANINGS = mapped(VARIABLES, ([, meaning]: readonly [Variable, meaning: string]) => meaning);

const setIn = new WeakMap<Environment, ReadonlySet<string>>();

/** True if a variable was set, even to its default. */
export function isSet(environment: Environment, name: keyof Environment): boolean {
  return setIn.get(environment)?.has(name) === true;
}

/**
 * @param variables the variables that are set; an empty value counts as not set
 * @throws CodedError CONFIG_INVALID that lists every variable with a value that is not allowed
 */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const problems: string[] = [];
  const setNames = new Set<string>();
  const environment: Record<string, string | number> = new Environment() as never;
  for (const [name, [variable]] of Object.entries<readonly [Variable, string]>(VARIABLES)) {
    const set = own(variables, name) ?? '';
    // Decimal digits only: other forms that Number() accepts are probably typing errors.
    const value = variable.type === 'integer' && /^-?\d{1,16}$/.test(set) ? Number(set) : set;
    if (set !== '') setNames.add(name);
    if (set === '') environment[name] = variable.default;
    else if (isAllowedBy(variable, value)) environment[name] = value;
    else {
      const got = variable.shown === undefined ? value : variable.shown(set);
      problems.push(`${name} must be ${allowedBy(variable)}, got ${describeValue(got)}`);
    }
  }
  // The metrics leave their default to an API that was given it.
  const isChosen = environment['PORT'] !== 0 && setNames.has('METRICS_PORT');
  if (isChosen && environment['PORT'] === environment['METRICS_PORT']) {
    problems.push(`METRICS_PORT must differ from PORT, got ${environment['METRICS_PORT']} for both`);
  }
  if (problems.length > 0) {
    throw new CodedError('CONFIG_INVALID', `The environment cannot be used: ${problems.join('; ')}.`);
  }
  const frozen = Object.freeze(environment) as unknown as Environment;
  setIn.set(frozen, setNames);
  return frozen;
}

function isPublicUrl(value: unknown): boolean {
  // A query or fragment would end up in the middle of each operation's URL.
  const url = String(value);
  return /^https?:\/\/[^\s/?#@\\]+[^\s?#@\\]*$/i.test(url) && URL.canParse(url);
}

function entriesOf(list: string): string[] {
  return list.split(',').map((entry) => entry.trim());
}

function isProxy(entry: string): boolean {
  if (NAMED_NETWORKS.includes(entry)) return true;
  const [address, prefix, ...rest] = entry.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address ?? '')]!;
  return (
    bits > 0 &&
    rest.length === 0 &&
    // A /0 would trust every client, and Fastify refuses it.
    (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= bits))
  );
}

/**
 * The environment, read once, checked and frozen. Nothing else in the service looks at process.env; what a
 * variable is called, allows and means stands here alone.
 */
import { availableParallelism } from 'node:os';
import { isIP } from 'node:net';
import { plainToInstance, Transform } from 'class-transformer';
import { IsIn, IsInt, IsNotEmpty, Max, Min, validateSync, ValidateBy, ValidateIf } from 'class-validator';
import { CodedError, describeValue } from '../errors.js';
import { isRedisUrl, withoutPassword } from './redis-url.js';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export const BACKENDS = ['auto', 'cpu', 'gpu'] as const;
export const ROLES = ['service', 'worker'] as const;
const LARGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** Names of networks in TRUST_PROXY. */
const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

export class Environment {
  @IsNotEmpty({ message: must('a host name or an address to listen on') })
  HOST = '0.0.0.0';

  @WholeNumber(0, 65535)
  PORT = 8080;

  @IsNotEmpty({ message: must('a host name or an address to listen on') })
  METRICS_HOST = '127.0.0.1';

  @WholeNumber(0, 65535)
  METRICS_PORT = 9464;

  @IsNotEmpty({ message: must('the path of a connectome file') })
  CONNECTOME_FILE = 'data/default.connectome';

  @WholeNumber(1, 1024)
  WORKERS = Math.max(2, availableParallelism() - 1);

  @OneOf(BACKENDS)
  BACKEND: (typeof BACKENDS)[number] = 'auto';

  @WholeNumber(0, 1)
  GPU_ALLOW_SOFTWARE = 0;

  @WholeNumber(0, 1_000_000)
  RATE_LIMIT = 30;

  @ValidateBy(
    { name: 'isProxyList', validator: { validate: isProxyList } },
    {
      message: ({ property, value }) =>
        must(
          `a comma-separated list of addresses, networks (10.0.0.0/8, not /0) or ${NAMED_NETWORKS.join(', ')}`,
        )({
          property,
          value: entriesOf(value).find((entry) => !isProxy(entry)),
        }),
    },
  )
  TRUST_PROXY = '';

  @ValidateIf((_, value) => value !== '')
  @ValidateBy(
    { name: 'isPublicUrl', validator: { validate: isPublicUrl } },
    {
      message: must('a URL that begins with http:// or https://, without user, query or fragment'),
    },
  )
  PUBLIC_URL = '';

  @WholeNumber(1, 1_000_000)
  QUEUE_LIMIT = 64;

  @WholeNumber(100, LARGEST_TIMEOUT_MS)
  RUN_TIMEOUT_MS = 30_000;

  @WholeNumber(0, LARGEST_TIMEOUT_MS)
  SHUTDOWN_MS = 30_000;

  @WholeNumber(0, Number.MAX_SAFE_INTEGER)
  CACHE_BYTES = 64 * 1024 * 1024;

  @RedisUrl()
  REDIS_URL = '';

  @WholeNumber(1, 1_000_000)
  EXPERIMENT_BRAIN_SECONDS = 600;

  @WholeNumber(0, 1_000_000)
  EXPERIMENT_BRAIN_SECONDS_PER_MINUTE = 600;

  @WholeNumber(1, 1_000_000_000)
  EXPERIMENT_INPUT_EVENTS = 2_000_000;

  @WholeNumber(1, 4_000_000_000)
  EXPERIMENT_SYNAPTIC_EVENTS = 50_000_000;

  @WholeNumber(1, 1_000_000)
  EXPERIMENT_IDS = 10_000;

  @WholeNumber(1, 1_000_000_000)
  EXPERIMENT_SELECTED_NEURONS = 1_000_000;

  @WholeNumber(1_024, 64 * 1024 * 1024)
  EXPERIMENT_BODY_BYTES = 256 * 1024;

  @WholeNumber(0, 10_000_000)
  EXPERIMENT_JSON_SPIKES = 200_000;

  @WholeNumber(0, 100_000_000)
  EXPERIMENT_TABLE_SPIKES = 2_000_000;

  @WholeNumber(1, 1_000_000_000)
  EXPERIMENT_RATES = 10_000_000;

  @WholeNumber(1, 1_000)
  EXPERIMENTS_PER_CLIENT = 4;

  @WholeNumber(1, 1_000)
  EXPERIMENTS_AT_ONCE = 16;

  @RedisUrl()
  REDIS_JOBS_URL = '';

  @OneOf(ROLES)
  ROLE: (typeof ROLES)[number] = 'service';

  @WholeNumber(1, 1_000)
  JOBS_PER_CLIENT = 4;

  @WholeNumber(1, 10_000)
  JOBS_AT_ONCE = 64;

  @WholeNumber(1, 1_000_000_000)
  JOB_BRAIN_SECONDS_PER_CLIENT = 300_000;

  @WholeNumber(1_024, 1024 * 1024 * 1024)
  JOB_RESULT_BYTES = 64 * 1024 * 1024;

  @WholeNumber(1, 10_000)
  JOBS_KEPT = 200;

  @WholeNumber(1_024, 64 * 1024 * 1024 * 1024)
  JOBS_KEPT_BYTES = 256 * 1024 * 1024;

  @WholeNumber(1, 2_000_000)
  JOBS_KEPT_S = 86_400;

  @OneOf(LOG_LEVELS)
  LOG_LEVEL: (typeof LOG_LEVELS)[number] = 'info';
}

export const MEANINGS: Readonly<Record<keyof Environment, string>> = {
  HOST: 'address of the API',
  PORT: 'port of the API; 0 takes a free port',
  METRICS_HOST: 'address of the Prometheus metrics; 0.0.0.0 in the container image',
  METRICS_PORT: 'port of the Prometheus metrics; 0 turns them off',
  CONNECTOME_FILE: 'connectome to serve',
  WORKERS: 'CPU workers; by default one fewer than the cores of the machine, at least 2',
  BACKEND: 'simulation backend: cpu, gpu, or auto for the faster one',
  GPU_ALLOW_SOFTWARE: '1 accepts a software GPU, for tests',
  RATE_LIMIT: 'runs per client and minute; 0 turns the limit off',
  TRUST_PROXY: 'proxies whose X-Forwarded-For, -Host and -Proto are trusted',
  PUBLIC_URL: 'base URL in the OpenAPI description; by default the address of the request',
  QUEUE_LIMIT: 'runs that may wait; further ones are answered with 503',
  RUN_TIMEOUT_MS: 'time limit of a run from its complete arrival; then 503',
  SHUTDOWN_MS: 'time to finish accepted runs when the service stops',
  CACHE_BYTES: 'size of the result cache; 0 turns it off',
  REDIS_URL: 'shares the limits of runs and brain seconds between replicas',
  EXPERIMENT_BRAIN_SECONDS: 'brain seconds per open experiment: conditions x trials x duration',
  EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: 'brain seconds per client and minute; 0 turns the limit off',
  EXPERIMENT_INPUT_EVENTS: 'input events per trial of an open experiment',
  EXPERIMENT_SYNAPTIC_EVENTS: 'synaptic events per trial; a trial that exceeds it is stopped',
  EXPERIMENT_IDS: 'root ids that an open experiment may name',
  EXPERIMENT_SELECTED_NEURONS: 'neurons that all selectors of an open experiment may select together',
  EXPERIMENT_BODY_BYTES: 'size of the document of an open experiment',
  EXPERIMENT_JSON_SPIKES: 'spikes and input events in a JSON or NDJSON answer',
  EXPERIMENT_TABLE_SPIKES: 'spikes and input events in a CSV, Arrow or Parquet answer',
  EXPERIMENT_RATES: 'rates in an answer: for each condition and group 10, and one per trial and bin',
  EXPERIMENTS_PER_CLIENT: 'open experiments of a client at the same time; further ones are answered with 503',
  EXPERIMENTS_AT_ONCE: 'open experiments of all clients at the same time; further ones are answered with 503',
  REDIS_JOBS_URL: 'shares jobs between replicas; without it they are held in the memory of the process',
  ROLE: 'worker computes chunks of jobs with every worker, for processes that get no requests',
  JOBS_PER_CLIENT: 'unfinished jobs of a client; further ones are answered with 503',
  JOBS_AT_ONCE: 'unfinished jobs of all clients; further ones are answered with 503',
  JOB_BRAIN_SECONDS_PER_CLIENT: 'brain seconds of all unfinished jobs of a client',
  JOB_RESULT_BYTES: 'compressed results of a job; a job that exceeds it fails',
  JOBS_KEPT: 'finished jobs that are kept; beyond it, the oldest of the client with most of them is removed',
  JOBS_KEPT_BYTES:
    'compressed results of all jobs in memory; beyond it, the oldest of the client with most is removed',
  JOBS_KEPT_S: 'seconds for which a job is kept after its end',
  LOG_LEVEL: 'log level, from fatal to trace, or silent',
};

/**
 * @param variables what is set; an empty value counts as not set
 * @throws CodedError CONFIG_INVALID that lists every variable with a value that is not allowed
 */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const names = Object.keys(MEANINGS);
  const set = names.filter((name) => (variables[name] ?? '') !== '');
  const environment = plainToInstance(
    Environment,
    Object.fromEntries(set.map((name) => [name, variables[name]])),
    { exposeDefaultValues: true },
  );
  const problems = validateSync(environment, { stopAtFirstError: true }).flatMap(({ constraints }) =>
    Object.values(constraints ?? {}),
  );
  if (environment.PORT !== 0 && environment.PORT === environment.METRICS_PORT) {
    problems.push(`METRICS_PORT must differ from PORT, got ${environment.METRICS_PORT} for both`);
  }
  if (problems.length > 0) {
    throw new CodedError('CONFIG_INVALID', `The environment cannot be used: ${problems.join('; ')}.`);
  }
  return Object.freeze(environment);
}

/** An integer in decimal digits only: other forms that Number() accepts are typing errors. */
function WholeNumber(minimum: number, maximum: number): PropertyDecorator {
  const message = must(`an integer from ${minimum} to ${maximum}`);
  return (target, property) => {
    Transform(({ value }) => (/^-?\d{1,16}$/.test(String(value)) ? Number(value) : value))(target, property);
    IsInt({ message })(target, property);
    Min(minimum, { message })(target, property);
    Max(maximum, { message })(target, property);
  };
}

function RedisUrl(): PropertyDecorator {
  const message = must(
    'a URL that begins with redis:// or rediss://, with no parameter but db, family and password',
  );
  return (target, property) => {
    ValidateIf((_, value) => value !== '')(target, property);
    ValidateBy(
      { name: 'isRedisUrl', validator: { validate: isRedisUrl } },
      { message: ({ property: name, value }) => message({ property: name, value: withoutPassword(value) }) },
    )(target, property);
  };
}

function OneOf(values: readonly string[]): PropertyDecorator {
  return IsIn(values, { message: must(`one of ${values.join(', ')}`) });
}

function must(allowed: string) {
  return ({ property, value }: { property: string; value: unknown }) =>
    `${property} must be ${allowed}, got ${describeValue(value)}`;
}

function isPublicUrl(value: unknown): boolean {
  // Parts beyond scheme, host, port and path would end up in the middle of each operation's address.
  return /^https?:\/\/[^\s/?#@\\]+[^\s?#@\\]*$/i.test(String(value)) && URL.canParse(String(value));
}

function isProxyList(value: unknown): boolean {
  return value === '' || entriesOf(value).every(isProxy);
}

function entriesOf(list: unknown): string[] {
  return String(list)
    .split(',')
    .map((entry) => entry.trim());
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

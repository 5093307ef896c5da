import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { mapped } from '../../engine/mapped.js';
import { Degradations } from '../health/degradations.js';
import { backendOf, ModelHealth } from '../health/model-health.js';
import { apiPath } from '../http/api-versions.js';
import type { FinishedRequest } from '../http/request-watch.js';
import { Admission } from '../limits/admission.js';
import { experimentReports, outcomeOf } from '../api/v2/experiment-report.js';
import { Sessions } from '../sessions/sessions.js';
import { CHUNK_OUTCOMES, ChunkWorker } from '../jobs/chunk-worker.js';
import { JobsService } from '../jobs/jobs-service.js';
import { ModelLoader } from '../model-host/model-loader.js';
import { EventLoopWatch } from './event-loop-watch.js';
import { runReports, RunService, type CacheStatus, type Timings } from '../api/v1/run.service.js';

/** Buckets from 0.1 ms, for a small brain, to the default timeout of a run. */
const STEP_BUCKETS_S = [0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const TOTAL_BUCKETS_S = STEP_BUCKETS_S.filter((bound) => bound >= 0.001);
const CHUNK_BUCKETS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const RUN_PATH = apiPath('1', 'run');
const EXPERIMENTS_PATH = apiPath('2', 'experiments');
/** Source of a response; `shared` means that it waited for an equal run in progress. */
const SOURCES: Readonly<Record<CacheStatus, string>> = {
  hit: 'cache',
  'fwd=miss': 'simulation',
  'fwd=miss; stored': 'simulation',
  'fwd=miss; collapsed': 'shared',
};
const MODEL_STATES = ['loading', 'ready', 'failed', 'draining'] as const;

/** Counters by name: help text and labels. */
const COUNTERS = {
  nes_runs_total: ['Run requests by stimulus, view and status', 'stimulus', 'view', 'status'],
  nes_rate_limited_total: ['Run requests refused by the rate limit'],
  nes_http_requests_total: ['Requests by route and status', 'route', 'status'],
  nes_cache_answers_total: [
    'Successful runs by source of the response: cache, simulation or shared with an equal run',
    'source',
  ],
  nes_simulations_total: ['Simulations finished, by backend', 'backend'],
  nes_spikes_total: ['Spikes simulated'],
  nes_experiments_total: [
    'Open experiments by the format of their answer, how they ended and their status',
    ...['format', 'outcome', 'status'],
  ],
  nes_experiment_trials_total: ['Trials simulated for open experiments'],
  nes_experiment_brain_seconds_total: ['Simulated time of the trials that were begun for open experiments'],
  nes_session_steps_total: ['Steps of sessions that were answered'],
  nes_session_steps_late_total: ['Of these, the ones that took longer than the time that they simulate'],
  nes_job_trials_total: ['Trials that this process simulated for jobs'],
  nes_job_chunks_total: [
    'Chunks of jobs that this process computed, by outcome: done, ended with their job, retried or failed',
    'outcome',
  ],
} as const satisfies Record<string, readonly [help: string, ...labels: string[]]>;

/** Histograms of durations by name: help text, bucket bounds and labels. */
const DURATIONS = {
  nes_job_chunk_duration_seconds: [
    'Time from the beginning of a chunk to its end, including the time that its trials waited for workers',
    CHUNK_BUCKETS_S,
  ],
  nes_session_step_duration_seconds: ['Time from the arrival of a step to its answer', STEP_BUCKETS_S],
  nes_run_duration_seconds: [
    'Time from the arrival of a run to the last byte of its response, successful runs only',
    TOTAL_BUCKETS_S,
    'view',
  ],
  nes_run_queue_seconds: [
    'Time a run waits for its worker, including the transfer there and back',
    STEP_BUCKETS_S,
  ],
  nes_run_simulate_seconds: ['Time to simulate a run', STEP_BUCKETS_S],
  nes_run_serialise_seconds: ['Time for readout, body and compression', STEP_BUCKETS_S],
} as const satisfies Record<string, readonly [help: string, buckets: number[], ...labels: string[]]>;

/** A value, or rows that consist of label values and a value; undefined if it cannot be read at present. */
type Result = number | undefined | readonly (readonly [...labels: string[], value: number])[];

/** A metric that is read on each request for metrics: help text, function that reads it, and labels. */
type Read = readonly [help: string, read: () => Result | Promise<Result>, ...labels: string[]];

/**
 * All metrics. Names begin with nes_ (Neural Experiment Service) and end with their unit. Label values come from fixed
 * lists, so clients cannot create new series. docs/operations.md explains each metric.
 */
@Injectable()
export class Metrics implements OnApplicationShutdown {
  readonly registry = new Registry();
  readonly #eventLoop = new EventLoopWatch();
  readonly #counters = mapped(
    COUNTERS,
    ([help, ...labelNames], name) => new Counter({ name, help, labelNames, registers: [this.registry] }),
  );
  readonly #durations = mapped(
    DURATIONS,
    ([help, buckets, ...labelNames], name) =>
      new Histogram({ name, help, buckets, labelNames, registers: [this.registry] }),
  );

  /** Returns the number of log lines dropped so far. */
  droppedLogLines: () => number = () => 0;

  constructor(
    private readonly health: ModelHealth,
    private readonly loader: ModelLoader,
    private readonly degradations: Degradations,
    private readonly runs: RunService,
    private readonly admission: Admission,
    private readonly jobs: JobsService,
    private readonly chunks: ChunkWorker,
    private readonly sessions: Sessions,
  ) {
    sessions.steps.subscribe(({ durationMs, tookMs }) => {
      this.#counters.nes_session_steps_total.inc();
      this.#counters.nes_session_steps_late_total.inc(tookMs > durationMs ? 1 : 0);
      this.#durations.nes_session_step_duration_seconds.observe(tookMs / 1000);
    });
    runs.simulated.subscribe((simulation) => this.#countSimulation(simulation));
    // Starts at zero, because a rate needs a first value.
    for (const outcome of CHUNK_OUTCOMES) this.#counters.nes_job_chunks_total.inc({ outcome }, 0);
    chunks.reports.subscribe(({ outcome, ms, trials }) => {
      this.#counters.nes_job_chunks_total.inc({ outcome });
      this.#counters.nes_job_trials_total.inc(trials);
      if (outcome === 'done') this.#durations.nes_job_chunk_duration_seconds.observe(ms / 1000);
    });
    this.#addResults();
    collectDefaultMetrics({ register: this.registry });
  }

  onApplicationShutdown(): void {
    this.#eventLoop.end();
  }

  /** Counts a request that was refused before it had a route. */
  countRefusal(status: number): void {
    this.#counters.nes_http_requests_total.inc({ route: 'none', status });
  }

  countRequest({ request, status, elapsedMs }: FinishedRequest): void {
    const route = request.routeOptions.url ?? 'none';
    this.#counters.nes_http_requests_total.inc({ route, status });
    const isExperiment = request.method === 'POST' && route === EXPERIMENTS_PATH;
    if (isExperiment || experimentReports.has(request)) this.#countExperiment(request, status);
    if (request.method !== 'POST' || route !== RUN_PATH) return;
    const report = runReports.get(request);
    // A request that was rejected before its fields were checked has empty labels.
    this.#counters.nes_runs_total.inc({
      stimulus: report?.experiment.stimulus ?? '',
      view: report?.view ?? '',
      status,
    });
    if (status === 429) this.#counters.nes_rate_limited_total.inc();
    if (report?.answer === undefined || status !== 200) return;
    this.#counters.nes_cache_answers_total.inc({ source: SOURCES[report.answer.cacheStatus] });
    this.#durations.nes_run_duration_seconds.observe({ view: report.view }, elapsedMs / 1000);
  }

  #countExperiment(request: FastifyRequest, status: number): void {
    const report = experimentReports.get(request);
    // An experiment that was refused before its format was known has an empty format.
    const outcome = report === undefined ? 'refused' : outcomeOf(report, status);
    this.#counters.nes_experiments_total.inc({ format: report?.format ?? '', outcome, status });
    this.#counters.nes_experiment_trials_total.inc(report?.trials ?? 0);
    this.#counters.nes_experiment_brain_seconds_total.inc(report?.brainSeconds ?? 0);
  }

  #countSimulation({ backend, spikes, queueMs, timings }: Timings): void {
    this.#counters.nes_simulations_total.inc({ backend });
    this.#counters.nes_spikes_total.inc(spikes);
    this.#durations.nes_run_queue_seconds.observe(queueMs / 1000);
    this.#durations.nes_run_simulate_seconds.observe(timings.simulateMs / 1000);
    this.#durations.nes_run_serialise_seconds.observe(timings.serialiseMs / 1000);
  }

  /** Registers the metrics that are read from components. A name with the suffix _total is a counter. */
  #addResults(): void {
    const { registry } = this;
    const reads = { ...this.#readsOfModel(), ...this.#readsOfService() };
    for (const [name, [help, read, ...labelNames]] of Object.entries(reads)) {
      new (name.endsWith('_total') ? Counter : Gauge)({
        name,
        help,
        labelNames,
        registers: [registry],
        async collect() {
          const result = await read();
          this.reset();
          if (result === undefined) this.remove();
          else if (typeof result === 'number') this.inc(result);
          else
            for (const row of result)
              this.labels(...(row.slice(0, -1) as string[])).inc(row.at(-1) as number);
        },
      });
    }
  }

  #readsOfModel(): Readonly<Record<string, Read>> {
    const { health, loader } = this;
    const models = () => (health.state.name === 'ready' ? [health.state.model] : []);
    const state = () => (health.draining ? 'draining' : health.state.name);
    const queued = () => models()[0]?.queue ?? { waiting: 0, running: 0 };
    return {
      nes_model_state: [
        'State of the model: 1 for the current state, 0 for the others',
        () => MODEL_STATES.map((each) => [each, each === state() ? 1 : 0]),
        'state',
      ],
      nes_model_info: [
        'Id and digest of the loaded model',
        () => models().map(({ id, connectome }) => [id, connectome.digest, 1]),
        ...['model', 'connectome_digest'],
      ],
      nes_backend_info: [
        'Backend that runs simulations',
        () => models().map(({ gpu }) => [backendOf(gpu), 1]),
        'backend',
      ],
      nes_workers: [
        'Workers by state',
        () => [
          ['configured', loader.workers.configured],
          ['ready', loader.workers.ready],
        ],
        'state',
      ],
      nes_worker_restarts_total: [
        'Workers and threads of experiments started to replace one that ended',
        () => loader.workers.restarts,
      ],
      nes_gpu_runs_total: [
        'Runs and trials sent to the GPU: certified, repeated on the CPU because they had no certificate, or lost with the GPU',
        () => Object.entries(loader.gpuRuns),
        'outcome',
      ],
      nes_queue_runs: [
        'Runs waiting for a worker or being simulated',
        () => [
          ['waiting', queued().waiting],
          ['running', queued().running],
        ],
        'state',
      ],
    };
  }

  #readsOfService(): Readonly<Record<string, Read>> {
    const { runs } = this;
    // If jobs are unavailable, nes_degraded reports it.
    const load = () => this.jobs.load().catch(() => undefined);
    return {
      nes_job_chunks_computing: ['Chunks of jobs that this process computes', () => this.chunks.computing],
      nes_jobs_unfinished: [
        'Jobs that are waiting or running, of all processes that share them',
        async () => (await load())?.unfinished,
      ],
      nes_job_chunks_waiting: [
        'Chunks of jobs of this model that wait for a worker, of all processes that share them',
        async () => (await load())?.chunksWaiting,
      ],
      nes_cache_bytes: ['Size of the result cache', () => runs.cache.calculatedSize],
      nes_cache_entries: ['Results in the cache', () => runs.cache.size],
      nes_sessions: ['Sessions that are open', () => this.sessions.count],
      nes_experiments_running: ['Open experiments under way', () => this.admission.underWay],
      nes_log_lines_dropped_total: [
        'Log lines dropped because the reader did not keep up',
        () => this.droppedLogLines(),
      ],
      nes_event_loop_blocked_seconds_total: [
        'Time for which the event loop was blocked, by more than 50 ms at a time',
        () => this.#eventLoop.blockedMs / 1000,
      ],
      nes_degraded: [
        '1 for each degraded part',
        () => this.degradations.list().map(({ part }) => [part, 1]),
        'part',
      ],
    };
  }
}

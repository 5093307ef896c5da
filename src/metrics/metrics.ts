import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Degradations } from '../health/degradations.js';
import { backendOf, ModelHealth } from '../health/model-health.js';
import { apiPath } from '../http/api-versions.js';
import type { FinishedRequest } from '../http/request-watch.js';
import { Admission } from '../experiments/admission.js';
import { experimentReportOf, outcomeOf } from '../experiments/experiment-report.js';
import { CHUNK_OUTCOMES, ChunkWorker } from '../jobs/chunk-worker.js';
import { JobsService } from '../jobs/jobs.service.js';
import { reportOf } from '../run/run-report.js';
import { ModelLoader } from '../serving/model-loader.js';
import { RunService, type CacheStatus, type Timings } from '../run/run.service.js';

/** From 0.1 ms, for a small brain, to the default time limit of a run. */
const STEP_BUCKETS_S = [0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const TOTAL_BUCKETS_S = STEP_BUCKETS_S.filter((bound) => bound >= 0.001);
const CHUNK_BUCKETS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const RUN_PATH = apiPath('1', 'run');
const EXPERIMENTS_PATH = apiPath('2', 'experiments');
/** Source of a response; `shared` is the simulation of an equal request in progress. */
const SOURCES: Readonly<Record<CacheStatus, string>> = {
  hit: 'cache',
  'fwd=miss': 'simulation',
  'fwd=miss; stored': 'simulation',
  'fwd=miss; collapsed': 'shared',
};
const MODEL_STATES = ['loading', 'warming', 'ready', 'failed', 'draining'] as const;

/**
 * All metrics. Names begin with nes_ (Neural Experiment Service) and end with their unit. Label values come from fixed
 * lists, so clients cannot create new series. docs/operations.md explains each metric.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  readonly #runs = this.#counter('nes_runs_total', 'Run requests by stimulus, view and status', [
    'stimulus',
    'view',
    'status',
  ]);
  readonly #rateLimited = this.#counter('nes_rate_limited_total', 'Run requests refused by the rate limit');
  readonly #requests = this.#counter('nes_http_requests_total', 'Requests by route and status', [
    'route',
    'status',
  ]);
  readonly #cache = this.#counter(
    'nes_cache_answers_total',
    'Successful runs by source of the response: cache, simulation or shared with an equal run',
    ['source'],
  );
  readonly #simulations = this.#counter('nes_simulations_total', 'Simulations finished, by backend', [
    'backend',
  ]);
  readonly #spikes = this.#counter('nes_spikes_total', 'Spikes simulated');
  readonly #experiments = this.#counter(
    'nes_experiments_total',
    'Open experiments by the format of their answer, how they ended and their status',
    ['format', 'outcome', 'status'],
  );
  readonly #experimentTrials = this.#counter(
    'nes_experiment_trials_total',
    'Trials simulated for open experiments',
  );
  readonly #brainSeconds = this.#counter(
    'nes_experiment_brain_seconds_total',
    'Simulated time of the trials that were begun for open experiments',
  );
  readonly #jobTrials = this.#counter('nes_job_trials_total', 'Trials that this process simulated for jobs');
  readonly #jobChunks = this.#counter(
    'nes_job_chunks_total',
    'Chunks of jobs that this process computed, by outcome: done, ended with their job, retried or failed',
    ['outcome'],
  );
  readonly #jobChunk = new Histogram({
    name: 'nes_job_chunk_duration_seconds',
    help: 'Time from the beginning of a chunk to its end, including what its trials waited for workers',
    buckets: CHUNK_BUCKETS_S,
    registers: [this.registry],
  });
  readonly #total = new Histogram({
    name: 'nes_run_duration_seconds',
    help: 'Time from the arrival of a run to the last byte of its response, successful runs only',
    labelNames: ['view'],
    buckets: TOTAL_BUCKETS_S,
    registers: [this.registry],
  });
  readonly #queue = this.#histogram(
    'nes_run_queue_seconds',
    'Time a run waits for its worker, including the transfer there and back',
  );
  readonly #simulate = this.#histogram('nes_run_simulate_seconds', 'Time to simulate a run');
  readonly #serialise = this.#histogram(
    'nes_run_serialise_seconds',
    'Time for readout, body and compression',
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
  ) {
    runs.simulated.subscribe((simulation) => this.#countSimulation(simulation));
    chunks.reports.subscribe(({ outcome, ms, trials }) => {
      this.#jobChunks.inc({ outcome });
      this.#jobTrials.inc(trials);
      if (outcome === 'done') this.#jobChunk.observe(ms / 1000);
    });
    this.#watchModel();
    this.#watchJobs();
    this.#watchService();
    collectDefaultMetrics({ register: this.registry });
  }

  countRequest({ request, status, elapsedMs }: FinishedRequest): void {
    const route = request.routeOptions.url ?? 'none';
    this.#requests.inc({ route, status });
    if (request.method !== 'POST') return;
    if (route === EXPERIMENTS_PATH) this.#countExperiment(request, status);
    if (route !== RUN_PATH) return;
    const report = reportOf(request);
    // A request rejected before its parameters were known is counted with empty labels.
    this.#runs.inc({ stimulus: report?.experiment.stimulus ?? '', view: report?.view ?? '', status });
    if (status === 429) this.#rateLimited.inc();
    if (report?.answer === undefined || status !== 200) return;
    this.#cache.inc({ source: SOURCES[report.answer.cacheStatus] });
    this.#total.observe({ view: report.view }, elapsedMs / 1000);
  }

  #countExperiment(request: FastifyRequest, status: number): void {
    const report = experimentReportOf(request);
    // What was refused before its query was read is counted under an empty format.
    const outcome = report === undefined ? 'refused' : outcomeOf(report, status);
    this.#experiments.inc({ format: report?.format ?? '', outcome, status });
    this.#experimentTrials.inc(report?.trials ?? 0);
    this.#brainSeconds.inc(report?.brainSeconds ?? 0);
  }

  #countSimulation({ backend, spikes, queueMs, timings }: Timings): void {
    this.#simulations.inc({ backend });
    this.#spikes.inc(spikes);
    this.#queue.observe(queueMs / 1000);
    this.#simulate.observe(timings.simulateMs / 1000);
    this.#serialise.observe(timings.serialiseMs / 1000);
  }

  #watchModel(): void {
    const { health, loader } = this;
    this.#gauge(
      'nes_model_state',
      'State of the model: 1 for the current state, 0 for the others',
      ['state'],
      (gauge) => {
        const current = health.draining ? 'draining' : health.state.name;
        for (const state of MODEL_STATES) gauge.set({ state }, state === current ? 1 : 0);
      },
    );
    this.#gauge(
      'nes_model_info',
      'Id and digest of the loaded model',
      ['model', 'connectome_digest'],
      (gauge) => {
        gauge.reset();
        if (health.state.name !== 'ready') return;
        const { id, connectome } = health.state.model;
        gauge.set({ model: id, connectome_digest: connectome.digest }, 1);
      },
    );
    this.#gauge('nes_backend_info', 'Backend that runs simulations', ['backend'], (gauge) => {
      gauge.reset();
      if (health.state.name === 'ready') gauge.set({ backend: backendOf(health.state.model.gpu) }, 1);
    });
    this.#gauge('nes_workers', 'Workers by state', ['state'], (gauge) => {
      gauge.set({ state: 'configured' }, loader.workers.configured);
      gauge.set({ state: 'ready' }, loader.workers.ready);
    });
    new Counter({
      name: 'nes_worker_restarts_total',
      help: 'Workers started to replace one that exited',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(loader.workers.restarts);
      },
    });
    new Counter({
      name: 'nes_gpu_runs_total',
      help: 'Runs and trials sent to the GPU: certified, repeated on the CPU because they had no certificate, or lost with the GPU',
      labelNames: ['outcome'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [outcome, count] of Object.entries(loader.gpuRuns)) this.inc({ outcome }, count);
      },
    });
    this.#gauge('nes_queue_runs', 'Runs waiting for a worker or being simulated', ['state'], (gauge) => {
      const queue = health.state.name === 'ready' ? health.state.model.queue : undefined;
      gauge.set({ state: 'waiting' }, queue?.waiting ?? 0);
      gauge.set({ state: 'running' }, queue?.running ?? 0);
    });
  }

  #watchJobs(): void {
    // Zero from the start: a rate needs a first value.
    for (const outcome of CHUNK_OUTCOMES) this.#jobChunks.inc({ outcome }, 0);
    this.#gauge('nes_job_chunks_computing', 'Chunks of jobs that this process computes', [], (gauge) =>
      gauge.set(this.chunks.computing),
    );
    const load =
      (read: (load: Awaited<ReturnType<JobsService['load']>>) => number) => async (gauge: Gauge) => {
        // While the jobs cannot be reached, nes_degraded says so.
        const known = await this.jobs.load().catch(() => undefined);
        if (known !== undefined) gauge.set(read(known));
        else gauge.reset();
      };
    this.#gauge(
      'nes_jobs_unfinished',
      'Jobs that are waiting or running, of all processes that share them',
      [],
      load(({ unfinished }) => unfinished),
    );
    this.#gauge(
      'nes_job_chunks_waiting',
      'Chunks of jobs that wait for a worker, of all processes that share them',
      [],
      load(({ chunksWaiting }) => chunksWaiting),
    );
  }

  #watchService(): void {
    this.#gauge('nes_cache_bytes', 'Size of the result cache', [], (gauge) =>
      gauge.set(this.runs.cacheBytes),
    );
    this.#gauge('nes_experiments_running', 'Open experiments under way', [], (gauge) =>
      gauge.set(this.admission.underWay),
    );
    this.#gauge('nes_cache_entries', 'Results in the cache', [], (gauge) =>
      gauge.set(this.runs.cacheEntries),
    );
    const droppedLogLines = () => this.droppedLogLines();
    new Counter({
      name: 'nes_log_lines_dropped_total',
      help: 'Log lines dropped because the reader did not keep up',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(droppedLogLines());
      },
    });
    this.#gauge('nes_degraded', '1 for each degraded part', ['part'], (gauge) => {
      gauge.reset();
      for (const { part } of this.degradations.list()) gauge.set({ part }, 1);
    });
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[] = []): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #histogram(name: string, help: string): Histogram {
    return new Histogram({ name, help, buckets: STEP_BUCKETS_S, registers: [this.registry] });
  }

  #gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    read: (gauge: Gauge<Label>) => void | Promise<void>,
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        return read(this);
      },
    });
  }
}

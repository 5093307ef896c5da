/** Version 2 of the API as the laboratory calls it. */
import type { ListedNodeSet, NodeSetList } from '../../../answers/v2/node-set-list.js';
import type {
  ConditionResult,
  DryRun,
  ExperimentHead,
  ExperimentTotals,
  GroupResult,
} from '../../../answers/v2/result.js';
import type { ExperimentProgress } from '../../../answers/v2/formats/ndjson.js';
import type { TableColumns } from '../../../answers/v2/formats/table-columns.js';
import type { NeuronSearchResult } from '../../../connectome/neuron-search.js';
import { call, type Fault, failureOf, ServiceFailure } from './client.js';

const EXPERIMENTS = '/api/v2/experiments';
/** A line comes at least every 5 s; without one for so long the connection is dead. */
const SILENCE_MS = 30_000;
/** Between two looks at a job, and so many times as long as the last look took. */
const JOB_PAUSE_MS = 1500;
const JOB_PAUSE_LOOKS = 4;
const KEY_BYTES = 16;
/** Asks for a job. */
const AS_JOB = { prefer: 'respond-async' } as const;
/** Of a search: with more neurons than these, their sides are not counted by type. */
export const LISTED_NEURONS = 3000;

/** A condition as a line of NDJSON has it: tables of spikes are columns. */
export type ConditionLine = Omit<ConditionResult, 'reports'> & {
  readonly reports: Readonly<Record<string, readonly GroupResult[] | TableColumns>>;
};

/** How far an experiment is as a whole; conditions of axes that responders decide are counted at their upper bound at first. */
export interface Progress {
  readonly conditions: number;
  /** Of all that is to be computed, 0 to 1. */
  readonly share: number;
  readonly trials?: { readonly done: number; readonly all: number };
  readonly secondsLeft?: number;
}

/** What comes of an experiment, in this order: one head, conditions and progress, the totals. */
export type AnswerLine =
  | { readonly kind: 'head'; readonly head: ExperimentHead }
  | { readonly kind: 'condition'; readonly condition: ConditionLine }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'totals'; readonly totals: ExperimentTotals };

/**
 * Where the lines of an experiment come from. The panel that follows them does not know whether one request gives
 * them or a job that may outlive it. Conditions of a job may come in any order.
 * @param from index of the first condition that is wanted
 */
export type AnswerSource = (from: number, signal: AbortSignal) => AsyncIterable<AnswerLine>;

/** Checks a document, resolves its neurons and says what it costs. Nothing is simulated or charged. */
export async function dryRun(document: string, asJob: boolean, signal: AbortSignal): Promise<DryRun> {
  const url = `${EXPERIMENTS}?dry_run=true`;
  return (await call(url, (response) => response.json(), {
    ...post(document, asJob ? AS_JOB : {}),
    signal,
  })) as DryRun;
}

/** @returns a new name for a submission of a job */
export function submissionKey(): string {
  // A page without TLS has no randomUUID.
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * @param key of this submission; repeated with it, the request begins no second job
 * @returns the name of the job, which whoever knows it can read and end
 */
export async function beginJob(document: string, key: string): Promise<string> {
  const request = post(document, { ...AS_JOB, 'idempotency-key': `"${key}"` });
  const job = (await call(EXPERIMENTS, (response) => response.json(), request)) as JobState;
  return job.jobID;
}

/** Ends a job and removes its results. */
export async function endJob(job: string): Promise<void> {
  await call(`${EXPERIMENTS}/${job}`, (response) => response.json(), { method: 'DELETE' });
}

/** What is read of a job. */
interface JobState {
  readonly jobID: string;
  readonly status: 'accepted' | 'running' | 'successful' | 'failed' | 'dismissed';
  readonly progress: number;
  readonly conditions: number;
  readonly conditions_done: number;
  readonly seconds_left?: number;
  readonly error?: { readonly error: string };
}

/** The conditions of a job as they are done, always from the first. Leaving it leaves the job as it is. */
export function jobLines(job: string): AnswerSource {
  return async function* (_, signal) {
    const url = `${EXPERIMENTS}/${job}`;
    const given = new Set<number>();
    let lastDone = -1;
    for (;;) {
      const startedMs = performance.now();
      const state = await jobState(url, signal);
      yield { kind: 'progress', progress: jobProgress(state) };
      if (state.status === 'failed' || state.status === 'dismissed') {
        throw new ServiceFailure('ended', state.error?.error ?? 'Somebody ended the job.', 0);
      }
      const isDone = state.status === 'successful';
      if (isDone || state.conditions_done !== lastDone) {
        lastDone = state.conditions_done;
        const results = await call(`${url}/results?format=ndjson`, (response) => response.text(), {
          signal,
        });
        for (const text of results.split('\n').filter(Boolean)) {
          const line = parsed(text, 0);
          if (line.kind === 'condition') {
            if (given.has(line.condition.index)) continue;
            given.add(line.condition.index);
          }
          // The totals of what is there so far are none of the experiment.
          if (line.kind !== 'totals' || isDone) yield line;
        }
      }
      if (isDone) return;
      await pause(Math.max(JOB_PAUSE_MS, JOB_PAUSE_LOOKS * (performance.now() - startedMs)), signal);
    }
  };
}

/** @throws ServiceFailure of the kind `ended` where the service does not know the job (any more) */
async function jobState(url: string, signal: AbortSignal): Promise<JobState> {
  try {
    return (await call(url, (response) => response.json(), { signal })) as JobState;
  } catch (error) {
    const isUnknown = error instanceof ServiceFailure && error.place.code === 'NOT_FOUND';
    throw isUnknown ? new ServiceFailure('ended', error.message, 0) : error;
  }
}

function jobProgress({ conditions, progress, seconds_left: secondsLeft }: JobState): Progress {
  return { conditions, share: progress / 100, ...(secondsLeft !== undefined && { secondsLeft }) };
}

/** @throws the reason of the signal */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

export async function fetchNodeSets(): Promise<readonly ListedNodeSet[]> {
  const list = (await call('/api/v2/node-sets', (response) => response.json())) as NodeSetList;
  return list.node_sets;
}

export async function searchNeurons(
  type: string,
  side: string,
  signal: AbortSignal,
): Promise<NeuronSearchResult> {
  const query = new URLSearchParams({ type, limit: String(LISTED_NEURONS), ...(side !== '' && { side }) });
  return (await call(`/api/v2/neurons?${query}`, (response) => response.json(), {
    signal,
  })) as NeuronSearchResult;
}

/** One request that stays open until the experiment is done; leaving it ends the experiment. */
export function requestLines(document: string): AnswerSource {
  return async function* (from, signal) {
    const quiet = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), SILENCE_MS);
    };
    wait();
    try {
      const response = await fetch(`${EXPERIMENTS}?format=ndjson&from=${from}`, {
        ...post(document),
        signal: AbortSignal.any([signal, quiet.signal]),
      });
      if (!response.ok) throw await failureOf(response, true);
      let isWhole = false;
      for await (const text of linesOf(response)) {
        wait();
        const line = parsed(text, from);
        isWhole ||= line.kind === 'totals';
        yield line;
      }
      if (!isWhole) throw broken('The connection broke before the experiment was done.');
    } catch (error) {
      if (error instanceof ServiceFailure || signal.aborted) throw error;
      throw broken(
        quiet.signal.aborted
          ? `The service said nothing for ${SILENCE_MS / 1000} s.`
          : 'The service cannot be reached.',
      );
    } finally {
      clearTimeout(timer);
    }
  };
}

function post(document: string, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: document };
}

function broken(message: string): ServiceFailure {
  return new ServiceFailure('offline', message, 0);
}

async function* linesOf(response: Response): AsyncGenerator<string, void, undefined> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let pieces: string[] = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const [first, ...others] = value.split('\n');
    pieces.push(first!);
    for (const begun of others) {
      yield pieces.join('');
      pieces = [begun];
    }
  }
}

/** @param from condition at which the lines begin */
function parsed(text: string, from: number): AnswerLine {
  let line: Readonly<Record<string, unknown>>;
  try {
    line = JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    throw new ServiceFailure('failed', 'The answer is not JSON, so it is not from the service.', 0);
  }
  if (typeof line['error'] === 'string') {
    throw new ServiceFailure('failed', line['error'], 0, line as Fault);
  }
  if ('progress' in line) {
    return { kind: 'progress', progress: lineProgress(line['progress'] as ExperimentProgress, from) };
  }
  if ('index' in line) return { kind: 'condition', condition: line as unknown as ConditionLine };
  if ('id' in line) return { kind: 'head', head: line as unknown as ExperimentHead };
  return { kind: 'totals', totals: line as unknown as ExperimentTotals };
}

function lineProgress(
  { conditions, trials_done: done, trials: all }: ExperimentProgress,
  from: number,
): Progress {
  const share = all === 0 ? 0 : done / all;
  return {
    conditions: from + conditions,
    share: (from + share * conditions) / (from + conditions),
    trials: { done, all },
  };
}

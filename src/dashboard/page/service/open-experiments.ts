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
import type { NeuronSearchResult } from '../../../connectome/neuron-search.js';
import type { FaultPlace } from '../../../errors.js';
import { call, failureOf, ServiceFailure } from './client.js';

const EXPERIMENTS = '/api/v2/experiments';
/** A line comes at least every 5 s; without one for so long the connection is dead. */
const SILENCE_MS = 30_000;
/** Of a search: with more neurons than these, their sides are not counted by type. */
export const LISTED_NEURONS = 3000;

/** A condition as a line of NDJSON has it: tables of spikes are columns. */
export type ConditionLine = Omit<ConditionResult, 'reports'> & {
  readonly reports: Readonly<Record<string, readonly GroupResult[] | SpikeColumns>>;
};

export interface SpikeColumns {
  readonly trial: readonly number[];
  readonly t_ms: readonly number[];
  readonly root_id: readonly string[];
  readonly truncated?: true;
}

/** What comes of an experiment, in this order: one head, conditions and progress, the totals. */
export type AnswerLine =
  | { readonly kind: 'head'; readonly head: ExperimentHead }
  | { readonly kind: 'condition'; readonly condition: ConditionLine }
  | { readonly kind: 'progress'; readonly progress: ExperimentProgress }
  | { readonly kind: 'totals'; readonly totals: ExperimentTotals };

/**
 * Where the lines of an experiment come from. The panel that follows them does not know whether one request gives
 * them or a job that may outlive it.
 * @param from index of the first condition that is wanted
 */
export type AnswerSource = (from: number, signal: AbortSignal) => AsyncIterable<AnswerLine>;

/** Checks a document, resolves its neurons and says what it costs. Nothing is simulated or charged. */
export async function dryRun(document: string, signal: AbortSignal): Promise<DryRun> {
  const url = `${EXPERIMENTS}?dry_run=true`;
  return (await call(url, (response) => response.json(), { ...post(document), signal })) as DryRun;
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
        const line = parsed(text);
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

function post(document: string): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: document };
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

function parsed(text: string): AnswerLine {
  let line: Readonly<Record<string, unknown>>;
  try {
    line = JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    throw new ServiceFailure('failed', 'The answer is not JSON, so it is not from the service.', 0);
  }
  if (typeof line['error'] === 'string') {
    throw new ServiceFailure('failed', line['error'], 0, line as FaultPlace);
  }
  if ('progress' in line) return { kind: 'progress', progress: line['progress'] as ExperimentProgress };
  if ('index' in line) return { kind: 'condition', condition: line as unknown as ConditionLine };
  if ('id' in line) return { kind: 'head', head: line as unknown as ExperimentHead };
  return { kind: 'totals', totals: line as unknown as ExperimentTotals };
}

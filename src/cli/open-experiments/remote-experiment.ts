import type { ExperimentProgress } from '../../answers/v2/formats/ndjson.js';
import { spikeTableOf, type TableColumns } from '../../answers/v2/formats/table-columns.js';
import type { LabelledNeurons } from '../../answers/v2/formats/tables.js';
import type {
  ConditionResult,
  DryRun,
  ExperimentEvent,
  ExperimentHead,
  ExperimentTotals,
  GroupResult,
} from '../../answers/v2/result.js';
import type { ConnectomeMetadata } from '../../connectome/connectome.js';
import { CodedError, describeValue } from '../../errors.js';
import { codeOf, parsedBody, type ServiceClient, type ServiceRequest } from '../service-client.js';
import { ServiceModel } from '../service-model.js';
import { AS_JOB, patiently, RemoteJob } from './remote-job.js';
import type { ExperimentSource, SourceOptions } from './source.js';

const PATH = 'api/v2/experiments';

interface ModelBody extends Pick<ConnectomeMetadata, 'wiring' | 'release'> {
  readonly id: string;
  readonly atlas_url: string;
}

interface ConditionBody extends Omit<ConditionResult, 'reports'> {
  readonly reports: Readonly<Record<string, readonly GroupResult[] | TableColumns>>;
}

type Line =
  | ExperimentHead
  | ConditionBody
  | ExperimentTotals
  | { readonly progress: ExperimentProgress }
  | { readonly error: string; readonly code: unknown };

/**
 * Lets a service run an experiment: in one request, whose answer is read line by line while it is computed, or as a job
 * where the service finds it too large for one request.
 */
export class RemoteExperiment implements ExperimentSource {
  readonly #model: ServiceModel<ModelBody>;
  #neurons: Promise<RemoteNeurons> | undefined;

  /**
   * @param from the first condition of the answer
   * @param onNote is told, in a sentence, that the experiment becomes a job, and how the job ends if it is not done
   */
  constructor(
    private readonly service: ServiceClient,
    private readonly request: unknown,
    private readonly from: number,
    private readonly onNote: (sentence: string) => void,
  ) {
    this.#model = new ServiceModel<ModelBody>(service, ['id', 'wiring', 'release', 'atlas_url']);
  }

  async dryRun(): Promise<DryRun> {
    const path = `${PATH}?dry_run=true&from=${this.from}`;
    const asked = async (request: ServiceRequest) =>
      parsedBody<DryRun>(path, await this.service.bytes(path, request), ['id', 'resolved', 'cost']);
    const post = this.#post();
    try {
      return await asked(post);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
    }
    const dryRun = await asked({ ...post, headers: { ...post.headers, ...AS_JOB } });
    this.onNote('The experiment is too large for one request; the service would compute it as a job.');
    return dryRun;
  }

  async *events(options: SourceOptions): AsyncGenerator<ExperimentEvent, void, void> {
    const path = `${PATH}?format=ndjson&from=${this.from}`;
    let hasBegun = false;
    try {
      for await (const event of this.#eventsAt(path, this.#post(), options)) {
        hasBegun = true;
        yield event;
      }
      return;
    } catch (error) {
      if (hasBegun || !isTooLarge(error)) throw error;
    }
    yield* this.#eventsOfJob(options);
  }

  async *#eventsOfJob({ signal, onProgress }: SourceOptions): AsyncGenerator<ExperimentEvent, void, void> {
    const job = await RemoteJob.begin(this.service, PATH, { ...this.#post(), from: this.from }, signal);
    this.onNote(
      `The experiment is too large for one request; the service computes it as ${this.service.url(job.path)}`,
    );
    const path = `${job.path}/results?format=ndjson&from=${this.from}`;
    const results = () => patiently(() => withHead(this.#eventsAt(path, {}, { signal, onProgress })), signal);
    let trials = 0;
    let isFollowed = false;
    try {
      signal.throwIfAborted();
      const { head, others } = await results();
      await others.return();
      // Files that cannot be written are found now, not when the job is done.
      yield { kind: 'head', head };
      ({ trials } = head.experiment);
      isFollowed = true;
      await job.succeeded(signal, (state) => {
        const { conditions, conditions_done: conditionsDone, seconds_left: secondsLeft } = state;
        onProgress({
          trials: conditions * trials,
          trialsDone: conditionsDone * trials,
          conditionsDone,
          ...(secondsLeft !== undefined && { secondsLeft }),
        });
      });
    } finally {
      // One that is out of reach goes on. No other client would end one that nobody wants any more.
      if (signal.aborted || !isFollowed) await this.#end(job);
    }
    const { others } = await results();
    yield* others;
  }

  async #end(job: RemoteJob): Promise<void> {
    try {
      await job.end();
      this.onNote('The job was ended.');
    } catch (error) {
      this.onNote(`The job goes on, since the service did not end it: ${(error as Error).message}`);
    }
  }

  async *#eventsAt(
    path: string,
    request: ServiceRequest,
    { signal, onProgress }: SourceOptions,
  ): AsyncGenerator<ExperimentEvent, void, void> {
    let head: ExperimentHead | undefined;
    let conditions = 0;
    let isComplete = false;
    for await (const line of linesOf(path, this.service.pieces(path, { ...request, signal }))) {
      if ('error' in line) throw new CodedError(codeOf(line.code), `The service: ${line.error}`);
      if ('progress' in line) {
        onProgress({ trials: line.progress.trials, trialsDone: line.progress.trials_done });
      } else if ('id' in line) {
        head = line;
        yield { kind: 'head', head };
      } else if ('index' in line) {
        conditions++;
        yield { kind: 'condition', condition: await this.#condition(line, head) };
      } else {
        isComplete = true;
        // Lines of progress come now and then, and count conditions that were not run after all.
        const trials = conditions * (head?.experiment.trials ?? 0);
        onProgress({ trials, trialsDone: trials, conditionsDone: conditions });
        yield { kind: 'totals', totals: line };
      }
    }
    if (!isComplete) {
      throw new CodedError('SERVICE_UNREACHABLE', `${path}: the answer ended before its last line.`);
    }
  }

  neurons(): Promise<RemoteNeurons> {
    this.#neurons ??= this.#fetchNeurons();
    return this.#neurons;
  }

  async #fetchNeurons(): Promise<RemoteNeurons> {
    const { wiring, release } = await this.#model.describe();
    const { ids, types, typeIndices, sides } = await this.#model.neurons();
    const indexOf = new Map(ids.map((id, neuron) => [id, neuron]));
    return {
      metadata: { types, wiring, release },
      typeIndices,
      sides,
      neuronId: (neuron) => ids[neuron]!,
      indexOf: (id) => {
        const neuron = indexOf.get(id);
        if (neuron === undefined) throw notOfModel(id);
        return neuron;
      },
    };
  }

  #post() {
    return {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(this.request),
    };
  }

  async #condition(
    { reports, ...condition }: ConditionBody,
    head: ExperimentHead | undefined,
  ): Promise<ConditionResult> {
    const read = await Promise.all(
      Object.entries(reports).map(async ([name, report]) => {
        if (isGroups(report)) return [name, report] as const;
        const { id } = await this.#model.describe();
        if (id !== head?.model) throw notOfModel(head?.model ?? 'no model');
        const inputs = Object.keys(head.experiment.inputs);
        const neurons = await this.neurons();
        return [name, spikeTableOf(report, inputs, (id) => neurons.indexOf(id))] as const;
      }),
    );
    return { ...condition, reports: Object.fromEntries(read) };
  }
}

/** Whether a job may be larger. Conditions are counted by the check of the sweep. */
function isTooLarge(error: unknown): boolean {
  if (!(error instanceof CodedError)) return false;
  const { code, path } = error;
  return code === 'TOO_EXPENSIVE' || (code === 'INVALID_PARAMETER' && path === '/sweep');
}

async function withHead(events: AsyncGenerator<ExperimentEvent, void, void>) {
  const { value } = await events.next();
  if (value?.kind !== 'head') {
    throw new CodedError('SERVICE_UNREACHABLE', 'The results should begin with the head of the experiment.');
  }
  return { head: value.head, others: events };
}

interface RemoteNeurons extends LabelledNeurons {
  indexOf(id: string): number;
}

function isGroups(report: readonly GroupResult[] | TableColumns): report is readonly GroupResult[] {
  return Array.isArray(report);
}

async function* linesOf(path: string, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Line, void, void> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const piece of pieces) {
    const [first, ...others] = decoder.decode(piece, { stream: true }).split('\n');
    rest.push(first!);
    for (const next of others) {
      yield lineOf(path, rest.join(''));
      rest = [next];
    }
  }
  // What is behind the last line feed was cut off.
}

function lineOf(path: string, text: string): Line {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    line = undefined;
  }
  const kinds = ['id', 'index', 'progress', 'cost', 'error'];
  if (typeof line === 'object' && line !== null && kinds.some((member) => member in line))
    return line as Line;
  throw new CodedError(
    'SERVICE_UNREACHABLE',
    `${path} should have answered with lines of an experiment, found ${describeValue(text)}.`,
  );
}

function notOfModel(what: string): CodedError {
  return new CodedError(
    'SERVICE_UNREACHABLE',
    `The service now serves another model than the one that the answer is of: it does not have ${what}.`,
  );
}

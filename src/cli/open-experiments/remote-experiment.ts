import type { ExperimentProgress } from '../../answers/v2/formats/ndjson.js';
import type { LabelledNeurons } from '../../answers/v2/formats/tables.js';
import type {
  ConditionResult,
  DryRun,
  ExperimentEvent,
  ExperimentHead,
  ExperimentTotals,
  GroupResult,
  SpikeTable,
} from '../../answers/v2/result.js';
import type { ConnectomeMetadata } from '../../connectome/connectome.js';
import { CodedError, describeValue } from '../../errors.js';
import { STEPS_PER_MS } from '../../experiment/protocol.js';
import { codeOf, parsedBody, type ServiceClient } from '../service-client.js';
import { ServiceModel } from '../service-model.js';
import type { ExperimentSource, SourceOptions } from './source.js';

const PATH = 'api/v2/experiments';

interface ModelBody extends Pick<ConnectomeMetadata, 'wiring' | 'release'> {
  readonly id: string;
  readonly atlas_url: string;
}

/** A table as JSON has it: columns, with the ids of the neurons. */
interface TableBody {
  readonly trial: readonly number[];
  readonly t_ms: readonly number[];
  readonly root_id: readonly string[];
  readonly input?: readonly string[];
  readonly truncated?: boolean;
}

interface ConditionBody extends Omit<ConditionResult, 'reports'> {
  readonly reports: Readonly<Record<string, readonly GroupResult[] | TableBody>>;
}

type Line =
  | ExperimentHead
  | ConditionBody
  | ExperimentTotals
  | { readonly progress: ExperimentProgress }
  | { readonly error: string; readonly code: unknown };

/** Lets a service run an experiment in one request, and reads its answer line by line while it is computed. */
export class RemoteExperiment implements ExperimentSource {
  readonly #model: ServiceModel<ModelBody>;
  #neurons: Promise<RemoteNeurons> | undefined;

  /** @param from the first condition of the answer */
  constructor(
    private readonly service: ServiceClient,
    private readonly request: unknown,
    private readonly from: number,
  ) {
    this.#model = new ServiceModel<ModelBody>(service, ['id', 'wiring', 'release', 'atlas_url']);
  }

  async dryRun(): Promise<DryRun> {
    const path = `${PATH}?dry_run=true`;
    return parsedBody<DryRun>(path, await this.service.bytes(path, this.#post()), ['id', 'resolved', 'cost']);
  }

  async *events({ signal, onProgress }: SourceOptions): AsyncGenerator<ExperimentEvent, void, void> {
    const path = `${PATH}?format=ndjson&from=${this.from}`;
    let head: ExperimentHead | undefined;
    let isComplete = false;
    for await (const line of linesOf(path, this.service.pieces(path, { ...this.#post(), signal }))) {
      if ('error' in line) throw new CodedError(codeOf(line.code), `The service: ${line.error}`);
      if ('progress' in line) {
        onProgress({ trials: line.progress.trials, trialsDone: line.progress.trials_done });
      } else if ('id' in line) {
        head = line;
        yield { kind: 'head', head };
      } else if ('index' in line) {
        yield { kind: 'condition', condition: await this.#condition(line, head) };
      } else {
        isComplete = true;
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
        return [name, tableOf(report, Object.keys(head.experiment.inputs), await this.neurons())] as const;
      }),
    );
    return { ...condition, reports: Object.fromEntries(read) };
  }
}

interface RemoteNeurons extends LabelledNeurons {
  indexOf(id: string): number;
}

function isGroups(report: readonly GroupResult[] | TableBody): report is readonly GroupResult[] {
  return Array.isArray(report);
}

/** The columns as the formats take them. */
function tableOf(
  { trial, t_ms: timesMs, root_id: ids, input, truncated = false }: TableBody,
  inputNames: readonly string[],
  neurons: RemoteNeurons,
): SpikeTable {
  return {
    table: input === undefined ? 'spikes' : 'inputs',
    trials: Uint8Array.from(trial),
    steps: Uint16Array.from(timesMs, (ms) => Math.round(ms * STEPS_PER_MS)),
    neurons: Uint32Array.from(ids, (id) => neurons.indexOf(id)),
    ...(input && { inputs: Uint8Array.from(input, (name) => inputNames.indexOf(name)), inputNames }),
    truncated,
  };
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

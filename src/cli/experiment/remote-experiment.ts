import type { Condition, ExperimentDocument, ExperimentJob, ExperimentLine } from '#client';
import { haveSameNeurons } from '../../connectome/model-id.js';
import { eventTableOf, type TableColumns } from '../../experiments/formats/tables.js';
import type {
  ConditionResult,
  DryRun,
  ExperimentEvent,
  ExperimentHead,
  ExperimentTotals,
  GroupResult,
} from '../../experiments/run/result.js';
import { CodedError } from '../../errors.js';
import type { Service, ServiceNeurons } from '../service.js';
import type { ExperimentSource, SourceOptions } from './source.js';

/** Limit on the wait after an interruption: who interrupts a command does not want to wait. */
const END_WITHIN_MS = 10_000;
const JOB_PAUSE_MS = 2_000;

/**
 * Lets a service run an experiment: in one request, whose answer is read line by line while it is computed, or as a job
 * where the service finds it too large for one request.
 */
export class RemoteExperiment implements ExperimentSource {
  #neurons: Promise<ServiceNeurons> | undefined;

  /**
   * @param document that the service checks
   * @param from the first condition of the answer
   * @param onNote is told, in a sentence, that the experiment becomes a job, and how the job ends if it is not done
   */
  constructor(
    private readonly service: Service,
    private readonly document: ExperimentDocument,
    private readonly from: number,
    private readonly onNote: (sentence: string) => void,
  ) {}

  async dryRun(): Promise<DryRun> {
    const { service, document, from } = this;
    const asked = async (asJob: boolean) => {
      const dryRun = service.client.dryRun(document, { ...service.patience, from, asJob });
      return (await service.asked(dryRun)) as DryRun;
    };
    try {
      return await asked(false);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
    }
    const dryRun = await asked(true);
    this.onNote('The experiment is too large for one request; the service would compute it as a job.');
    return dryRun;
  }

  async *events(options: SourceOptions): AsyncGenerator<ExperimentEvent, void, void> {
    const { client, patience } = this.service;
    const { document, from } = this;
    let hasBegun = false;
    try {
      const run = client.runExperiment(document, { ...patience, from, signal: options.signal });
      for await (const event of this.#eventsOf(run, options)) {
        hasBegun = true;
        yield event;
      }
      return;
    } catch (error) {
      if (hasBegun || !isTooLarge(error)) throw error;
    }
    yield* this.#eventsOfJob(options);
  }

  neurons(): Promise<ServiceNeurons> {
    this.#neurons ??= this.service.neurons();
    return this.#neurons;
  }

  async *#eventsOfJob(options: SourceOptions): AsyncGenerator<ExperimentEvent, void, void> {
    const { service, document, from } = this;
    const asked = { ...service.patience, signal: options.signal };
    const job = await service.asked(service.client.submitExperiment(document, { ...asked, from }));
    this.onNote(
      `The experiment is too large for one request; the service computes it as ${service.at(`api/v2/experiments/${job.id}`)}`,
    );
    let isFollowed = false;
    try {
      options.signal.throwIfAborted();
      const early = this.#eventsOf(job.results(asked), options);
      const head = await headOf(early);
      await early.return();
      // Files that cannot be written are found now, not when the job is done.
      yield { kind: 'head', head };
      isFollowed = true;
      const { trials } = head.experiment;
      const followed = job.wait(
        ({ conditions, conditions_done: done, seconds_left: secondsLeft }) =>
          options.onProgress({
            trials: conditions * trials,
            trialsDone: done * trials,
            conditionsDone: done,
            secondsLeft,
          }),
        { ...asked, everyMs: JOB_PAUSE_MS },
      );
      await service.asked(followed);
    } finally {
      // One that is out of reach goes on. No other client would end one that nobody wants any more.
      if (options.signal.aborted || !isFollowed) await this.#end(job);
    }
    const events = this.#eventsOf(job.results(asked), options);
    await headOf(events);
    yield* events;
  }

  async #end(job: ExperimentJob): Promise<void> {
    try {
      await this.service.asked(job.end({ signal: AbortSignal.timeout(END_WITHIN_MS) }));
      this.onNote('The job was ended.');
    } catch (error) {
      this.onNote(`The job goes on, since the service did not end it: ${(error as Error).message}`);
    }
  }

  async *#eventsOf(
    lines: AsyncIterable<ExperimentLine>,
    { onProgress }: SourceOptions,
  ): AsyncGenerator<ExperimentEvent, void, void> {
    let head: ExperimentHead | undefined;
    let conditions = 0;
    try {
      for await (const line of lines) {
        if ('progress' in line) {
          onProgress({ trials: line.progress.trials, trialsDone: line.progress.trials_done });
        } else if ('id' in line) {
          head = line as ExperimentHead;
          yield { kind: 'head', head };
        } else if ('index' in line) {
          conditions++;
          yield { kind: 'condition', condition: await this.#condition(line, head!) };
        } else {
          // Lines of progress come now and then, and count conditions that were not run after all.
          const trials = conditions * head!.experiment.trials;
          onProgress({ trials, trialsDone: trials, conditionsDone: conditions });
          yield { kind: 'totals', totals: line as ExperimentTotals };
        }
      }
    } catch (error) {
      throw this.service.failureOf(error);
    }
  }

  async #condition({ reports, ...condition }: Condition, head: ExperimentHead): Promise<ConditionResult> {
    const read = Object.entries(reports).map(async ([name, report]) => {
      if (Array.isArray(report)) return [name, report as readonly GroupResult[]] as const;
      const neurons = await this.neurons();
      if (!haveSameNeurons(neurons.model, head.model)) this.service.refuseModel(head.model);
      const indexOf = (id: string) => neurons.indexOf(id);
      return [name, eventTableOf(report as TableColumns, head.experiment, name, indexOf)] as const;
    });
    return { ...condition, reports: Object.fromEntries(await Promise.all(read)) } as ConditionResult;
  }
}

/** @throws CodedError SERVICE_UNREACHABLE */
async function headOf(events: AsyncGenerator<ExperimentEvent, void, void>): Promise<ExperimentHead> {
  const { value } = await events.next();
  if (value?.kind === 'head') return value.head;
  throw new CodedError('SERVICE_UNREACHABLE', 'The results should begin with the head of the experiment.');
}

/** Tells whether a job may be larger. Conditions are counted by the check of the sweep. */
function isTooLarge(error: unknown): boolean {
  if (!(error instanceof CodedError)) return false;
  const { code, path } = error;
  return code === 'TOO_EXPENSIVE' || (code === 'INVALID_PARAMETER' && path === '/sweep');
}

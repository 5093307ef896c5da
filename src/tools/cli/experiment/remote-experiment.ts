import type { Condition, ExperimentDocument, ExperimentJob, ExperimentLine } from '#client';
import { haveSameNeurons } from '../../../engine/connectome/model-id.js';
import { eventTableOf, type TableColumns } from '../../../experiments/formats/tables.js';
import type {
  AnsweredCondition,
  DryRun,
  ExperimentEvent,
  ExperimentHead,
  ExperimentTotals,
} from '../../../experiments/document/result.js';
import type { GroupResult } from '../../../experiments/kinds/result-rows.js';
import { Screen } from '../../../experiments/run/screen.js';
import { CodedError } from '../../../engine/errors.js';
import type { Service, ServiceNeurons } from '../service.js';
import type { ExperimentSource, SourceOptions } from './source.js';

/** Longest wait for the service to end the job after an interruption. */
const END_WITHIN_MS = 10_000;
const JOB_PAUSE_MS = 2_000;

/**
 * Runs an experiment on a service. It uses one request and reads the answer line by line while the service computes it. If
 * the service finds the experiment too large for one request, it submits a job.
 */
export class RemoteExperiment implements ExperimentSource {
  #neurons: Promise<ServiceNeurons> | undefined;

  /**
   * @param document not validated yet; the service does that
   * @param from the first condition of the answer
   * @param onNote receives a sentence if the experiment becomes a job, and if the job ends early
   */
  constructor(
    private readonly service: Service,
    private readonly document: ExperimentDocument,
    private readonly from: number,
    private readonly onNote: (sentence: string) => void,
  ) {}

  async dryRun(): Promise<DryRun> {
    try {
      return await this.#dryRun({ asJob: false });
    } catch (error) {
      if (!isTooLarge(error)) throw error;
    }
    const dryRun = await this.#dryRun({ asJob: true });
    this.onNote('The experiment is too large for one request; the service would compute it as a job.');
    return dryRun;
  }

  async #dryRun(options: { readonly asJob: boolean; readonly signal?: AbortSignal }): Promise<DryRun> {
    const { service, document, from } = this;
    const dryRun = service.client.dryRun(document, { ...service.patience, from, ...options });
    return (await service.asked(dryRun)) as DryRun;
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
    const { client } = service;
    const job = await service.asked(client.submitExperiment(document, { ...asked, from }));
    const address = `${client.address}/api/v2/experiments/${job.id}`;
    this.onNote(`The experiment is too large for one request; the service computes it as ${address}`);
    let isFollowed = false;
    try {
      options.signal.throwIfAborted();
      const early = this.#eventsOf(job.results(asked), options);
      const head = await headOf(early);
      await early.return();
      // The head makes the caller open its files, so it finds unwritable ones before the job is done.
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
    } catch (error) {
      // They end with the job.
      if (isFollowed && options.signal.aborted) yield* this.#beginningOf(job, options);
      throw error;
    } finally {
      // End the job if the user interrupted or its start failed: no other client would end it. If the service is only out
      // of reach, the job goes on.
      if (options.signal.aborted || !isFollowed) await this.#end(job);
    }
    const events = this.#eventsOf(job.results(asked), options);
    await headOf(events);
    yield* events;
  }

  /**
   * The conditions of an unfinished job before the first one that is not done, so that `from` can go on after them. All are
   * read before the first is yielded, because only the end of the results says which conditions need no run.
   */
  async *#beginningOf(
    job: ExperimentJob,
    options: SourceOptions,
  ): AsyncGenerator<ExperimentEvent, void, void> {
    const signal = AbortSignal.timeout(END_WITHIN_MS);
    const done: (ExperimentEvent & { readonly kind: 'condition' })[] = [];
    const notRun = new Set<number>();
    try {
      let unchanged = new Set<string>();
      const results = job.results({ ...this.service.patience, signal });
      for await (const event of this.#eventsOf(results, options)) {
        if (event.kind === 'condition') done.push(event);
        if (event.kind === 'totals')
          unchanged = new Set(event.totals.unchanged.map((each) => JSON.stringify(each)));
      }
      if (unchanged.size > 0) {
        const { conditions } = await this.#dryRun({ asJob: true, signal });
        for (const { index, parameters } of conditions)
          if (unchanged.has(JSON.stringify(parameters))) notRun.add(index);
      }
    } catch (error) {
      this.onNote(`Not all conditions that are done could be read: ${(error as Error).message}`);
    }
    let next = this.from;
    for (const event of done) {
      while (notRun.has(next)) next++;
      if (event.condition.index !== next++) return;
      yield event;
    }
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
    let screen: Screen | undefined;
    let conditions = 0;
    try {
      for await (const line of lines) {
        if ('progress' in line) {
          onProgress({ trials: line.progress.trials, trialsDone: line.progress.trials_done });
        } else if ('id' in line) {
          head = line as ExperimentHead;
          const controls = head.experiment.controls ?? {};
          const isScreen = Object.values(controls).includes('matched') && !('only' in controls);
          if (isScreen && this.from === 0) screen = new Screen();
          yield { kind: 'head', head };
        } else if ('index' in line) {
          conditions++;
          const condition = await this.#condition(line, head!);
          const reports = Object.entries(condition.reports).filter(([, report]) => !('table' in report));
          screen?.add(
            condition,
            reports.map(([name]) => ({ name })),
          );
          yield { kind: 'condition', condition };
        } else {
          // The last line of progress may be old and may count conditions that were not run, so report the exact numbers.
          const trials = conditions * head!.experiment.trials;
          onProgress({ trials, trialsDone: trials, conditionsDone: conditions });
          const totals = line as ExperimentTotals;
          // An answer of several pages lacks it, because no page has all comparisons.
          const found = totals.partial === true ? undefined : (totals.screen ?? screen?.result());
          yield { kind: 'totals', totals: found === undefined ? totals : { ...totals, screen: found } };
        }
      }
    } catch (error) {
      throw this.service.failureOf(error);
    }
  }

  async #condition({ reports, ...condition }: Condition, head: ExperimentHead): Promise<AnsweredCondition> {
    const read = Object.entries(reports).map(async ([name, report]) => {
      if (Array.isArray(report)) return [name, report as readonly GroupResult[]] as const;
      const neurons = await this.neurons();
      if (!haveSameNeurons(neurons.model, head.model)) this.service.refuseModel(head.model);
      const indexOf = (id: string) => neurons.indexOf(id);
      return [name, eventTableOf(report as TableColumns, head.experiment, name, indexOf)] as const;
    });
    return { ...condition, reports: Object.fromEntries(await Promise.all(read)) } as AnsweredCondition;
  }
}

/** @throws CodedError SERVICE_UNREACHABLE */
async function headOf(events: AsyncGenerator<ExperimentEvent, void, void>): Promise<ExperimentHead> {
  const { value } = await events.next();
  if (value?.kind === 'head') return value.head;
  throw new CodedError('SERVICE_UNREACHABLE', 'The results should begin with the head of the experiment.');
}

/** True if a job would allow the experiment. Too many conditions are reported as INVALID_PARAMETER at /sweep. */
function isTooLarge(error: unknown): boolean {
  if (!(error instanceof CodedError)) return false;
  const { code, path } = error;
  return code === 'TOO_EXPENSIVE' || (code === 'INVALID_PARAMETER' && path === '/sweep');
}

/**
 * Uses of a brain whose results can be compared. A tab gets the text of each function, so none refers to anything outside
 * it.
 */
import type {
  Brain,
  ExperimentDocument,
  ExperimentLine,
  RunRequest,
} from '../../clients/typescript/src/client.js';

/** The parts of a ServiceError that users read. An error within NDJSON has no status. */
export interface Refusal {
  readonly code?: string;
  readonly path?: string;
  readonly message: string;
}

/** The JSON of an answer, or the error. */
export type Outcome = string | Refusal;

export interface AskedRun {
  readonly request: RunRequest;
  readonly view: 'full' | 'drive';
}

export async function runsOf(brain: Brain, runs: readonly AskedRun[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { request, view } of runs) {
    try {
      outcomes.push(JSON.stringify(await brain.run(request, { view })));
    } catch (error) {
      const { code, path, message } = error as Refusal;
      outcomes.push({ code: code!, path: path!, message });
    }
  }
  return outcomes;
}

export async function answersOf(brain: Brain, documents: readonly object[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const document of documents) {
    try {
      outcomes.push(JSON.stringify(await brain.experiment(document)));
    } catch (error) {
      const { code, path, message } = error as Refusal;
      outcomes.push({ code: code!, path: path!, message });
    }
  }
  return outcomes;
}

/** The figures of experiments, as SVG. */
export async function figuresOf(brain: Brain, documents: readonly object[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const document of documents) outcomes.push(await brain.client.experimentFigure(document));
  return outcomes;
}

/** A step without its beginning. */
interface Change {
  readonly duration_ms: number;
  readonly rates_hz?: Readonly<Record<string, number>>;
  readonly silence?: readonly string[];
}

export interface Course {
  readonly document: object;
  readonly changes: readonly Change[];
}

/** Steps of a session. The last item is its document. Refused steps are left out. */
export async function courseOf(brain: Brain, { document, changes }: Course): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let session: Awaited<ReturnType<Brain['session']>>;
  try {
    session = await brain.session(document);
  } catch (error) {
    const { code, path, message } = error as Refusal;
    return [{ code: code!, path: path!, message }];
  }
  let tMs = session.state.t_ms;
  for (const change of changes) {
    try {
      const answer = await session.step({ t_ms: tMs, ...change }, { drive: outcomes.length % 4 === 0 });
      tMs = answer.t_ms;
      outcomes.push(JSON.stringify(answer));
    } catch (error) {
      const { code, path, message } = error as Refusal;
      outcomes.push({ code: code!, path: path!, message });
    }
  }
  outcomes.push(JSON.stringify(await session.document()));
  await session.end();
  return outcomes;
}

/** Branches once, steps both sessions, and steps the first one after its end. */
export async function branchesOf(brain: Brain, { document, changes }: Course): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const first = await brain.session(document);
  await first.step({ t_ms: first.state.t_ms, ...changes[0]! });
  const { duration_ms: _, ...changed } = changes[1]!;
  const second = await first.branch(changed);
  for (const session of [second, first]) {
    const step = { t_ms: second.state.t_ms, duration_ms: changes[1]!.duration_ms };
    outcomes.push(JSON.stringify(await session.step(step)));
    outcomes.push(JSON.stringify(await session.document()));
  }
  await first.end();
  try {
    await first.step({ t_ms: 0, duration_ms: 20 });
  } catch (error) {
    const { code } = error as Refusal;
    // Only a service has replicas, so the sentences differ.
    outcomes.push({ code: code!, message: '' });
  }
  await second.end();
  return outcomes;
}

/** The answers to five steps. If `aborts` is set, each is aborted at first and asked for again. */
export async function stepsAgain(
  brain: Brain,
  { document, aborts }: { readonly document: ExperimentDocument; readonly aborts: boolean },
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const session = await brain.session(document);
  for (let at = 0; at < 5; at++) {
    const step = { t_ms: 500 * at, duration_ms: 500 };
    if (aborts) {
      const stop = new AbortController();
      const aborted = session.step(step, { signal: stop.signal }).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, at));
      stop.abort(new Error('enough'));
      await aborted;
    }
    outcomes.push(JSON.stringify(await session.step(step)));
  }
  await session.end();
  return outcomes;
}

/** The lines of an experiment in their order: the names of their members, or the numbers of a progress. */
export async function eventsOf(brain: Brain, document: object): Promise<(string | number[])[]> {
  const events: (string | number[])[] = [];
  await brain.experiment(document, {
    onEvent: (event) => {
      if ('progress' in event) events.push(Object.values(event.progress));
      else events.push('index' in event ? `condition ${event.index}` : 'id' in event ? 'head' : 'totals');
    },
  });
  return events;
}

/**
 * Aborts an experiment soon after its second line, and asks the brain for a run.
 * @returns the message of the experiment, and the run's duration in ms
 */
export async function abortOf(brain: Brain, document: object): Promise<[string, number]> {
  const stop = new AbortController();
  let begin: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const running = brain
    .experiment(document, {
      signal: stop.signal,
      onEvent: (event: ExperimentLine) => {
        if (!('id' in event)) begin();
      },
    })
    .then(
      () => 'done',
      (error: Error) => error.message,
    );
  await Promise.race([begun, running]);
  await new Promise((resolve) => setTimeout(resolve, 7));
  stop.abort(new Error('enough'));
  const outcome = await running;
  const { duration_ms } = await brain.run({ stimulus: 'none', duration_ms: 50 });
  return [outcome, duration_ms];
}

/** Aborts an experiment while its reader does other things, so that lines wait. */
export async function abortOfSlowReader(brain: Brain, document: ExperimentDocument): Promise<string> {
  const stop = new AbortController();
  let lines = 0;
  try {
    for await (const _ of brain.client.runExperiment(document, { signal: stop.signal })) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (++lines === 2) stop.abort(new Error('enough'));
    }
  } catch (error) {
    return (error as Error).message;
  }
  return 'done';
}

/** Submits a job. @returns the error, and the cost of a dry run of the job */
export async function jobOf(brain: Brain, document: ExperimentDocument): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  try {
    outcomes.push((await brain.client.submitExperiment(document)).id);
  } catch (error) {
    const { code, message } = error as Refusal;
    outcomes.push({ code: code!, message });
  }
  const { cost } = await brain.client.dryRun(document, { asJob: true });
  return [...outcomes, JSON.stringify(cost.brain_seconds)];
}

/** Asks while all timers of the caller run out at once, as after a sleep of the computer. */
export async function askedBySleeper(brain: Brain, document: object): Promise<Outcome[]> {
  const { setTimeout: usual } = globalThis;
  const { timeout } = AbortSignal;
  globalThis.setTimeout = ((run: () => void) => usual(run, 0)) as unknown as typeof setTimeout;
  AbortSignal.timeout = () => AbortSignal.abort(new DOMException('Time is up.', 'TimeoutError'));
  try {
    const session = await brain.session({});
    const answers = await Promise.allSettled([
      brain.experiment(document),
      brain.client.bytes('/api/v1/model'),
      brain.run({ stimulus: 'loom', duration_ms: 200 }),
      session.step({ t_ms: 0, duration_ms: 200 }),
    ]);
    return answers.map((each) =>
      each.status === 'fulfilled' ? 'answered' : { message: String(each.reason) },
    );
  } finally {
    globalThis.setTimeout = usual;
    AbortSignal.timeout = timeout;
  }
}

/** Closes a brain during a run of an experiment, a session and a search. */
export async function closingOf(brain: Brain, document: object): Promise<(string | undefined)[]> {
  const session = await brain.session({});
  let begin: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const pending: Promise<unknown>[] = [brain.experiment(document, { onEvent: () => begin() })];
  await Promise.race([begun, pending[0]]);
  pending.push(
    brain.run({ stimulus: 'none' }),
    session.step({ t_ms: 0, duration_ms: 200 }),
    brain.neurons({ limit: 1 }),
  );
  brain.close();
  pending.push(brain.model(), session.document());
  brain.close();
  const settled = await Promise.allSettled(pending);
  return settled.map((each) =>
    each.status === 'rejected' ? (each.reason as { code?: string }).code : 'answered',
  );
}

/** Checks and plans the document of a session. A session is one trial without a fixed end; its reports read every step. */
import type { Connectome } from '../../engine/connectome/connectome.js';
import { NodeSetResolver } from '../../engine/connectome/node-set-resolver.js';
import { CodedError } from '../../engine/errors.js';
import type { ResultOf } from '../../engine/parts.js';
import { hasMember, isObject } from '../../engine/schema/forms.js';
import { invalid, nameOf, pathOf, refused } from '../../engine/schema/json-path.js';
import type { ExperimentDocument } from '../document/document.js';
import { MAX_DURATION_MS } from '../kinds/fields.js';
import { type DocumentLimits, parseDocument } from '../document/parse-document.js';
import { mapped } from '../../engine/mapped.js';
import { redrawnEvents, totalsOf } from '../kinds/train-work.js';
import type { PlannedReport } from '../kinds/report-kind.js';
import { groupKindOf, kindOf, REPORT_KINDS } from '../kinds/report-kinds.js';
import type { ExperimentLimits } from './experiment-limits.js';
import { planInParts } from './plan.js';
import { expectedWork, priceMs, type Work } from './prices.js';
import type { ConditionInput, ConditionProtocol } from './trial.js';
import { historyStepsOf, stateBytes } from '../../engine/simulation/cpu/state-bytes.js';
import { cursorBytes, trainsWithCursors } from '../../engine/stimulus/input-events.js';
import { MS_PER_SECOND, MAX_WHOLE_TRIAL_STEPS, STEPS_PER_MS } from '../../engine/stimulus/protocol.js';

/** Maximum number of groups of all reports, because every step writes them. */
const MAX_GROUPS = 2_000;
/** Duration of the document if the session begins at rest. No step is shorter. */
const SHORTEST_MS = 1;

/** The plan of a session. Plain data that crosses threads. */
export type SessionPlan = ResultOf<typeof planSession>;

/**
 * @param value from JSON.parse
 * @throws CodedError INVALID_PARAMETER with the path of the first fault
 */
export function parseSessionDocument(value: unknown, limits: DocumentLimits, channels: readonly string[]) {
  if (!isObject(value)) {
    return { document: parseDocument(value, limits, channels), startMs: 0, endless: endlessIn({}) };
  }
  for (const member of ['sweep', 'controls']) {
    if (!hasMember(value, member)) continue;
    throw invalid([member], `${member} cannot be set: a session is one trial of one condition.`);
  }
  const { trials = 1 } = value;
  if (trials !== 1) throw refused(['trials'], trials, '1 or left out: a session is one trial');
  const isAtRest = !hasMember(value, 'duration_ms');
  // At rest the document has no duration, so reports are checked against the longest one.
  const longest = isAtRest && { duration_ms: MAX_DURATION_MS };
  const whole = parseDocument({ ...value, trials, ...longest }, limits, channels);
  const document = isAtRest ? documentAtRest({ ...value, trials }, limits, channels) : whole;
  for (const [name, input] of Object.entries(isAtRest ? document.inputs : {})) {
    const { rate_hz: rate } = input as { readonly rate_hz?: unknown };
    if (!isObject(rate)) continue;
    throw refused(
      ['inputs', name, 'rate_hz'],
      rate,
      'one number in a session that begins at rest: steps change it',
    );
  }
  for (const [name, report] of Object.entries(whole.reports)) {
    const path = ['reports', name];
    if (kindOf(report).isOfWholeTrials) {
      const types = Object.keys(REPORT_KINDS).filter((type) => !kindOf({ type }).isOfWholeTrials);
      throw refused([...path, 'type'], report.type, `one of ${types.join(', ')} in a session`);
    }
    if (report.start_ms === 0 && report.end_ms === whole.duration_ms) continue;
    const member = report.start_ms === 0 ? 'end_ms' : 'start_ms';
    throw refused([...path, member], report[member], 'left out: a session reads each of its steps');
  }
  const endMs = document.duration_ms;
  const reports = mapped(whole.reports, (report) => ({ ...report, end_ms: endMs }));
  return {
    document: { ...document, reports } as ExperimentDocument,
    startMs: isAtRest ? 0 : endMs,
    endless: endlessIn(value),
  };
}

/**
 * The parts of a document whose end the client left out. They continue in the session.
 * @param document as the client wrote it, because parsing writes out all ends
 */
function endlessIn({ inputs = {}, silence = [] }: Readonly<Record<string, unknown>>) {
  const ends = (part: unknown, member: string) => isObject(part) && part[member] != null;
  const windows = (silence as unknown[]).filter((item) => isObject(item) && 'node_set' in item);
  return {
    /** Names of inputs. */
    inputs: Object.keys(inputs as object).filter(
      (name) => !ends((inputs as Record<string, unknown>)[name], 'duration_ms'),
    ),
    /** Tells it of each silence with a window, in order. */
    silences: windows.map((item) => !ends(item, 'end_ms')),
  };
}

/**
 * Parses the document of a session that begins at rest, with a duration of 1 ms.
 * @param value valid with the longest duration, so only a time can be refused here
 * @throws CodedError INVALID_PARAMETER with a message about sessions, because the client did not ask for 1 ms
 */
function documentAtRest(value: object, limits: DocumentLimits, channels: readonly string[]) {
  try {
    return parseDocument({ ...value, duration_ms: SHORTEST_MS, reports: {} }, limits, channels);
  } catch (error) {
    if (!(error instanceof CodedError) || error.path === undefined) throw error;
    throw new CodedError(
      error.code,
      `${nameOf(pathOf(error.path))} cannot be so late in a session that begins at rest: its document ends after ${SHORTEST_MS} ms, and steps ` +
        'make later changes. With duration_ms so much of the document is simulated before the first step.',
      { path: error.path },
    );
  }
}

/** @throws CodedError those of planExperiment */
export function* planSession(
  connectome: Connectome,
  parsed: ReturnType<typeof parseSessionDocument>,
  limits: ExperimentLimits,
) {
  const { document, startMs, endless } = parsed;
  const plan = yield* planInParts(connectome, document, new NodeSetResolver(connectome, document), limits);
  checkGroups(plan.reports);
  const { synapticEventsPerBrainSecond = 0 } = limits;
  const { rewiredConnections = 0 } = plan.preparationAt(0);
  const eventBudgetPerStep = synapticEventsPerBrainSecond / (MS_PER_SECOND * STEPS_PER_MS);
  const { protocol } = plan.condition(0, []);
  const trains = trainsWithCursors(protocol.inputs);
  const historySteps = historyStepsOf(protocol.constants);
  const startStep = startMs * STEPS_PER_MS;
  const work = plan.cost.work();
  // The work of a longer document includes it.
  if (startStep <= MAX_WHOLE_TRIAL_STEPS) work.hiddenEvents += redrawnBefore(startStep, protocol);
  const preparation: Work | undefined = rewiredConnections > 0 ? { rewiredConnections } : undefined;
  return {
    /** The complete document. Its long lists are arrays after it crosses threads. */
    document,
    /** Size of its JSON in bytes. */
    documentBytes: new TextEncoder().encode(JSON.stringify(document)).length,
    /** The time that is simulated before the first step; 0 if the session begins at rest. */
    startMs,
    endless,
    // A session may become longer than its document, so its budget must grow with every step.
    protocol: {
      ...protocol,
      inputs: protocol.inputs.map(withTotals),
      ...(eventBudgetPerStep > 0 && { eventBudgetPerStep }),
    },
    /** The neurons and groups of each report, in the order of the document. */
    neuronsOfReports: plan.reports.map(({ neurons, groupOfNeuron, groups: all }) => ({
      neurons,
      groupOfNeuron,
      groups: Array.from({ length: all.count }, (_, group) => ({
        labels: all.labelsOf(group),
        neurons: all.sizes[group]!,
      })),
    })),
    /** Size of all arrays above in bytes. Known after they were moved to another thread. */
    arrayBytes: 0,
    /** Size of the state between two steps in bytes. */
    stateBytes: {
      brain: stateBytes(connectome.neuronCount, trains, historySteps),
      cursors: cursorBytes(trains),
    },
    /** Price of the time before the first step. */
    priceMs: startMs === 0 ? 0 : priceMs(work),
    /** Work of a worker that must first prepare the session's rewired network; absent if the network is not rewired. */
    ...(preparation && { preparation }),
  };
}

/** @throws CodedError TOO_EXPENSIVE */
function checkGroups(reports: readonly PlannedReport[]): void {
  const ofGroups = reports.filter(({ document }) => groupKindOf(document) !== undefined);
  const groups = ofGroups.reduce((sum, report) => sum + report.groups.count, 0);
  if (groups <= MAX_GROUPS) return;
  throw new CodedError(
    'TOO_EXPENSIVE',
    `The reports have ${groups} groups, which every step would write; at most ${MAX_GROUPS} are allowed.`,
    { path: '/reports' },
  );
}

/** Expected work of the time before the first step, up to a time. */
export function startWork({ protocol }: SessionPlan, ms: number): Work {
  if (ms === 0) return {};
  const durationSteps = ms * STEPS_PER_MS;
  const task = { protocol: { ...protocol, durationSteps }, reports: [], countsAll: false };
  const { hiddenEvents = 0, ...work } = expectedWork(task);
  return { ...work, hiddenEvents: hiddenEvents + redrawnBefore(durationSteps, protocol) };
}

/** Events of background that are drawn again up to a step, because that time is simulated in segments. */
function redrawnBefore(step: number, { inputs }: ConditionProtocol): number {
  return inputs.reduce((sum, { neurons, train }) => {
    if (train.kind !== 'background') return sum;
    return sum + redrawnEvents(neurons.length, train.rateHz, train.startStep, Math.min(step, train.endStep));
  }, 0);
}

/** Adds totals of rates to an input. */
function withTotals(input: ConditionInput): ConditionInput {
  const { train } = input;
  if (train.kind !== 'poisson' || typeof train.rateHz === 'number') return input;
  return { ...input, rateTotals: totalsOf(train.rateHz) };
}

/** The reports of a session, with the groups of the plan, which the experiment thread made. */
export function reportsOfSession({ document: { reports }, neuronsOfReports }: SessionPlan): PlannedReport[] {
  return Object.entries(reports).map(([name, document], at) => {
    const { neurons, groupOfNeuron, groups } = neuronsOfReports[at]!;
    return {
      name,
      document,
      neurons,
      groupOfNeuron,
      groups: {
        count: groups.length,
        groupOfPosition: groupOfNeuron,
        sizes: Uint32Array.from(groups, (group) => group.neurons),
        labelsOf: (group) => groups[group]!.labels,
        neuronsOf: (group) => neurons.filter((_, at) => groupOfNeuron[at] === group),
      },
    };
  });
}

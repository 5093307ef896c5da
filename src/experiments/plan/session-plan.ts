/** A document as a session takes it: one trial, whose end is wherever the session is, and reports that read each step. */
import type { Connectome } from '../../connectome/connectome.js';
import { NodeSetResolver } from '../../connectome/node-set-resolver.js';
import { CodedError } from '../../errors.js';
import type { InParts } from '../../parts.js';
import { hasMember, isObject } from '../../schema/forms.js';
import { invalid, refused } from '../../schema/json-path.js';
import type { ExperimentDocument } from '../document/document.js';
import { type DocumentLimits, parseDocument } from '../document/parse-document.js';
import { groupKindOf, kindOf, REPORT_KINDS } from '../kinds/report-kinds.js';
import type { ExperimentLimits } from './experiment-limits.js';
import { planInParts } from './plan.js';
import { priceMs, type Work } from './prices.js';
import type { ConditionProtocol } from './trial.js';
import { STEPS_PER_MS } from '../../stimulus/protocol.js';

/** Members of a document that a session cannot have. */
const REFUSED = {
  sweep: 'a session is one trial of one condition',
  controls: 'a session is one trial of one condition',
};
/** Groups of all reports: they are written in every step. */
const MAXIMUM_GROUPS = 2_000;
/** The duration of the document of a session that begins at rest: it ends before the first step could. */
const SHORTEST_MS = 1;
const MS_PER_SECOND = 1000;

/** Plain data that crosses threads. */
export interface SessionPlan {
  /** Complete. What lasts until its end goes on with the session. */
  readonly document: ExperimentDocument;
  /** How much of it is simulated before the first step; 0 where the session begins at rest. */
  readonly startMs: number;
  /** The one of the document. Its arrays lie in shared memory. */
  readonly protocol: ConditionProtocol;
  /** Neurons of each report, in the order of the document; in shared memory. */
  readonly neuronsOfReports: readonly {
    readonly neurons: Uint32Array;
    readonly groupOfNeuron: Uint32Array;
  }[];
  /** Price of what is simulated before the first step. */
  readonly priceMs: number;
  /** Work of a worker that takes a step and has another network, where the one of the session is rewired. */
  readonly preparation?: Work;
}

/**
 * @param value as JSON.parse gives it
 * @throws CodedError INVALID_PARAMETER with the path of the first fault
 */
export function parseSessionDocument(
  value: unknown,
  limits: DocumentLimits,
  channels: readonly string[],
): Pick<SessionPlan, 'document' | 'startMs'> {
  if (!isObject(value)) return { document: parseDocument(value, limits, channels), startMs: 0 };
  for (const [member, reason] of Object.entries(REFUSED)) {
    if (hasMember(value, member)) throw invalid([member], `${member} cannot be set: ${reason}.`);
  }
  const { trials = 1 } = value;
  if (trials !== 1) throw refused(['trials'], trials, '1 or left out: a session is one trial');
  // Reports may have the same members wherever the session is.
  const whole = parseDocument({ ...value, trials }, limits, channels);
  const isAtRest = !hasMember(value, 'duration_ms');
  const document = isAtRest
    ? parseDocument({ ...value, trials, duration_ms: SHORTEST_MS, reports: {} }, limits, channels)
    : whole;
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
  const reports = Object.entries(whole.reports).map(([name, report]) => [name, { ...report, end_ms: endMs }]);
  return {
    document: { ...document, reports: Object.fromEntries(reports) as ExperimentDocument['reports'] },
    startMs: isAtRest ? 0 : endMs,
  };
}

/** @throws CodedError as planExperiment */
export function* planSession(
  connectome: Connectome,
  parsed: ReturnType<typeof parseSessionDocument>,
  limits: ExperimentLimits,
): InParts<SessionPlan> {
  const { document, startMs } = parsed;
  const plan = yield* planInParts(connectome, document, new NodeSetResolver(connectome, document), limits);
  const groups = plan.reports.reduce(
    (sum, report) => sum + (groupKindOf(report.document) ? report.groups.count : 0),
    0,
  );
  if (groups > MAXIMUM_GROUPS) {
    throw new CodedError(
      'TOO_EXPENSIVE',
      `The reports have ${groups} groups, which every step would write; at most ${MAXIMUM_GROUPS} are allowed.`,
      { path: '/reports' },
    );
  }
  const { synapticEventsPerBrainSecond = 0 } = limits;
  const { rewiredConnections = 0 } = plan.preparationAt(0);
  const eventBudgetPerStep = synapticEventsPerBrainSecond / (MS_PER_SECOND * STEPS_PER_MS);
  return {
    document,
    startMs,
    // A session may become longer than its document, whose limit on events may not grow.
    protocol: { ...plan.condition(0, []).protocol, ...(eventBudgetPerStep > 0 && { eventBudgetPerStep }) },
    neuronsOfReports: plan.reports.map(({ neurons, groupOfNeuron }) => ({ neurons, groupOfNeuron })),
    priceMs: startMs === 0 ? 0 : priceMs(plan.cost.work()),
    ...(rewiredConnections > 0 && { preparation: { rewiredConnections } }),
  };
}

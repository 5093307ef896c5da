import { SELECTOR_DEFINITIONS } from '../../connectome/selector-schema.js';
import { checked, checkOf } from '../../schema/check.js';
import { completed } from '../../schema/completed.js';
import { hasMember, isObject } from '../../schema/forms.js';
import { withEdits } from '../kinds/edit-kinds.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import { groupKindOf, REPORT_KINDS } from '../kinds/report-kinds.js';
import { invalid, refused } from '../../schema/json-path.js';
import { MAXIMUM_ROWS } from '../kinds/inputs/pattern.js';
import { type CheckedDocument, DOCUMENT, type ExperimentDocument } from './document.js';
import { checkCircles } from './node-set-cycles.js';
import { parseSweep } from './parse-sweep.js';
import { SelectorCount } from './selector-count.js';
import { checkWindows, completeEdits, completeInput, completeWindow } from './windows.js';

export interface DocumentLimits {
  /** Conditions of one sweep at most. */
  readonly conditions: number;
  /** Types and root ids in all selectors, and root ids of given times. */
  readonly ids: number;
}

/** Rates in time, of all inputs. */
const MAXIMUM_RATES = 60_000;

const SCHEMA = { ...DOCUMENT, $defs: SELECTOR_DEFINITIONS };
const check = checkOf(SCHEMA);

/**
 * Checks a document and completes it: every default is written out, members stand in the order of the schema, `from`,
 * `to` and `step` become values. Names in node_sets, inputs and reports keep their order, except that whole numbers come
 * first, as in every object of JavaScript. A complete document stays as it is. What the neurons of a model decide
 * (unknown names, empty sets, the groups of a sweep) is checked later.
 *
 * @param value as JSON.parse gives it
 * @param channels ids of the channels of the model: by default each is a report
 * @throws CodedError INVALID_PARAMETER with the path of the first fault
 */
export function parseDocument(
  value: unknown,
  limits: DocumentLimits,
  channels: readonly string[],
): ExperimentDocument {
  const sets = isObject(value) && isObject(value['node_sets']) ? Object.keys(value['node_sets']) : [];
  const count = new SelectorCount(new Set(sets), limits.ids);
  const complete = completed(SCHEMA, withReports(value, channels), (_, selector, path, depth) =>
    count.add(selector, path, depth),
  );
  const draft = checked(check, complete) as CheckedDocument & Pick<ExperimentDocument, 'reports'>;
  checkCircles(draft.node_sets);
  const counts = {
    ids: { maximum: limits.ids, used: 0 },
    rows: { maximum: MAXIMUM_ROWS, used: 0 },
    rates: { maximum: MAXIMUM_RATES, used: 0 },
    background: { maximum: 1, used: 0 },
  };
  const inputs = mapped(
    draft.inputs,
    (input, name) => inputKindOf(input).parsed?.(input, ['inputs', name], counts) ?? input,
  );
  const edited = withEdits({ ...draft, inputs }, (kind, value) => (kind.parsed ? kind.parsed(value) : value));
  checkControls(edited);
  const sweep = parseSweep(draft.sweep ?? [], edited, limits.conditions);
  checkWindows(edited, sweep.values);
  return {
    ...(completeEdits(edited, sweep.values) as Omit<typeof draft, 'sweep'>),
    inputs: mapped(inputs, (input, name) => completeInput(input, name, draft.duration_ms, sweep.values)),
    reports: mapped(draft.reports, (report) => completeWindow(report, draft.duration_ms, sweep.values)),
    ...(sweep.axes.length > 0 && { sweep: sweep.axes }),
  };
}

/** @throws CodedError INVALID_PARAMETER where nothing is compared with controls, or with controls of a control */
function checkControls({
  controls,
  wiring,
  reports,
}: Pick<ExperimentDocument, 'controls' | 'wiring' | 'reports'>) {
  if (controls === undefined) return;
  if (!Object.values(reports).some((report) => groupKindOf(report)?.controlled)) {
    const types = Object.keys(REPORT_KINDS).filter((type) => groupKindOf({ type })?.controlled);
    throw invalid(
      ['controls'],
      `controls needs a report of type ${types.join(' or ')}, whose groups are compared with them, got none.`,
    );
  }
  if (wiring?.shuffle === undefined) return;
  throw refused(
    ['wiring', 'shuffle'],
    wiring.shuffle,
    'left out where there are controls, whose shuffle takes its place',
  );
}

/** Adds the channels by side, if nothing is reported: as version 1 has them, but for each side. Drops an empty sweep. */
function withReports(document: unknown, channels: readonly string[]): unknown {
  if (!isObject(document)) return document;
  const { sweep } = document;
  const reports = channels
    .slice(0, DOCUMENT.properties.reports.maxProperties)
    .map((id) => [id, { node_set: `@channel/${id}`, group_by: ['side'] }]);
  return {
    ...document,
    ...(!hasMember(document, 'reports') && { reports: Object.fromEntries(reports) as unknown }),
    ...(Array.isArray(sweep) && sweep.length === 0 && { sweep: undefined }),
  };
}

function mapped<T>(record: Readonly<Record<string, T>>, change: (value: T, name: string) => T) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}

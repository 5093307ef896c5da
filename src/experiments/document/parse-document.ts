import { SELECTOR_DEFINITIONS } from '../../connectome/selector-schema.js';
import { checked, checkOf } from '../../schema/check.js';
import { completed } from '../../schema/completed.js';
import { hasMember, isObject } from '../../schema/forms.js';
import { Bound } from '../kinds/bound.js';
import { withEdits } from '../kinds/edit-kinds.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import { groupKindOf, REPORT_KINDS } from '../kinds/report-kinds.js';
import { invalid, nameOf, refused } from '../../schema/json-path.js';
import { MAXIMUM_ROWS } from '../kinds/inputs/poisson.js';
import { type CheckedDocument, DOCUMENT, type ExperimentDocument } from './document.js';
import { checkCircles } from './node-set-cycles.js';
import { parseSweep } from './parse-sweep.js';
import { SelectorCount } from './selector-count.js';
import { mapped, withWindows } from './windows.js';

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
  const written = completed(SCHEMA, withReports(value, channels), (_, selector, path, depth) =>
    count.add(selector, path, depth),
  );
  const draft = checked(check, written) as CheckedDocument & Pick<ExperimentDocument, 'reports'>;
  checkCircles(draft.node_sets);
  const bounds = {
    ids: new Bound(limits.ids, `The inputs of a document may have times for at most ${limits.ids} root ids`),
    rows: new Bound(MAXIMUM_ROWS, `The inputs of a document may have at most ${MAXIMUM_ROWS} rows of rates`),
    rates: new Bound(
      MAXIMUM_RATES,
      `The inputs of a document may have at most ${MAXIMUM_RATES} rates in time in all`,
    ),
  };
  checkOnlyOnes(draft.inputs);
  const inputs = mapped(
    draft.inputs,
    (input, name) => inputKindOf(input).parsed?.(input, ['inputs', name], bounds) ?? input,
  );
  const edited = withEdits({ ...draft, inputs }, (kind, value) => (kind.parsed ? kind.parsed(value) : value));
  checkControls(edited);
  const { axes, values } = parseSweep(draft.sweep ?? [], edited, limits.conditions);
  const complete = withWindows(edited, values) as Omit<typeof edited, 'sweep'>;
  // Its axes stand where the sweep does: ids depend on the order of members.
  return { ...complete, ...(axes.length > 0 && { sweep: axes }) };
}

/** @throws CodedError INVALID_PARAMETER for a second input of a kind of which a document has only one */
function checkOnlyOnes(inputs: ExperimentDocument['inputs']): void {
  const modules = Object.entries(inputs).filter(([, input]) => inputKindOf(input).isOnlyOne);
  modules.forEach(([name, { module }], at) => {
    if (modules.findIndex(([, other]) => other.module === module) === at) return;
    const path = ['inputs', name, 'module'];
    throw invalid(path, `${nameOf(path)} must not be ${module}: a document may have one such input.`);
  });
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

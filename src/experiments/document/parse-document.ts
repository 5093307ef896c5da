import { SELECTOR_DEFINITIONS } from '../../engine/connectome/selector-schema.js';
import { checked, checkOf } from '../../engine/schema/check.js';
import { completed } from '../../engine/schema/completed.js';
import { hasMember, isObject, isList } from '../../engine/schema/forms.js';
import { Bound } from '../kinds/bound.js';
import { withEdits } from '../kinds/edit-kinds.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import { invalid, nameOf } from '../../engine/schema/json-path.js';
import { MAX_ROWS } from '../kinds/inputs/poisson.js';
import { type CheckedDocument, DOCUMENT, type ExperimentDocument } from './document.js';
import { parsedControls } from './parse-controls.js';
import { parseSweep } from './parse-sweep.js';
import { SelectorCount } from './selector-count.js';
import { withWindows } from './windows.js';
import { mapped } from '../../engine/mapped.js';
import { INNER_SELECTORS, nameOnSide, type SetSelector } from '../../engine/connectome/set-selector.js';

export interface DocumentLimits {
  /** Maximum number of conditions of a sweep. */
  readonly conditions: number;
  /** Maximum number of types and root ids in all selectors; also of root ids with given times. */
  readonly ids: number;
}

/** Maximum number of rates in time of all inputs. */
export const MAX_RATES = 60_000;

const SCHEMA = { ...DOCUMENT, $defs: SELECTOR_DEFINITIONS };
const check = checkOf(SCHEMA);

/**
 * Checks a document and completes it:
 *
 * - every default is written out;
 * - members get the order of the schema; names in node_sets, inputs and reports keep theirs, except that JavaScript puts
 *   whole numbers first;
 * - `from`, `to` and `step` of a sweep become values.
 *
 * A complete document stays unchanged. Faults that only the neurons of a model show, such as unknown names, are found later,
 * by the plan.
 *
 * @param value from JSON.parse
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
    rows: new Bound(MAX_ROWS, `The inputs of a document may have at most ${MAX_ROWS} rows of rates`),
    rates: new Bound(
      MAX_RATES,
      `The inputs of a document may have at most ${MAX_RATES} rates in time in all`,
    ),
  };
  checkOnlyOnes(draft.inputs);
  const inputs = mapped(
    draft.inputs,
    (input, name) => inputKindOf(input).parsed?.(input, ['inputs', name], bounds) ?? input,
  );
  const edited = withEdits({ ...draft, inputs }, (kind, value) => (kind.parsed ? kind.parsed(value) : value));
  const { sweep = [], controls } = draft;
  const controlled = controls && { controls: parsedControls(controls, edited, sweep) };
  const { axes, values } = parseSweep(sweep, edited, limits.conditions);
  const complete = { ...withWindows(edited, values), ...controlled } as Omit<typeof edited, 'sweep'>;
  // Replaces the sweep in its position, because ids depend on the order of members.
  return { ...complete, ...(axes.length > 0 && { sweep: axes }) };
}

/** @throws CodedError INVALID_PARAMETER if there are two inputs of a kind that allows only one */
function checkOnlyOnes(inputs: ExperimentDocument['inputs']): void {
  const modules = Object.entries(inputs).filter(([, input]) => inputKindOf(input).isOnlyOne);
  modules.forEach(([name, { module }], at) => {
    if (modules.findIndex(([, other]) => other.module === module) === at) return;
    const path = ['inputs', name, 'module'];
    throw invalid(path, `${nameOf(path)} must not be ${module}: a document may have one such input.`);
  });
}

/**
 * Adds default reports, the channels of version 1 by side, if there are none. Writes out a report that is only the name of
 * neurons. Drops an empty sweep.
 */
function withReports(document: unknown, channels: readonly string[]): unknown {
  if (!isObject(document)) return document;
  const { sweep, reports } = document;
  const byDefault = channels
    .slice(0, DOCUMENT.properties.reports.maxProperties)
    .map((id) => [id, { node_set: `@channel/${id}`, group_by: ['side'] }]);
  return {
    ...document,
    ...(!hasMember(document, 'reports') && { reports: Object.fromEntries(byDefault) as unknown }),
    ...(isObject(reports) && {
      reports: mapped(reports, (report) => (typeof report === 'string' ? { node_set: report } : report)),
    }),
    ...(Array.isArray(sweep) && sweep.length === 0 && { sweep: undefined }),
  };
}

type NodeSets = Readonly<Record<string, SetSelector>>;

/** @throws CodedError INVALID_PARAMETER if a set names itself, directly or through other sets */
export function checkCircles(nodeSets: NodeSets): void {
  const finished = new Set<string>();
  const visit = (name: string, trail: readonly string[]): void => {
    const at = trail.indexOf(name);
    if (at >= 0) {
      const circle = [...trail.slice(at), name];
      throw invalid(['node_sets', name], `node_sets.${name} must not name itself: ${circle.join(' -> ')}.`);
    }
    if (finished.has(name)) return;
    for (const other of setsNamedIn(nodeSets[name]!, nodeSets)) visit(other, [...trail, name]);
    finished.add(name);
  };
  for (const name of Object.keys(nodeSets)) visit(name, []);
}

/** The document's own sets that a selector names, each once. It may recurse, because SelectorCount limits the depth. */
function setsNamedIn(selector: SetSelector, nodeSets: NodeSets): ReadonlySet<string> {
  if (typeof selector === 'string') {
    const name = nameOnSide(selector)?.name;
    return new Set(name !== undefined && Object.hasOwn(nodeSets, name) ? [name] : []);
  }
  const inside = isList(selector) ? selector : INNER_SELECTORS.flatMap((member) => selector[member] ?? []);
  return new Set(inside.flatMap((each) => [...setsNamedIn(each, nodeSets)]));
}

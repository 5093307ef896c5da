/** Reads an answer in JSON or NDJSON back, to draw it. */
import type { Connectome } from '../../engine/connectome/connectome.js';
import { neuronIndexOf } from '../../engine/connectome/neuron-index.js';
import type {
  AnsweredCondition,
  ExperimentEvent,
  ExperimentHead,
  ExperimentTotals,
} from '../document/result.js';
import { mapped } from '../../engine/mapped.js';
import type { GroupResults } from '../kinds/result-rows.js';
import { firstRowsOf } from '../run/pages.js';
import type { AnswerRequest } from './answer.js';
import { eventTableOf, type TableColumns } from './tables.js';

type Condition = Omit<AnsweredCondition, 'reports'> & {
  readonly reports: Readonly<Record<string, GroupResults | TableColumns>>;
};
type Whole = ExperimentHead & ExperimentTotals & { readonly conditions: readonly Condition[] };

/** The other forms of an answer that has everything that the figure of an experiment shows. */
export function drawableForms(wanted: AnswerRequest): readonly AnswerRequest[] {
  if (wanted.format !== 'svg') return [];
  return (['ndjson', 'json'] as const).map((format) => ({ ...wanted, format, truncate: false }));
}

/**
 * The events of a whole answer.
 * @param limitRows maximum number of rows of each table
 * @returns undefined if it goes on on another page
 */
export function eventsOfAnswer(
  bytes: Uint8Array,
  connectome: Connectome,
  limitRows: number,
): readonly ExperimentEvent[] | undefined {
  const { head, conditions, totals } = partsOf(new TextDecoder().decode(bytes));
  if (totals.next_page !== undefined) return undefined;
  const { experiment } = head;
  const indexOf = (id: string): number => neuronIndexOf(connectome).withId(id)!;
  const tableOrGroups = (report: GroupResults | TableColumns, name: string) =>
    'trial' in report ? firstRowsOf(eventTableOf(report, experiment, name, indexOf), limitRows) : report;
  return [
    { kind: 'head', head },
    ...conditions.map(({ reports, ...condition }): ExperimentEvent => ({
      kind: 'condition',
      condition: { ...condition, reports: mapped(reports, tableOrGroups) },
    })),
    { kind: 'totals', totals },
  ];
}

function partsOf(text: string) {
  const lines = text.trimEnd().split('\n');
  if (lines.length === 1) {
    const whole = JSON.parse(text) as Whole;
    return { head: whole, conditions: whole.conditions, totals: whole };
  }
  const [head, ...rest] = lines.map((line) => JSON.parse(line) as unknown);
  const totals = rest.pop() as ExperimentTotals;
  return { head: head as ExperimentHead, conditions: rest as Condition[], totals };
}

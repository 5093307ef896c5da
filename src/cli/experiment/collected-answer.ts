/** What the table and the plots of the command line need of an answer, gathered while it arrives. */
import type { ExperimentDocument, SweepAxis } from '../../answers/v2/document.js';
import type {
  ConditionParameters,
  ConditionResult,
  ExperimentEvent,
  ExperimentHead,
  ExperimentTotals,
  GroupResult,
  SpikeTable,
} from '../../answers/v2/result.js';
import { groupSuffix, valueLabel } from '../../plot/condition-labels.js';

/** Tables of spikes may fill the memory: those of so many conditions are kept for the plot. */
const CONDITIONS_WITH_TABLES = 4;

export interface CollectedCondition extends Omit<ConditionResult, 'reports'> {
  /** Of each report of rates or histograms, its groups. */
  readonly groups: Readonly<Record<string, readonly GroupResult[]>>;
  /** Of the other reports, for the first conditions. */
  readonly tables: Readonly<Record<string, SpikeTable>>;
}

export interface CollectedAnswer {
  readonly head: ExperimentHead;
  readonly conditions: readonly CollectedCondition[];
  readonly totals: ExperimentTotals;
  /** Reports whose tables were cut at the limit of a service. */
  readonly truncated: readonly string[];
}

export class AnswerCollector {
  readonly #conditions: CollectedCondition[] = [];
  readonly #truncated = new Set<string>();
  #head: ExperimentHead | undefined;
  #totals: ExperimentTotals | undefined;

  /** Conditions that are complete. */
  get conditions(): number {
    return this.#conditions.length;
  }

  add(event: ExperimentEvent): void {
    switch (event.kind) {
      case 'head':
        this.#head = event.head;
        break;
      case 'condition':
        this.#conditions.push(this.#collected(event.condition));
        break;
      case 'totals':
        this.#totals = event.totals;
    }
  }

  /** When all events were added. */
  answer(): CollectedAnswer {
    return {
      head: this.#head!,
      conditions: this.#conditions,
      totals: this.#totals!,
      truncated: [...this.#truncated],
    };
  }

  #collected({ reports, ...condition }: ConditionResult): CollectedCondition {
    const groups: Record<string, readonly GroupResult[]> = {};
    const tables: Record<string, SpikeTable> = {};
    for (const [name, report] of Object.entries(reports)) {
      if (!('table' in report)) {
        groups[name] = [...report];
        continue;
      }
      if (report.truncated) this.#truncated.add(name);
      if (this.#conditions.length < CONDITIONS_WITH_TABLES) tables[name] = report;
    }
    return { ...condition, groups, tables };
  }
}

/** The name of a swept parameter or of the axis of groups, as `parameters` of a condition has it. */
export function parameterOf(axis: SweepAxis): string {
  return 'set' in axis ? axis.set : axis.as;
}

/** The axis of a screen, where the sweep is nothing else. */
export function screenOf({ sweep = [] }: ExperimentDocument): SweepAxis | undefined {
  const [axis] = sweep;
  return sweep.length === 1 && axis !== undefined && 'each' in axis ? axis : undefined;
}

/** `inputs.sugar.rate_hz=100, silence=CB0889`; empty without a sweep. */
export function parametersText({ parameters }: ConditionParameters): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${valueLabel(value)}`)
    .join(', ');
}

/** A group of a report in all conditions. Groups of a report are the same in each. */
export interface Series {
  /** `mn9 left` */
  readonly name: string;
  readonly report: string;
  /** Place in the report. */
  readonly group: number;
}

export function seriesOf({ conditions }: CollectedAnswer): Series[] {
  return Object.entries(conditions[0]?.groups ?? {}).flatMap(([report, groups]) =>
    groups.map((each, group) => ({ name: `${report} ${groupSuffix(each)}`.trim(), report, group })),
  );
}

export function groupIn(condition: CollectedCondition, { report, group }: Series): GroupResult {
  return condition.groups[report]![group]!;
}

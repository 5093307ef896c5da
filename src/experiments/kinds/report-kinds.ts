import type { ReportDocument } from './kind-schemas.js';
import type { EventKind, GroupKind, GroupTable, ReportKind } from './report-kind.js';
import { histogram } from './reports/histogram.js';
import { inputs } from './reports/inputs.js';
import { latency } from './reports/latency.js';
import { membrane } from './reports/membrane.js';
import { rate } from './reports/rate.js';
import { spikes } from './reports/spikes.js';

/** By the `type` of a report. Messages and descriptions list the kinds in this order. */
export const REPORT_KINDS = { rate, histogram, spikes, inputs, latency, membrane };

const KINDS: Readonly<Record<string, ReportKind>> = REPORT_KINDS;

type OfType = Pick<ReportDocument, 'type'>;

/** @param report of a complete document, or any object with the same `type` */
export function kindOf({ type }: OfType): ReportKind {
  return KINDS[type]!;
}

/** @returns the kind if it is one of groups; undefined for other types, also unknown ones */
export function groupKindOf({ type }: OfType): GroupKind | undefined {
  const kind = KINDS[type];
  return kind?.shape === 'groups' ? kind : undefined;
}

/** @returns the kind if it is a table of events; undefined for other types, also unknown ones */
export function eventKindOf({ type }: OfType): EventKind | undefined {
  const kind = KINDS[type];
  return kind?.shape === 'events' ? kind : undefined;
}

export const GROUP_TABLES: ReadonlyMap<string, GroupTable> = new Map(
  Object.keys(KINDS).flatMap(
    (type) => groupKindOf({ type })?.tables.map((table) => [table.name, table]) ?? [],
  ),
);

/** Names of tables; they are those of `?table=`. Events have a table of the name of their kind. */
export const TABLES: readonly string[] = [...new Set(Object.keys(KINDS).flatMap(tablesFilledBy))];

export function typesThatFill(table: string): string[] {
  return Object.keys(KINDS).filter((type) => tablesFilledBy(type).includes(table));
}

export function tablesFilledBy(type: string): string[] {
  return groupKindOf({ type })?.tables.map(({ name }) => name) ?? [type];
}

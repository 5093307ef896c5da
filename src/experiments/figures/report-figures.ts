/** Reports of an experiment by what is drawn of them. */
import type { ExperimentDocument } from '../document/document.js';
import type { Measure } from '../kinds/report-kind.js';
import { eventKindOf, groupKindOf } from '../kinds/report-kinds.js';

/** Names of the reports that have a number for each group. */
export function measuredReports({ reports }: ExperimentDocument): string[] {
  return Object.keys(reports).filter((name) => groupKindOf(reports[name]!) !== undefined);
}

/** @param report one of measuredReports */
export function measureOf({ reports }: ExperimentDocument, report: string): Measure {
  return groupKindOf(reports[report]!)!.measure;
}

/** Names of the reports that list single neurons: input events come before the spikes that follow from them. */
export function eventReports({ reports }: ExperimentDocument): string[] {
  const isOfInputs = (name: string) => eventKindOf(reports[name]!)!.readsInputs === true;
  return Object.keys(reports)
    .filter((name) => eventKindOf(reports[name]!) !== undefined)
    .sort((a, b) => Number(isOfInputs(b)) - Number(isOfInputs(a)));
}

/** Tells whether lines are drawn of the neurons of such a report, not a stroke for each row. */
export function isTraced({ reports }: ExperimentDocument, report: string): boolean {
  return eventKindOf(reports[report]!)!.trace !== undefined;
}

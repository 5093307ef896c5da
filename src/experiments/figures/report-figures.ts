/** Sorts the reports of an experiment by the kind of figure that shows them. */
import type { ExperimentDocument } from '../document/document.js';
import type { Measure } from '../kinds/report-kind.js';
import { eventKindOf, groupKindOf } from '../kinds/report-kinds.js';

/** The names of reports with a number for each group. */
export function measuredReports({ reports }: ExperimentDocument): string[] {
  return Object.keys(reports).filter((name) => groupKindOf(reports[name]!) !== undefined);
}

/** @param report one of measuredReports */
export function measureOf({ reports }: ExperimentDocument, report: string): Measure {
  return groupKindOf(reports[report]!)!.measure;
}

/** The names of reports that list events of single neurons, input events before spikes. */
export function eventReports({ reports }: ExperimentDocument): string[] {
  const isOfInputs = (name: string) => eventKindOf(reports[name]!)!.readsInputs === true;
  return Object.keys(reports)
    .filter((name) => eventKindOf(reports[name]!) !== undefined)
    .sort((a, b) => Number(isOfInputs(b)) - Number(isOfInputs(a)));
}

/** Tells whether figures draw a line for each neuron of the report, not a stroke for each row. */
export function isTraced({ reports }: ExperimentDocument, report: string): boolean {
  return eventKindOf(reports[report]!)!.trace !== undefined;
}

/** Plans the reports of a document, and makes the task of each for a worker. */
import type { Connectome } from '../../engine/connectome/connectome.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import type { ExperimentDocument } from '../document/document.js';
import { stepsOf } from '../kinds/fields.js';
import type { ReportDocument } from '../kinds/kind-schemas.js';
import type { PlannedReport, ReportTask, ReportWindow } from '../kinds/report-kind.js';
import { groupKindOf, kindOf } from '../kinds/report-kinds.js';
import { sharedArray } from '../kinds/shared-array.js';
import { groupsOf } from '../kinds/groups.js';
import type { ResolvedDocument } from './resolve-document.js';

/** Plans all reports. Those with the same neurons and groups share arrays. */
export function plannedReports(
  connectome: Connectome,
  { reports }: ExperimentDocument,
  { neurons: resolved }: ResolvedDocument,
): PlannedReport[] {
  const known = new Map<string, Pick<PlannedReport, 'neurons' | 'groups' | 'groupOfNeuron'>>();
  return Object.entries(reports).map(([name, document]) => {
    const read = getOrInsert(known, JSON.stringify([document.node_set, document.group_by]), () => {
      const neurons = sharedArray(resolved.get(`reports.${name}`)!);
      const groups = groupsOf(connectome, neurons, document.group_by);
      return { neurons, groups, groupOfNeuron: sharedArray(groups.groupOfPosition) };
    });
    return { name, document, ...read };
  });
}

/** The reports that are compared with controls. Controls read only these. */
export function controlledReports(reports: readonly PlannedReport[]): readonly PlannedReport[] {
  return reports.filter(({ document }) => groupKindOf(document)?.controlled !== undefined);
}

/** The window of a report in a trial of a given duration. */
export function windowOf(
  { start_ms: startMs, end_ms: endMs }: ReportDocument,
  durationMs: number,
): ReportWindow {
  return { startStep: stepsOf(startMs), endStep: stepsOf(endMs ?? durationMs) };
}

/** @param maxRows maximum number of rows, if the report is a table */
export function reportTask(report: PlannedReport, durationMs: number, maxRows: number): ReportTask {
  const { document, neurons } = report;
  return {
    type: document.type,
    neurons,
    ...windowOf(document, durationMs),
    ...kindOf(document).taskOf?.(report, maxRows),
  };
}

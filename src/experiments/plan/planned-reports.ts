/** Reports of a document on a connectome, and the task that each is for a worker. */
import type { Connectome } from '../../connectome/connectome.js';
import { getOrInsert } from '../../get-or-insert.js';
import type { ExperimentDocument } from '../document/document.js';
import { stepsOf } from '../document/fields.js';
import type { ReportDocument } from '../document/kind-schemas.js';
import type { PlannedReport, ReportTask, ReportWindow } from '../kinds/report-kind.js';
import { groupKindOf, kindOf } from '../kinds/report-kinds.js';
import { sharedArray } from '../kinds/shared-array.js';
import { groupsOf } from './groups.js';
import type { ResolvedDocument } from './resolve-document.js';

/** Reports that read the same groups of the same neurons share their arrays. */
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
      return { neurons, groups, groupOfNeuron: sharedArray(groups.ofPlaces) };
    });
    return { name, document, ...read };
  });
}

/** The reports whose groups are compared with controls, where there are some: controls read nothing else. */
export function controlledReports(reports: readonly PlannedReport[]): readonly PlannedReport[] {
  return reports.filter(({ document }) => groupKindOf(document)?.controlled !== undefined);
}

/** Window that a report reads of a trial of this length. */
export function windowOf(
  { start_ms: startMs, end_ms: endMs }: ReportDocument,
  durationMs: number,
): ReportWindow {
  return { startStep: stepsOf(startMs), endStep: stepsOf(endMs ?? durationMs) };
}

/** @param maximumRows of a table */
export function reportTask(report: PlannedReport, durationMs: number, maximumRows: number): ReportTask {
  const { document, neurons } = report;
  return {
    type: document.type,
    neurons,
    ...windowOf(document, durationMs),
    ...kindOf(document).taskOf?.(report, maximumRows),
  };
}

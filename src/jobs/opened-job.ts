import { ConditionsApart } from '../answers/v2/run-apart.js';
import { decodeOutcome } from '../answers/v2/outcomes.js';
import { planInParts, type ExperimentPlan } from '../answers/v2/plan.js';
import type { Connectome } from '../connectome/connectome.js';
import { NodeSetResolver } from '../connectome/node-set-resolver.js';
import type { InParts } from '../parts.js';
import { withPauses } from '../pauses.js';
import type { JobRecord } from './job.js';
import type { JobStore } from './job-store.js';
import { phasesOf } from './phases.js';

/** A job ended while it was being computed: nobody wants the rest. */
export class JobEnded extends Error {}

/** A job with the plan of its experiment. */
export interface OpenedJob {
  readonly record: JobRecord;
  readonly plan: ExperimentPlan;
  readonly phases: readonly (readonly number[])[];
  readonly conditions: ConditionsApart;
  /** Ends what this process computes of it. */
  readonly stop: AbortController;
}

/** @throws CodedError where the document does not fit the connectome, which the service that accepted it has ruled out */
export async function openJob(
  record: JobRecord,
  connectome: Connectome,
  store: JobStore,
): Promise<OpenedJob> {
  const plan = await withPauses(planJob(record, connectome));
  const load = async (index: number) => {
    const [bytes] = await store.outcomes(record.id, [index]);
    if (bytes === undefined) throw new JobEnded();
    return decodeOutcome(bytes);
  };
  return {
    record,
    plan,
    phases: phasesOf(plan.grid, record.from),
    conditions: new ConditionsApart(plan, load),
    stop: new AbortController(),
  };
}

export function planJob({ document, limits }: JobRecord, connectome: Connectome): InParts<ExperimentPlan> {
  return planInParts(connectome, document, new NodeSetResolver(connectome, document), limits);
}

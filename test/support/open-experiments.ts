import { CodedError } from '../../src/engine/errors.js';
import { KernelEngine } from '../../src/engine/simulation/cpu/kernel-engine.js';
import { RewirableEngine } from '../../src/engine/simulation/rewiring/rewirable-engine.js';
import { NodeSetResolver } from '../../src/engine/connectome/node-set-resolver.js';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { compiledDrawing } from '../../src/engine/stimulus/compiled-drawing.js';
import { parseDocument } from '../../src/experiments/document/parse-document.js';
import type { ExperimentLimits } from '../../src/experiments/plan/experiment-limits.js';
import type { RateGroup } from '../../src/experiments/kinds/reports/rate.js';
import { planExperiment, type ExperimentPlan } from '../../src/experiments/plan/plan.js';
import { trialOf, TrialReader } from '../../src/experiments/run/readout.js';
import { trialTask, type TrialResult, type TrialTask } from '../../src/experiments/plan/trial.js';
import type {
  AnsweredCondition,
  ExperimentEvent,
  ExperimentHead,
  ExperimentTotals,
} from '../../src/experiments/document/result.js';
import type { EventTable } from '../../src/experiments/kinds/result-rows.js';
import type { RunOptions, RunTrial } from '../../src/experiments/run/condition-run.js';
import { runExperiment, type AnswerExtent } from '../../src/experiments/run/run-experiment.js';
import {
  compileDrawingKernel,
  compileKernel,
  compileRewiringKernel,
} from '../../src/workers/pool/kernel-file.js';

export const NO_LIMITS: ExperimentLimits = {
  selectedNeurons: Infinity,
  conditions: 20_000,
  brainSeconds: Infinity,
  inputEventsPerTrial: Infinity,
  synapticEventsPerTrial: Infinity,
  tableRows: Infinity,
  samples: Infinity,
  groupNumbers: Infinity,
};

/** Plan of a requested document. */
export function planOf(
  connectome: Connectome,
  request: object,
  limits: Partial<ExperimentLimits> = {},
): ExperimentPlan {
  const all = { ...NO_LIMITS, ...limits };
  const channels = connectome.metadata.channels.map(({ id }) => id);
  const document = parseDocument(request, { conditions: all.conditions, ids: 10_000 }, channels);
  return planExperiment(connectome, document, new NodeSetResolver(connectome, document), all);
}

/** The error that refuses something. */
export function refusalOf(refused: () => unknown): CodedError {
  try {
    refused();
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** Trials in this thread. */
export function localTrials(connectome: Connectome): RunTrial {
  const read = localReadings(connectome);
  return async (task, trial) => read(trialTask(task, trial));
}

export function localReadings(connectome: Connectome): (task: TrialTask) => TrialResult {
  const kernel = compileKernel();
  const modules = () => ({ simulation: kernel, rewiring: compileRewiringKernel() });
  const engine = new RewirableEngine(new KernelEngine(kernel, connectome), connectome, modules);
  return trialOf(new TrialReader(connectome, compiledDrawing(compileDrawingKernel())), engine);
}

export interface Answer {
  readonly head: ExperimentHead;
  readonly conditions: readonly AnsweredCondition[];
  readonly totals: ExperimentTotals;
}

export async function answerOf(
  plan: ExperimentPlan,
  runTrial: RunTrial,
  options: Partial<RunOptions & AnswerExtent> = {},
): Promise<Answer> {
  const events: ExperimentEvent[] = [];
  for await (const event of runExperiment(plan, runTrial, { inFlight: 3, ...options })) events.push(event);
  const [head, ...others] = events;
  const totals = others.pop();
  if (head?.kind !== 'head' || totals?.kind !== 'totals') throw new Error('no head or no totals');
  return {
    head: head.head,
    conditions: others.map((event) =>
      withAllGroups((event as ExperimentEvent & { kind: 'condition' }).condition),
    ),
    totals: totals.totals,
  };
}

/** Groups are made when they are asked for; arrays of them can be compared. */
function withAllGroups(condition: AnsweredCondition): AnsweredCondition {
  const reports = Object.entries(condition.reports).map(([name, report]) => [
    name,
    'table' in report ? report : [...report],
  ]);
  return { ...condition, reports: Object.fromEntries(reports) as AnsweredCondition['reports'] };
}

export function groupsIn(condition: AnsweredCondition, report: string): readonly RateGroup[] {
  return condition.reports[report] as readonly RateGroup[];
}

export function tableIn(condition: AnsweredCondition, report: string): EventTable {
  return condition.reports[report] as EventTable;
}

/** Rows of a table as trial, step, neuron and the columns of its kind: of input events the place of the input. */
export function rowsOf({ trials, steps, neurons, columns }: EventTable): number[][] {
  return Array.from(trials, (trial, row) => [
    trial,
    steps[row]!,
    neurons[row]!,
    ...columns.map(({ values }) => values[row]!),
  ]);
}

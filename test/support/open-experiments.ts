import { KernelEngine } from '../../src/engine/backends/cpu/kernel-engine.js';
import { NodeSetResolver } from '../../src/connectome/node-set-resolver.js';
import type { Connectome } from '../../src/connectome/connectome.js';
import { compiledDrawing } from '../../src/experiment/compiled-drawing.js';
import { parseDocument } from '../../src/answers/v2/parse-document.js';
import { planExperiment, type ExperimentLimits, type ExperimentPlan } from '../../src/answers/v2/plan.js';
import { trialOf } from '../../src/answers/v2/readout.js';
import type {
  ConditionResult,
  ExperimentEvent,
  ExperimentHead,
  ExperimentTotals,
  GroupResult,
  SpikeTable,
} from '../../src/answers/v2/result.js';
import type { RunTrial } from '../../src/answers/v2/run-conditions.js';
import { runExperiment, type RunOptions } from '../../src/answers/v2/run-experiment.js';
import { compileDrawingKernel, compileKernel } from '../../src/pool/kernel-file.js';

export const NO_LIMITS: ExperimentLimits = {
  selectedNeurons: Infinity,
  conditions: 20_000,
  brainSeconds: Infinity,
  inputEventsPerTrial: Infinity,
  synapticEventsPerTrial: Infinity,
  tableRows: Infinity,
  rates: Infinity,
};

/** What a request for a document comes to. */
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

/** Trials in this thread. */
export function localTrials(connectome: Connectome): RunTrial {
  const engine = new KernelEngine(compileKernel(), connectome);
  const trial = trialOf(connectome, engine, compiledDrawing(compileDrawingKernel()));
  return (task) => Promise.resolve(trial(task));
}

export interface Answer {
  readonly head: ExperimentHead;
  readonly conditions: readonly ConditionResult[];
  readonly totals: ExperimentTotals;
}

export async function answerOf(
  plan: ExperimentPlan,
  runTrial: RunTrial,
  options: Partial<RunOptions> = {},
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
function withAllGroups(condition: ConditionResult): ConditionResult {
  const reports = Object.entries(condition.reports).map(([name, report]) => [
    name,
    'table' in report ? report : [...report],
  ]);
  return { ...condition, reports: Object.fromEntries(reports) as ConditionResult['reports'] };
}

export function groupsIn(condition: ConditionResult, report: string): readonly GroupResult[] {
  return condition.reports[report] as readonly GroupResult[];
}

export function tableIn(condition: ConditionResult, report: string): SpikeTable {
  return condition.reports[report] as SpikeTable;
}

/** Rows of a table as trial, step, neuron and, of input events, the place of the input. */
export function rowsOf({ trials, steps, neurons, inputs }: SpikeTable): number[][] {
  return Array.from(trials, (trial, row) => [
    trial,
    steps[row]!,
    neurons[row]!,
    ...(inputs === undefined ? [] : [inputs[row]!]),
  ]);
}

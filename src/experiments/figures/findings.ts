/** Collects from an answer what figures need. The command line and the service draw from it. */
import { SIDES, type Connectome, type ConnectomeMetadata } from '../../engine/connectome/connectome.js';
import { type InParts, withoutPauses } from '../../engine/parts.js';
import type { AnsweredCondition, ExperimentHead, ExperimentTotals } from '../document/result.js';
import type { EventTable, GroupResult } from '../kinds/result-rows.js';
import type { Findings, FoundCondition } from './figure-kind.js';

/** Tables of events may fill the memory, so only those of the first conditions are held. No figure of a file shows more. */
const CONDITIONS_WITH_TABLES = 4;
/** Groups that are made between two pauses. */
const GROUPS_AT_ONCE = 4096;

/** The names of neurons in figures. */
export interface NamedNeurons extends Pick<Connectome, 'typeIndices' | 'sides' | 'neuronId'> {
  readonly metadata: Pick<ConnectomeMetadata, 'types'>;
}

/** The parts of an answer that figures need. */
export interface AnswerToDraw {
  readonly head: ExperimentHead;
  /** Only the first conditions have their tables of events. */
  readonly conditions: readonly FoundCondition[];
  readonly totals: Pick<ExperimentTotals, 'unchanged' | 'partial'>;
}

/** @param at the position among the conditions of the answer */
export function foundCondition(condition: AnsweredCondition, at: number): FoundCondition {
  return withoutPauses(foundInParts(condition, at));
}

/** The same with pauses, because groups are made on demand and may be many. */
export function* foundInParts(
  { reports, ...condition }: AnsweredCondition,
  at: number,
): InParts<FoundCondition> {
  const groups: Record<string, readonly GroupResult[]> = {};
  const tables: Record<string, EventTable> = {};
  for (const [name, report] of Object.entries(reports)) {
    if (!('table' in report)) {
      const made: GroupResult[] = [];
      for (const group of report) {
        if (made.length % GROUPS_AT_ONCE === 0) yield;
        made.push(group);
      }
      groups[name] = made;
    } else if (at < CONDITIONS_WITH_TABLES) tables[name] = report;
  }
  return { ...condition, groups, tables };
}

export function findingsOf({ head, conditions, totals }: AnswerToDraw, neurons: NamedNeurons): Findings {
  const { metadata, typeIndices, sides } = neurons;
  let indices: Map<string, number> | undefined;
  const typeName = (neuron: number) => metadata.types[typeIndices[neuron]!]!.name;
  return {
    head,
    conditions,
    unchanged: totals.unchanged.length,
    isPartial: totals.partial === true,
    labelOf: (neuron) => `${typeName(neuron) || 'untyped'} ${SIDES[sides[neuron]!]!}`.trim(),
    typeOf(rootId) {
      indices ??= new Map(Array.from(typeIndices, (_, neuron) => [neurons.neuronId(neuron), neuron]));
      const neuron = indices.get(rootId);
      return neuron === undefined ? undefined : typeName(neuron);
    },
  };
}

/** Warns of readouts whose two sides get very different input: the difference may lie in the reconstruction. */
import { type Connectome, SIDES } from '../../engine/connectome/connectome.js';
import { synapseTotalsOf } from '../../engine/connectome/synapse-totals.js';
import type { PlannedReport } from '../kinds/report-kind.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import { type ExperimentWarning, listed } from '../kinds/warning.js';

/** Sides differ if one has more than this times the input synapses of the other. */
const MAX_RATIO = 2;
const [LEFT, RIGHT] = [SIDES.indexOf('left'), SIDES.indexOf('right')];

/** Mean input synapses of a neuron on either side. */
type Sides = Partial<Record<'left' | 'right', number>>;

/** At most one warning, for all reports with values of groups. Only measured wiring can be asymmetric by mistake. */
export function asymmetricInputs(
  connectome: Connectome,
  reports: readonly PlannedReport[],
): ExperimentWarning[] {
  if (connectome.metadata.wiring !== 'measured') return [];
  const ofGroups = reports.filter(({ document }) => groupKindOf(document) !== undefined);
  const all = new Map(ofGroups.flatMap((report) => [...sidesOf(connectome, report)]));
  const found = [...all].filter(([, sides]) => isAsymmetric(sides));
  if (found.length === 0) return [];
  const means = found.map(
    ([name, { left, right }]) => `${name} (left ${Math.round(left!)}, right ${Math.round(right!)})`,
  );
  const message =
    `The input synapses of the two sides differ more than twofold: ${listed(means)}. The reconstruction may miss some, so a ` +
    'difference between the sides need not be one of the animal.';
  return [{ code: 'ASYMMETRIC_INPUT', message }];
}

/** By name: groups that differ only in their side, and single neurons with their partners of the other side. */
function sidesOf(
  connectome: Connectome,
  { name, document: { group_by: groupBy }, groups }: PlannedReport,
): Map<string, Sides> {
  const { metadata, typeIndices } = connectome;
  const { inputs } = synapseTotalsOf(connectome);
  const found = new Map<string, Sides>();
  for (let group = 0; group < groups.count; group++) {
    const ofGroup = groups.neuronsOf(group);
    const first = ofGroup.length === 1 ? firstOfPair(connectome, ofGroup[0]!) : undefined;
    if (first !== undefined) {
      const { name: type } = metadata.types[typeIndices[first]!]!;
      found.set(type, { left: inputs[first]!, right: inputs[first + 1]! });
    } else if (groupBy.includes('side') && !groupBy.includes('neuron')) {
      const { side, ...labels } = groups.labelsOf(group);
      const names = Object.values(labels).filter(Boolean).join(' ') || name;
      const mean = ofGroup.reduce((sum, neuron) => sum + inputs[neuron]!, 0) / ofGroup.length;
      if (side === 'left' || side === 'right') found.set(names, { ...found.get(names), [side]: mean });
    }
  }
  return found;
}

/**
 * @returns the left neuron of a type that has only one on either side; the right one follows it in the order of the
 *   connectome. For a neuron of another type, undefined
 */
function firstOfPair({ typeIndices, sides, metadata }: Connectome, neuron: number): number | undefined {
  const type = typeIndices[neuron]!;
  if (metadata.types[type]!.name === '') return undefined;
  const first = typeIndices[neuron - 1] === type ? neuron - 1 : neuron;
  const isPair = typeIndices[first - 1] !== type && typeIndices[first + 2] !== type;
  const isOneOfEach = typeIndices[first + 1] === type && sides[first] === LEFT && sides[first + 1] === RIGHT;
  return isPair && isOneOfEach ? first : undefined;
}

function isAsymmetric({ left, right }: Sides): boolean {
  return left !== undefined && right !== undefined && (left > MAX_RATIO * right || right > MAX_RATIO * left);
}

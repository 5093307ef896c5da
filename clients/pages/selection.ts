/** The selection on the page: one neuron, or all neurons of a type. */
import type { CompactAtlas } from '../../src/engine/connectome/atlas-binary.js';
import { SIDES } from '../../src/engine/connectome/connectome.js';

export type Selection =
  | { readonly kind: 'neuron'; readonly neuron: number }
  | { readonly kind: 'type'; readonly type: number };

/** Indices of the selected neurons, ascending. */
export function neuronsOf(selection: Selection | undefined, { typeIndices }: CompactAtlas): number[] {
  if (selection === undefined) return [];
  if (selection.kind === 'neuron') return [selection.neuron];
  return [...typeIndices.keys()].filter((neuron) => typeIndices[neuron] === selection.type);
}

/** Indices of the neurons whose type and side fit, ascending. */
export function neuronsWith(
  { types, typeIndices, sides }: CompactAtlas,
  fits: (type: CompactAtlas['types'][number], side: string) => boolean,
): number[] {
  const fitting = SIDES.map((side) => types.map((type) => fits(type, side)));
  return [...typeIndices.keys()].filter((neuron) => fitting[sides[neuron]!]![typeIndices[neuron]!]!);
}

/** Index of the type of a neuron, or the type itself. */
export function typeOf(selection: Selection, { typeIndices }: CompactAtlas): number {
  return selection.kind === 'type' ? selection.type : typeIndices[selection.neuron]!;
}

/** Name of a type in answers. Untyped neurons are grouped by super class. */
export function labelOfType({ name, superClass }: CompactAtlas['types'][number]): string {
  return name || `untyped ${superClass}`.trim();
}

/** A super class in words. */
export function spoken(superClass: string): string {
  return superClass.replaceAll('_', ' ');
}

/** A kind of edit changes the network: it is a member of the document, and one object in one file of `edits`. */
import type { Connectome } from '../../connectome/connectome.js';
import type { SelectorAt } from '../../connectome/node-set-resolver.js';
import type { SchemaOf } from '../../schema/json-schema.js';
import type { Protocol } from '../../stimulus/protocol.js';
import { silence } from './edits/silence.js';

/** By the member of the document. */
export const EDIT_KINDS = { silence };

export interface EditKind<Value = unknown> {
  /** Without a default the member may be absent. */
  readonly schema: SchemaOf<Value>;
  /** True where a sweep may add groups of neurons to its own. */
  readonly takesGroups?: true;
  /** True where an edit of neurons that never spike changes nothing, so that it need not be run. */
  readonly sparesSilent?: true;
  selectorsOf(value: Value): readonly SelectorAt[];
  /** @param sets of neurons, of its selectors and of the groups of a condition */
  edited(connectome: Connectome, sets: readonly Uint32Array[], value: Value): Partial<Protocol>;
}

type Edits = typeof EDIT_KINDS;

/** The members of the document. */
export const EDIT_SCHEMAS = Object.fromEntries(
  Object.entries(EDIT_KINDS).map(([name, { schema }]) => ['default' in schema ? name : `${name}?`, schema]),
) as {
  [K in keyof Edits as Edits[K]['schema'] extends { default: unknown } ? K : `${K}?`]: Edits[K]['schema'];
};

/** @returns the edit that a swept parameter stands for, undefined where it stands for an input */
export function editKindOf(parameter: string): EditKind | undefined {
  const kinds: Readonly<Record<string, EditKind>> = EDIT_KINDS;
  return Object.hasOwn(kinds, parameter) ? kinds[parameter] : undefined;
}

/** The list of all kinds of inputs. */
import type { Schema } from '../../engine/schema/json-schema.js';
import type { InputKind } from './input-kind.js';
import { background } from './inputs/background.js';
import { pattern, poisson } from './inputs/poisson.js';
import { spikes } from './inputs/spikes.js';
import { type InputDocument, SWEPT_OF_INPUT } from './kind-schemas.js';

/** By the `module` of an input, except that a pattern has the module poisson and the member `rates`. */
export const INPUT_KINDS = { pattern, poisson, spikes, background };

export function inputKindOf(input: Pick<InputDocument, 'module'>): InputKind {
  return 'rates' in input ? pattern : INPUT_KINDS[input.module as keyof typeof INPUT_KINDS];
}

/** Members of an input that a sweep may set. */
export function sweptMembersOf({ swept }: InputKind): Readonly<Record<string, Schema>> {
  return { ...swept, ...SWEPT_OF_INPUT };
}

/** The same for all kinds together. */
export const SWEPT_MEMBERS: Readonly<Record<string, Schema>> = Object.assign(
  {},
  ...Object.values<InputKind>(INPUT_KINDS).map(({ swept }) => swept),
  SWEPT_OF_INPUT,
);

/** The links of dares. A dare: silence a cell type, so that a stimulus no longer makes the fly do what it did. */
import { MAX_DARED_TYPES } from '../../src/experiments/presets/lesion-document.js';
import type { Model } from './service/client.js';

const ID = /^[0-9a-f]{32}$/;
const MAX_SHOWN_CHARACTERS = 60;

export interface Dare {
  readonly stimulus: string;
  /** Cell types. */
  readonly silence: readonly string[];
  /** The id of the experiment that answered it; undefined before. */
  readonly id?: string;
}

/** A query and not a hash, because a server that draws a preview never sees a hash. */
export function dareHref({ stimulus, silence, id }: Required<Dare>): string {
  const types = silence.map((type) => ['silence', type]);
  return `./?${new URLSearchParams([['dare', stimulus], ...types, ['id', id]])}`;
}

/**
 * @param search the query of an address
 * @returns undefined if it has no dare
 * @throws Error with a sentence if it is broken
 */
export function dareOf(search: string, model: Model): Required<Dare> | undefined {
  const parameters = new URLSearchParams(search);
  const stimulus = parameters.get('dare');
  if (stimulus === null) return undefined;
  const offered = model.stimuli.map((each) => each.id);
  if (!offered.includes(stimulus as (typeof offered)[number])) {
    throw new Error(`dare must be one of ${offered.join(', ')}, got ${quoted(stimulus)}.`);
  }
  const silence = typesOf(parameters.getAll('silence'));
  const id = parameters.get('id') ?? '';
  if (!ID.test(id)) throw new Error(`id must be 32 hexadecimal digits, got ${quoted(id)}.`);
  return { stimulus, silence, id };
}

/** @throws Error with a sentence if there are none or too many */
export function typesOf(names: readonly string[]): readonly string[] {
  const types = [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
  if (types.length >= 1 && types.length <= MAX_DARED_TYPES) return types;
  throw new Error(`silence must be 1 or ${MAX_DARED_TYPES} cell types, got ${types.length}.`);
}

export function quoted(value: string): string {
  return JSON.stringify(value.slice(0, MAX_SHOWN_CHARACTERS));
}

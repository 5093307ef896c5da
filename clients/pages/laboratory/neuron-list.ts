/** Selectors as a list of names, each with its side, and a field that adds names. */
import { nameOnSide, NAMED_SIDES } from '../../../src/connectome/set-selector.js';
import { element } from '../dom.js';
import type { Selector } from './draft.js';
import { isList, type Members } from './json.js';

const BOTH_SIDES = 'both sides';
/** Attribute by which a control is found again after the form was redrawn. */
export const KEY = 'data-key';

/** A choice of side; empty stands for any. */
export function sideOptions(chosen: string): HTMLElement[] {
  return ['', ...NAMED_SIDES].map((side) =>
    element('option', { value: side, selected: side === chosen }, side || BOTH_SIDES),
  );
}

export interface NeuronListOptions {
  /** Completes "Add neurons to ...". */
  readonly label: string;
  readonly selector: Selector;
  /** Key of the field that adds names. Controls beside it have the same key with an ending. */
  readonly key: string;
  /** JSON Pointer to the selector. */
  readonly path: string;
  readonly onChange: (selectors: readonly (string | Members)[]) => void;
}

export function neuronList({ label, selector: whole, path, key, onChange }: NeuronListOptions): HTMLElement {
  const neurons = isList(whole) ? whole : [whole];
  const replaceAt = (at: number, ...replacement: string[]): void =>
    onChange([...neurons.slice(0, at), ...replacement, ...neurons.slice(at + 1)]);
  const items = neurons.map((selector, at) => {
    const place = isList(whole) ? `${path}/${at}` : path;
    const parts = typeof selector === 'string' ? nameOnSide(selector) : undefined;
    const name = parts?.name ?? (typeof selector === 'string' ? selector : JSON.stringify(selector));
    const remove = element(
      'button',
      { type: 'button', 'aria-label': `Remove ${name}`, [KEY]: `${key}:remove` },
      '✕',
    );
    remove.addEventListener('click', () => replaceAt(at));
    const item = element('li', { 'data-path': place }, element('span', {}, name));
    if (parts !== undefined) {
      const side = element(
        'select',
        { 'aria-label': `Side of ${name}`, [KEY]: `${key}:side-${at}` },
        ...sideOptions(parts.side ?? ''),
      );
      side.addEventListener('change', () =>
        replaceAt(at, side.value === '' ? parts.name : `${parts.name}:${side.value}`),
      );
      item.append(side);
    }
    item.append(remove);
    return item;
  });
  const add = element('input', {
    type: 'text',
    'aria-label': `Add neurons to ${label}`,
    [KEY]: key,
    placeholder: neurons.length === 0 ? 'LC4, DNp*, @sugar' : 'and …',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
  const take = (): void => {
    const name = add.value.trim();
    if (name === '') return;
    add.value = '';
    onChange([...neurons, name]);
  };
  add.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && add.value.trim() !== '') {
      event.preventDefault();
      take();
    } else if (event.key === 'Backspace' && add.value === '' && neurons.length > 0) {
      event.preventDefault();
      replaceAt(neurons.length - 1);
    }
  });
  // A name that was typed counts when the field is left.
  add.addEventListener('change', take);
  return element(
    'div',
    { class: 'neurons', 'data-path': path },
    element('ul', { 'aria-label': `Neurons of ${label}` }, ...items, element('li', { class: 'add' }, add)),
    element('p', { class: 'hint resolved' }),
  );
}

/** A control for selectors: a list of names, each with its side, and a field that adds names. */
import { nameOnSide, NAMED_SIDES } from '../../../src/engine/connectome/set-selector.js';
import { choiceOf, element, pushButton } from '../dom.js';
import { isList, type Members } from './json.js';
import { NAMES } from './names.js';

/**
 * One selector, or a list of selectors that are united. A list of one and a single selector are different documents.
 */
type Selector = string | Members | readonly (string | Members)[];

/** Sides and their labels; empty stands for any. */
export const SIDE_CHOICES = ['', ...NAMED_SIDES].map((side) => [side, side || 'both sides'] as const);
/** Attribute that identifies a control after the form is redrawn. */
export const KEY = 'data-key';

export interface NeuronListOptions {
  /** Completes "Add neurons to ...". */
  readonly label: string;
  readonly selector: Selector;
  /** Key of the field that adds names. Controls beside it have the same key with an ending. */
  readonly key: string;
  /** JSON Pointer to the selector. */
  readonly path: string;
  /** The pointer to one of several selectors, if it is not its index in the list. */
  readonly pathOf?: (at: number) => string;
  /** Name of the selector in `resolved` of an answer. */
  readonly resolved: string;
  readonly onChange: (selectors: readonly (string | Members)[]) => void;
}

export function neuronList({
  label,
  selector: whole,
  path,
  pathOf = (at) => (isList(whole) ? `${path}/${at}` : path),
  key,
  resolved,
  onChange,
}: NeuronListOptions): HTMLElement {
  const neurons = isList(whole) ? whole : [whole];
  const replaceAt = (at: number, ...replacement: string[]): void =>
    onChange([...neurons.slice(0, at), ...replacement, ...neurons.slice(at + 1)]);
  const items = neurons.map((selector, at) => {
    const place = pathOf(at);
    const parts = typeof selector === 'string' ? nameOnSide(selector) : undefined;
    const name = parts?.name ?? (typeof selector === 'string' ? selector : JSON.stringify(selector));
    const attributes = { class: false, 'aria-label': `Remove ${name}`, [KEY]: `${key}:remove` };
    const item = element('li', { 'data-path': place }, element('span', {}, name));
    if (parts !== undefined) {
      const choose = (side: string) => replaceAt(at, side === '' ? parts.name : `${parts.name}:${side}`);
      const side = { 'aria-label': `Side of ${name}`, [KEY]: `${key}:side-${at}` };
      item.append(choiceOf(SIDE_CHOICES, parts.side ?? '', choose, side));
    }
    item.append(pushButton('✕', () => replaceAt(at), attributes));
    return item;
  });
  const add = element('input', {
    type: 'text',
    list: NAMES,
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
  // The user chose a name from the list.
  add.addEventListener('input', (event) => {
    if ((event as InputEvent).inputType === 'insertReplacementText') take();
  });
  // A typed name is added when the field loses the focus.
  add.addEventListener('change', take);
  return element(
    'div',
    { class: 'neurons', 'data-path': path },
    element('ul', { 'aria-label': `Neurons of ${label}` }, ...items, element('li', { class: 'add' }, add)),
    element('p', { class: 'hint resolved', 'data-resolved': resolved }),
  );
}

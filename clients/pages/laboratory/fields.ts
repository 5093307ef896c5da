/**
 * Controls of the form, and the frames around them, as nodes of Preact. A text that changes in place is the key of its
 * element, because a browser that translates the page replaces the text's node, and Preact would go on with the old one.
 */
import { type ComponentChildren, h, type JSX } from 'preact';
import { nameOnSide, NAMED_SIDES } from '../../../src/engine/connectome/set-selector.js';
import { grouped } from '../dom.js';
import { isList, type Json, type Members } from './json.js';
import { NAMES } from './names.js';

/** One selector, or a list of selectors that are united. A list of one and a single selector are different documents. */
type Selector = string | Members | readonly (string | Members)[];

/** Sides and their labels; empty stands for any. */
export const SIDE_CHOICES = ['', ...NAMED_SIDES].map((side) => [side, side || 'both sides'] as const);
/** Longest list of names with controls. Of a longer one, the last names have them. */
const MAX_NAMES = 100;
/** Names of neurons and JSON mean something else in another language. */
const VERBATIM = { translate: false };
/** Characters of a label that have room over a control of one column. Longer ones get two. */
const LONG_LABEL = 15;
const PLAIN_TEXT = { type: 'text', autocomplete: 'off', autocapitalize: 'off', spellcheck: false };

export type Control = JSX.Element;

export interface TextOptions {
  readonly look?: 'wide' | 'number' | 'name' | 'course';
  /** Visible while the field has the focus. It is not part of the label. */
  readonly sentence?: string;
  readonly onInput?: (value: string) => void;
  /** Called with the complete text. */
  readonly onChange?: (value: string) => void;
  /** Stands below the field. */
  readonly more?: ComponentChildren;
}

/** A field of text. Its name in the form is the path of its member. */
export function textField(
  label: string,
  path: string,
  value: string,
  placeholder: string,
  { look = 'wide', sentence = '', onInput, onChange, more }: TextOptions,
): Control {
  const field = h('input', {
    ...PLAIN_TEXT,
    ...(look === 'number' && { inputmode: 'decimal' }),
    ...{ name: path, value, placeholder, 'aria-description': sentence || undefined },
    // A name is no member.
    'data-path': look === 'name' ? undefined : path,
    onInput: ({ currentTarget }) => onInput?.(currentTarget.value),
    onChange: ({ currentTarget }) => onChange?.(currentTarget.value),
  });
  return labelled(label, lastOf(path), field, sentence, `control ${look}`, more);
}

export function choiceField(
  label: string,
  path: string,
  labels: Readonly<Record<string, string>>,
  value: string,
  onChange: (value: string) => void,
  sentence = '',
  key = lastOf(path),
): Control {
  // A document may have a value that the form does not offer.
  const offered = Object.hasOwn(labels, value) ? labels : { ...labels, [value]: value };
  const attributes = { 'data-path': path, 'aria-description': sentence || undefined };
  const choice = choiceOf(Object.entries(offered), value, onChange, attributes);
  return labelled(label, key, choice, sentence, 'control');
}

function choiceOf(
  labels: readonly (readonly [value: string, label: string])[],
  value: string,
  onChange: (value: string) => void,
  attributes: object,
): Control {
  const options = labels.map(([each, label]) => h('option', { key: each, value: each }, label));
  const change = {
    onChange: ({ currentTarget }: { currentTarget: HTMLSelectElement }) => onChange(currentTarget.value),
  };
  return h('select', { ...attributes, ...change, value }, options);
}

/** Tells a control from its neighbours. It stays the same if the row is renamed. */
function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/'));
}

function labelled(
  label: string,
  key: string,
  control: Control,
  sentence: string,
  look: string,
  more?: ComponentChildren,
): Control {
  const hidden = { class: 'sentence', 'aria-hidden': true, key: sentence };
  const isLong = label.length > LONG_LABEL;
  return h(
    'div',
    { class: isLong ? `${look} long` : look, key },
    h('label', null, h('span', null, label), control),
    sentence !== '' && h('small', hidden, sentence),
    more,
  );
}

export function button(text: string, onClick: () => void, attributes: object = {}): Control {
  return h('button', { type: 'button', class: 'quiet', key: text, ...attributes, onClick }, text);
}

/** Buttons below rows, which add further ones. */
export function actions(...buttons: readonly Control[]): Control {
  return h('div', { class: 'actions' }, buttons);
}

export function grid(...controls: readonly ComponentChildren[]): Control {
  return h('div', { class: 'controls' }, controls);
}

export function group(
  title: string,
  path: string,
  hint: string,
  ...content: readonly ComponentChildren[]
): Control {
  return h(
    'fieldset',
    { class: 'group', 'data-path': path || undefined },
    h('legend', null, title),
    hint !== '' && h('p', { class: 'hint', key: hint }, hint),
    content,
  );
}

export function row(
  label: string,
  path: string,
  onRemove: () => void,
  ...controls: readonly ComponentChildren[]
): Control {
  const remove = button('✕', onRemove, { 'aria-label': `Remove ${label}` });
  return h(
    'div',
    { class: 'row', role: 'group', 'aria-label': label, 'data-path': path },
    grid(controls),
    remove,
  );
}

/** Members of a document without controls, as text. */
export function note(members: Members): Control {
  const texts = Object.entries(members).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  const text = `In the document: ${texts.join(', ')}`;
  return h('p', { class: 'hint others', key: text, ...VERBATIM }, text);
}

/** Draws rates over time as steps, in the width of the control; nothing while they are incomplete. */
export function courseFigure({ times_ms: times, values }: Members): Control | undefined {
  const [xs, ys] = [times, values].map((list) => (list as readonly Json[]).map(Number)) as [
    number[],
    number[],
  ];
  if (![...xs, ...ys].every(Number.isFinite)) return undefined;
  const end = (xs.at(-1) || 1) * 1.25;
  const top = Math.max(1, ...ys);
  const points = xs.flatMap((x, at) => {
    const y = 30 - (28 * ys[at]!) / top;
    return [`${(100 * x) / end},${y}`, `${(100 * (xs[at + 1] ?? end)) / end},${y}`];
  });
  const line = h('polyline', { points: points.join(' ') });
  const drawn = h('svg', { viewBox: '0 0 100 32', preserveAspectRatio: 'none' }, line);
  return h('span', { class: 'course-figure', 'aria-hidden': true }, drawn);
}

interface NeuronListOptions {
  /** Completes "Add neurons to ...". */
  readonly label: string;
  readonly selector: Selector;
  /** JSON Pointer to the selector. */
  readonly path: string;
  /** The pointer to one of several selectors, if it is not its index in the list. */
  readonly pathOf?: (at: number) => string;
  /** Describes the neurons that the service has found. */
  readonly found: string;
  /** Shown above the list, if a row has several. */
  readonly caption?: string;
  readonly onChange: (selectors: readonly (string | Members)[]) => void;
}

/** A control for selectors: a list of names, each with its side, and a field that adds names. */
export function neuronList({
  label,
  selector: whole,
  path,
  pathOf = (at) => (isList(whole) ? `${path}/${at}` : path),
  found,
  caption = '',
  onChange,
}: NeuronListOptions): Control {
  const neurons = isList(whole) ? whole : [whole];
  const replaceAt = (at: number, ...replacement: string[]): void =>
    onChange([...neurons.slice(0, at), ...replacement, ...neurons.slice(at + 1)]);
  const hidden = Math.max(0, neurons.length - MAX_NAMES);
  const items = neurons.slice(hidden).map((selector, index) => {
    const at = hidden + index;
    const parts = typeof selector === 'string' ? nameOnSide(selector) : undefined;
    const name = parts?.name ?? (typeof selector === 'string' ? selector : JSON.stringify(selector));
    const choose = (side: string) => replaceAt(at, side === '' ? parts!.name : `${parts!.name}:${side}`);
    const side = { 'aria-label': `Side of ${name}` };
    return h(
      'li',
      { 'data-path': pathOf(at) },
      h('span', { key: name, ...VERBATIM }, name),
      parts && choiceOf(SIDE_CHOICES, parts.side ?? '', choose, side),
      button('✕', () => replaceAt(at), { class: undefined, 'aria-label': `Remove ${name}` }),
    );
  });
  const take = (field: HTMLInputElement): void => {
    const name = field.value.trim();
    if (name === '') return;
    field.value = '';
    onChange([...neurons, name]);
  };
  const add = h('input', {
    ...PLAIN_TEXT,
    list: NAMES,
    'aria-label': `Add neurons to ${label}`,
    placeholder: neurons.length === 0 ? 'LC4, DNp*, @sugar' : 'and …',
    onKeyDown(event) {
      const { key, currentTarget: field } = event;
      if (key === 'Enter' && field.value.trim() !== '') {
        event.preventDefault();
        take(field);
      } else if (key === 'Backspace' && field.value === '' && neurons.length > 0) {
        event.preventDefault();
        replaceAt(neurons.length - 1);
      }
    },
    // The user chose a name from the list.
    onInput: (event) => event.inputType === 'insertReplacementText' && take(event.currentTarget),
    // A typed name is added when the field loses the focus.
    onChange: ({ currentTarget }) => take(currentTarget),
  });
  return h(
    'div',
    { class: 'neurons', 'data-path': path, key: lastOf(path) },
    caption !== '' && h('span', { class: 'hint' }, caption),
    h('ul', { 'aria-label': `Neurons of ${label}` }, items, h('li', { class: 'add', key: 'add' }, add)),
    hidden > 0 &&
      h('p', { class: 'hint', key: hidden }, `${grouped(hidden)} more before them, in the document.`),
    h('p', { class: 'hint resolved', key: found }, found),
  );
}

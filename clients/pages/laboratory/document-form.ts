/**
 * The form of the laboratory: controls for every member of a document, made of the schemas of its kinds. The form has no
 * state but the document: each control changes the value at its place. A value that no control can write stands beside
 * them as it is.
 */
import { DOCUMENT } from '../../../src/experiments/document/document.js';
import { sweptGroups, sweptNumbers } from '../../../src/experiments/kinds/edit-kinds.js';
import { INPUT_KINDS, inputKindOf, sweptMembersOf } from '../../../src/experiments/kinds/input-kinds.js';
import { REPORT_KINDS } from '../../../src/experiments/kinds/report-kinds.js';
import type { DryRun, ResolvedSet } from '../../../src/experiments/run/result.js';
import { parameterLabel } from '../../../src/experiments/figures/condition-labels.js';
import { nameOfRef, type Schema } from '../../../src/schema/json-schema.js';
import { byId, element, grouped } from '../dom.js';
import type { Fault } from '../service/client.js';
import {
  isList,
  isMembers,
  type Json,
  keysOf,
  type Members,
  pointer,
  valueAt,
  withMemberRenamed,
  withValueAt,
} from './json.js';
import { svgElement } from './figure.js';
import { KEY, neuronList } from './neuron-list.js';
import { withSetRenamed } from './selectors.js';
import { axisText, axisValues, COURSE, NUMBER, NUMBERS, PLAIN, type Writing } from './values.js';
import { GROUPINGS, labelOf, REPORT_LABELS, sentenceOf, valueText } from './words.js';

const MEMBERS = DOCUMENT.properties as Readonly<Record<string, Schema>>;
const MOST_AXES = DOCUMENT.properties.sweep.maxItems;
/** Rows of a list of neurons with rates that the form shows; a longer list stays as it is. */
const MOST_ROWS = 32;
/** Steps of the sliders are about this share of their way. */
const SLIDER_STEPS = 200;
/** Bounds further apart are no way for a slider. */
const LONGEST_SLIDER = 1000;
const ENDS = ['source', 'target'];
const SELECTED = ['node_set', ...ENDS];

/** A change of the document: `dragged` while a slider moves, `settled` when it has been let go. */
export type Change = 'typed' | 'dragged' | 'settled' | 'chosen';

/** A member with its place. Keys do not change when a row gets another name. */
interface Place {
  readonly path: string;
  readonly key: string;
}

export class DocumentForm {
  readonly #fields = byId<HTMLFieldSetElement>('draft-fields');
  #document: Members = {};
  #resolved: DryRun['resolved'] = {};
  /** Parts that the reader has opened, by their titles. */
  readonly #open = new Set<string>();
  /** The field whose text has changed since it was entered. */
  #typed: EventTarget | null = null;

  /**
   * @param onChange is told of every change that was made in the form
   * @param onLeft is told when a field that was changed is left
   */
  constructor(
    private readonly onChange: (document: Members, change: Change) => void,
    onLeft: () => void,
  ) {
    this.#fields.addEventListener('input', ({ target }) => (this.#typed = target));
    for (const event of ['change', 'focusout']) {
      this.#fields.addEventListener(event, ({ target }) => {
        if (target !== this.#typed) return;
        this.#typed = null;
        onLeft();
      });
    }
  }

  get document(): Members {
    return this.#document;
  }

  /** True while somebody types: what is half typed is no fault yet. */
  get isTyping(): boolean {
    return this.#typed instanceof HTMLInputElement && this.#typed === document.activeElement;
  }

  /** Shows a document that comes from elsewhere. */
  write(shown: Members): void {
    this.#document = shown;
    this.#render();
  }

  /** The document as it was changed here, perhaps under another name. */
  rename(shown: Members): void {
    this.#document = shown;
    const field = this.#fields.querySelector<HTMLInputElement>('[data-path="/name"]')!;
    const name = String(shown['name'] ?? '');
    if (field !== document.activeElement && field.value !== name) field.value = name;
  }

  allowChanges(allowed: boolean): void {
    this.#fields.disabled = !allowed;
  }

  /** Puts neurons where the search was told to put them: an input or a report of their own. */
  add(place: 'stimulate' | 'silence' | 'read', selector: string): void {
    if (place === 'silence') this.#append('silence', selector);
    else if (place === 'read') this.#addTo('reports', nameFrom(selector), newReport(selector));
    else this.#addTo('inputs', nameFrom(selector), newInput(selector));
  }

  /** Shows the number of neurons of each selector, as the service resolved it; nothing while that is not known. */
  showResolved(resolved: DryRun['resolved'] | undefined): void {
    this.#resolved = resolved ?? {};
    for (const hint of this.#fields.querySelectorAll<HTMLElement>('[data-resolved]')) {
      hint.textContent = describeResolved(this.#resolved[hint.dataset['resolved']!]);
    }
  }

  /**
   * Shows a fault at the control of its place, in the words of the form, with suggestions.
   * @returns whether the form has such a control
   */
  showFault(message: string, place: Fault, onSuggestion: (suggestion: string) => void): boolean {
    this.clearFault();
    const target = place.path === undefined ? undefined : this.#controlAt(place.path);
    if (target === undefined) return false;
    target.closest('details')?.setAttribute('open', '');
    const fault = faultElement(inWordsOf(target, message, place.path!), place, onSuggestion);
    fault.id = 'fault';
    const control = target.closest('li, .control');
    if (control === null) target.append(fault);
    else control.after(fault);
    const field = target.matches('input, select') ? target : target.querySelector('input, select');
    field?.setAttribute('aria-invalid', 'true');
    field?.setAttribute('aria-describedby', 'fault');
    return true;
  }

  focusFault(): void {
    document.getElementById('fault')?.scrollIntoView({ block: 'center' });
    this.#fields.querySelector<HTMLElement>('[aria-invalid]')?.focus({ preventScroll: true });
  }

  clearFault(): void {
    document.getElementById('fault')?.remove();
    this.#fields.querySelectorAll('[aria-invalid]').forEach((control) => {
      control.removeAttribute('aria-invalid');
      control.removeAttribute('aria-describedby');
    });
  }

  /** The control of the place, or of the closest place around it. */
  #controlAt(path: string): HTMLElement | undefined {
    for (let place = path; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
      const found = this.#fields.querySelector<HTMLElement>(`[data-path="${CSS.escape(place)}"]`);
      if (found !== null) return found;
    }
    return undefined;
  }

  #change(changed: Json, change: Change = 'chosen'): void {
    // Members stand in the order of the complete document, whenever they were added.
    const order = Object.keys(MEMBERS);
    const entries = Object.entries(changed as Members);
    entries.sort(([a], [b]) => placeIn(order, a) - placeIn(order, b));
    this.#document = Object.fromEntries(entries);
    if (change === 'chosen') this.#render();
    this.onChange(this.#document, change);
  }

  #put(path: string, value: Json | undefined, change: Change = 'chosen'): void {
    this.#change(withValueAt(this.#document, path, value), change);
  }

  #append(member: 'silence' | 'sweep', item: Json): void {
    this.#put(pointer(member), [...listAt(this.#document, member), item]);
  }

  #addTo(
    member: 'inputs' | 'reports' | 'connection_overrides' | 'node_sets',
    name: string,
    value: Json,
  ): void {
    this.#put(pointer(member, freeName(name, membersAt(this.#document, member))), value);
  }

  #render(): void {
    const hadFocus = this.#fields.contains(document.activeElement);
    const focused = document.activeElement?.getAttribute(KEY) ?? '';
    const legend = this.#fields.querySelector('legend')!;
    this.#typed = null;
    this.#fields.replaceChildren(
      legend,
      ...this.#controls('', { name: MEMBERS['name']! }),
      this.#inputs(),
      this.#silence(),
      this.#part(
        'Network',
        ['constants', 'connection_overrides', 'wiring'],
        [this.#object('Constants', 'constants'), this.#overrides(), this.#object('Wiring', 'wiring')],
      ),
      this.#group('Trials', '', sentenceOf(MEMBERS['trials']!), [
        this.#grid(this.#controls('', pick(MEMBERS, ['trials', 'duration_ms', 'seed']))),
      ]),
      this.#reports(),
      this.#sweep(),
      this.#controlBrains(),
      this.#part(
        'Names and network',
        ['node_sets', 'network', 'on_missing'],
        [this.#nodeSets(), this.#grid(this.#controls('', pick(MEMBERS, ['network', 'on_missing'])))],
      ),
      ...this.#others('', this.#document, MEMBERS),
    );
    this.showResolved(this.#resolved);
    if (hadFocus) this.#focusAgain(focused);
  }

  /** Restores the focus; where its control is gone, the control that adds such items gets it. */
  #focusAgain(key: string): void {
    const withKey = (wanted: string) =>
      this.#fields.querySelector<HTMLElement>(`[${KEY}="${CSS.escape(wanted)}"]`);
    (withKey(key) ?? withKey(key.split(':', 1)[0]!))?.focus({ preventScroll: true });
  }

  #inputs(): HTMLElement {
    const rows = this.#rowsOf('inputs', 'Input', 'add-input', ({ path, key }, input) => {
      const kind = kindOf(input);
      const kinds = Object.fromEntries(Object.keys(INPUT_KINDS).map((name) => [name, valueText(name)]));
      const chosen =
        Object.entries(INPUT_KINDS).find(([, each]) => each === kind)?.[0] ?? String(input['module']);
      const schema = kind?.schema.properties ?? {};
      return [
        ...this.#controls(path, pick(schema, SELECTED), key, input),
        this.#choice(
          labelOf('inputs', 'module'),
          { path: `${path}/module`, key: `${key}/module` },
          kinds,
          chosen,
          (name) => this.#put(path, withSchema(input, INPUT_KINDS[name as keyof typeof INPUT_KINDS].schema)),
        ),
        ...this.#controls(path, without(schema, [...SELECTED, 'module']), key, input),
        ...this.#others(path, input, { ...schema, module: {} }),
      ];
    });
    return this.#group('Stimulate', '/inputs', '', [
      ...rows,
      this.#actions(
        this.#button('Add an input', 'add-input', () => this.#addTo('inputs', 'input', newInput([]))),
      ),
    ]);
  }

  /** One list of all that is silenced throughout; what has a window has a row of its own. */
  #silence(): HTMLElement {
    const items = listAt(this.#document, 'silence');
    const isTimed = (item: Json) => isMembers(item) && 'node_set' in item;
    const timedSchema = MEMBERS['silence']!.items!.anyOf![0]!.properties!;
    const rows = items.flatMap((item, at) => {
      if (!isTimed(item)) return [];
      const place = pointer('silence', at);
      const remove = () => this.#put(place, undefined);
      return [
        this.#row(`Timed silence ${at + 1}`, place, 'add-window', remove, this.#controls(place, timedSchema)),
      ];
    });
    const places = [...items.keys()].filter((at) => !isTimed(items[at]!));
    const list = neuronList({
      label: 'what is silenced',
      selector: places.map((at) => items[at]!) as Members[],
      path: '/silence',
      pathOf: (at) => pointer('silence', places[at]!),
      key: 'silence',
      resolved: 'silence',
      onChange: (selectors) => {
        const changed = [...selectors, ...items.filter(isTimed)];
        this.#put('/silence', changed.length > 0 ? changed : undefined);
      },
    });
    const add = () => this.#append('silence', { node_set: [], start_ms: 0 });
    return this.#group('Silence', '', '', [
      list,
      ...rows,
      this.#actions(this.#button('Add a timed silence', 'add-window', add)),
    ]);
  }

  #overrides(): HTMLElement {
    const schema = (MEMBERS['connection_overrides']!.additionalProperties as Schema).properties!;
    const rows = this.#rowsOf('connection_overrides', 'Override', 'add-override', ({ path, key }, value) => [
      ...this.#controls(path, schema, key, value),
      ...this.#others(path, value, schema),
    ]);
    return this.#group(
      'Connections',
      '/connection_overrides',
      MEMBERS['connection_overrides']!.description!,
      [
        ...rows,
        this.#actions(
          this.#button('Add an override', 'add-override', () =>
            this.#addTo('connection_overrides', 'override', { source: [], target: [], weight: 0 }),
          ),
        ),
      ],
    );
  }

  #object(title: string, member: string): HTMLElement {
    const { properties = {}, description = '' } = MEMBERS[member]!;
    return this.#group(title, `/${member}`, description.replace(/\. .*/s, '.'), [
      this.#grid(this.#controls(`/${member}`, properties)),
      ...this.#others(`/${member}`, membersAt(this.#document, member), properties),
    ]);
  }

  #reports(): HTMLElement {
    const rows = this.#rowsOf('reports', 'Report', 'add-report', ({ path, key }, report) => {
      const type = String(report['type'] ?? 'rate');
      const schema = REPORT_KINDS[type as keyof typeof REPORT_KINDS]?.schema.properties ?? {};
      return [
        ...this.#controls(path, pick(schema, SELECTED), key, report),
        this.#choice(
          labelOf('reports', 'type'),
          { path: `${path}/type`, key: `${key}/type` },
          REPORT_LABELS,
          type,
          (name) =>
            this.#put(
              path,
              withSchema(report, REPORT_KINDS[name as keyof typeof REPORT_KINDS].schema, { type: name }),
            ),
        ),
        ...this.#controls(path, without(schema, [...SELECTED, 'type']), key, report),
        ...this.#others(path, report, { ...schema, type: {} }),
      ];
    });
    return this.#group(
      'Read',
      '/reports',
      rows.length === 0 ? 'Nothing chosen: the channels of the model, by side.' : '',
      [
        ...rows,
        this.#actions(
          this.#button('Add a report', 'add-report', () => this.#addTo('reports', 'report', newReport([]))),
        ),
      ],
    );
  }

  #nodeSets(): HTMLElement {
    const rows = this.#rowsOf('node_sets', 'Set', 'add-set', ({ path, key }, _, name) => [
      this.#neurons(`set ${name}`, { path, key: `${key}/neurons` }, name),
    ]);
    return this.#group('Sets', '/node_sets', MEMBERS['node_sets']!.description!, [
      ...rows,
      this.#actions(this.#button('Add a set', 'add-set', () => this.#addTo('node_sets', 'set', []))),
    ]);
  }

  #sweep(): HTMLElement {
    const axes = listAt(this.#document, 'sweep');
    const inputs = Object.keys(membersAt(this.#document, 'inputs'));
    const rows = axes.map((axis, at) => {
      const path = pointer('sweep', at);
      const isDose = isMembers(axis) && !('each' in axis);
      const add = isDose ? 'add-dose' : 'add-screen';
      const title = `${isDose ? 'Dose' : 'Screen'} ${at + 1}`;
      const controls = !isMembers(axis)
        ? [note({ '': axis })]
        : isDose
          ? this.#dose(axis, path)
          : this.#screen(axis, path, title);
      return this.#row(title, path, add, () => this.#put(path, undefined), controls);
    });
    const add = (axis: Json) => this.#append('sweep', axis);
    const buttons = [
      this.#button('Add a dose', 'add-dose', () =>
        add(
          inputs[0] === undefined
            ? { set: 'duration_ms', values: [100, 500, 1000] }
            : { set: `inputs.${inputs[0]}.rate_hz`, values: [10, 50, 100, 150, 200] },
        ),
      ),
      this.#button('Add a screen', 'add-screen', () =>
        add({ each: { responders_of: 'baseline' }, group_by: ['type'], as: 'silence' }),
      ),
    ];
    for (const button of buttons) button.disabled = axes.length >= MOST_AXES;
    const hint =
      'A dose gives a parameter several values; a screen silences or stimulates groups of neurons in turn.';
    return this.#group('Sweep', '/sweep', hint, [...rows, this.#actions(...buttons)]);
  }

  #dose(axis: Members, path: string): HTMLElement[] {
    const inputs = Object.entries(membersAt(this.#document, 'inputs')).flatMap(([name, input]) => {
      const kind = isMembers(input) ? kindOf(input) : undefined;
      return Object.keys(kind === undefined ? {} : sweptMembersOf(kind)).map(
        (member) => `inputs.${name}.${member}`,
      );
    });
    const edits = Object.keys(sweptNumbers(this.#document));
    const parameters = [...inputs, 'duration_ms', 'seed', ...edits];
    const labels = Object.fromEntries(parameters.map((each) => [each, parameterLabel(each)]));
    const text = axisText(axis);
    const { set, ...rest } = axis;
    return [
      this.#choice('Parameter', placeOf(`${path}/set`), labels, String(set ?? ''), (parameter) =>
        this.#put(`${path}/set`, parameter),
      ),
      text === undefined
        ? note(rest)
        : this.#text('Values', placeOf(`${path}/values`), text, '10, 50, 100 or from:to:step', (values) =>
            this.#put(path, { set: set ?? '', ...axisValues(values) }, 'typed'),
          ),
      ...this.#others(path, axis, { set: {}, values: {}, from: {}, to: {}, step: {} }),
    ];
  }

  #screen(axis: Members, path: string, title: string): HTMLElement[] {
    const isOfResponders = isMembers(axis['each']) && 'responders_of' in axis['each'];
    const inputs = Object.keys(membersAt(this.#document, 'inputs')).map((name) => [
      `inputs.${name}`,
      `stimulate them as ${name}`,
    ]);
    const edits = sweptGroups(this.#document).map((name) => [
      name,
      name === 'silence' ? 'silence them' : `take them as ${name.replace('connection_overrides.', '')}`,
    ]);
    return [
      this.#choice(
        'Neurons',
        { path: `${path}/each/responders_of`, key: `${path}/of` },
        { responders: 'those that respond without any', selected: 'these' },
        isOfResponders ? 'responders' : 'selected',
        (of) => this.#put(`${path}/each`, of === 'responders' ? { responders_of: 'baseline' } : []),
      ),
      isOfResponders
        ? this.#text(
            'At most (groups)',
            placeOf(`${path}/each/top`),
            NUMBER.textOf(valueAt(axis, '/each/top') ?? '') ?? '',
            '200',
            (top) => this.#put(`${path}/each/top`, NUMBER.valueOf(top), 'typed'),
          )
        : this.#neurons(title.toLowerCase(), placeOf(`${path}/each`), path.slice(1).replace('/', '.')),
      this.#groupings(placeOf(`${path}/group_by`), 'neuron', axis['group_by']),
      this.#choice(
        'In turn',
        placeOf(`${path}/as`),
        Object.fromEntries([...edits, ...inputs]),
        String(axis['as'] ?? ''),
        (as) => this.#put(`${path}/as`, as),
      ),
      ...this.#others(path, axis, { each: {}, group_by: {}, as: {} }),
    ];
  }

  #controlBrains(): HTMLElement {
    const { properties, description } = DOCUMENT.properties.controls;
    const controls = membersAt(this.#document, 'controls');
    const has = Object.keys(controls).length > 0;
    const shuffles = Object.fromEntries(
      ['', ...(properties.shuffle['enum'] as string[])].map((name) => [
        name,
        name === '' ? 'none' : valueText(name),
      ]),
    );
    return this.#group('Controls', '/controls', sentenceOf({ description }), [
      this.#grid([
        this.#choice(
          'Shuffle',
          placeOf('/controls/shuffle'),
          shuffles,
          String(controls['shuffle'] ?? ''),
          (shuffle) => this.#put('/controls', shuffle === '' ? undefined : { ...controls, shuffle }),
        ),
        ...(has ? this.#controls('/controls', { count: properties.count }) : []),
      ]),
    ]);
  }

  /** A control for each member of a schema that has one; others say their value as it is. */
  #controls(
    path: string,
    schemas: Readonly<Record<string, Schema>>,
    key = path,
    of?: Members,
  ): HTMLElement[] {
    const members = of ?? ((valueAt(this.#document, path) ?? {}) as Members);
    return Object.entries(schemas).flatMap(([name, schema]) => {
      const place = { path: path + pointer(name), key: key + pointer(name) };
      return this.#control(name, schema, place, members[name]);
    });
  }

  #control(name: string, schema: Schema, place: Place, value: Json | undefined): HTMLElement[] {
    const [section, ...inner] = keysOf(place.path);
    const label = labelOf(inner.length === 0 ? '' : section!, name);
    if (nameOfRef(schema) === 'Selector') {
      const { what, resolved } = selectorAt(place.path);
      return [this.#neurons(what, place, resolved, ENDS.includes(name) ? label : '')];
    }
    if (name === 'group_by') return schema.maxItems === 0 ? [] : [this.#groupings(place, '', value)];
    if (schema.enum !== undefined) {
      const byDefault = schema['default'] === undefined ? 'none' : valueText(String(schema['default']));
      const offered = Object.fromEntries(schema.enum.map((each) => [String(each), valueText(String(each))]));
      return [
        this.#choice(
          label,
          place,
          schema['default'] === undefined ? { '': byDefault, ...offered } : offered,
          String(value ?? schema['default'] ?? ''),
          (chosen) =>
            this.#put(place.path, chosen === '' || chosen === schema['default'] ? undefined : chosen),
          sentenceOf(schema),
        ),
      ];
    }
    if (isRows(schema)) return this.#listedRows(name, schema, place, value);
    const writing = writingOf(schema);
    const text = value === undefined ? '' : writing?.textOf(value);
    if (writing === undefined || text === undefined) return [];
    const control = this.#text(
      label,
      place,
      text,
      placeholderOf(schema, writing),
      (typed) => this.#put(place.path, writing.valueOf(typed), 'typed'),
      sentenceOf(schema),
      writing === NUMBER ? 'number' : writing === COURSE ? 'course' : 'wide',
    );
    if (writing === COURSE && isMembers(value)) control.append(courseFigure(value));
    const slider =
      writing === NUMBER || (writing === COURSE && !isMembers(value))
        ? this.#slider(label, schema, place, text, control)
        : undefined;
    if (slider !== undefined) control.append(slider);
    return [control];
  }

  /** Rows of a list, as of a pattern of rates. */
  #listedRows(name: string, schema: Schema, { path, key }: Place, value: Json | undefined): HTMLElement[] {
    const rows = isList(value) ? value : [];
    if (rows.length > MOST_ROWS || !rows.every(isMembers)) return [];
    const add = `add-${key}`;
    return [
      ...rows.map((_, at) =>
        this.#row(
          `Row ${at + 1} of ${name}`,
          path + pointer(at),
          add,
          () => this.#put(path + pointer(at), undefined),
          this.#controls(path + pointer(at), schema.items!.properties!, key + pointer(at)),
        ),
      ),
      this.#actions(
        this.#button('Add neurons with a rate', add, () =>
          this.#put(path + pointer(rows.length), { node_set: [], rate_hz: 100 }),
        ),
      ),
    ];
  }

  /** Members of the document at a place that no control shows. */
  #others(path: string, members: Members, schemas: Readonly<Record<string, Schema>>): HTMLElement[] {
    const others = Object.entries(members).filter(([name, value]) => {
      const schema = schemas[name];
      if (schema === undefined) return true;
      if (Object.keys(schema).length === 0 || name === 'group_by' || nameOfRef(schema) !== undefined)
        return false;
      if (schema.enum !== undefined || schema['const'] !== undefined) return false;
      if (isRows(schema)) return !isList(value) || value.length > MOST_ROWS || !value.every(isMembers);
      if (path === '')
        return writingOf(schema) === undefined
          ? !isList(value) && !isMembers(value)
          : writingOf(schema)!.textOf(value) === undefined;
      return writingOf(schema)?.textOf(value) === undefined;
    });
    return others.length === 0 ? [] : [note(Object.fromEntries(others))];
  }

  /** The rows of a member whose own members have names. */
  #rowsOf(
    member: 'inputs' | 'reports' | 'connection_overrides' | 'node_sets',
    title: string,
    add: string,
    controlsOf: (place: Place, value: Members, name: string) => readonly HTMLElement[],
  ): HTMLElement[] {
    const all = membersAt(this.#document, member);
    return Object.entries(all).map(([name, value], at) => {
      const place = { path: pointer(member, name), key: `${member}/${at}` };
      const rename = this.#text(
        'Name',
        { path: '', key: `${place.key}/name` },
        name,
        '',
        undefined,
        '',
        'name',
      );
      const input = rename.querySelector('input')!;
      // A name that is half typed would be one of the document.
      input.addEventListener('change', () => {
        const others = without(all, [name]);
        const free = freeName(input.value, others);
        this.#change(
          member === 'node_sets'
            ? withSetRenamed(this.#document, name, free)
            : renamed(this.#document, member, name, free),
        );
      });
      const controls =
        isMembers(value) || member === 'node_sets'
          ? controlsOf(place, isMembers(value) ? value : {}, name)
          : [note({ [name]: value })];
      return this.#row(`${title} ${name}`, place.path, add, () => this.#put(place.path, undefined), [
        rename,
        ...controls,
      ]);
    });
  }

  /** A part that is closed until it is wanted or has something. */
  #part(title: string, members: readonly string[], groups: readonly HTMLElement[]): HTMLElement {
    const used = members.filter((member) => member in this.#document);
    const part = element(
      'details',
      { class: 'part', open: used.length > 0 || this.#open.has(title) },
      element('summary', { [KEY]: title }, title),
      ...groups,
    );
    part.addEventListener('toggle', () => (part.open ? this.#open.add(title) : this.#open.delete(title)));
    return part;
  }

  #group(title: string, path: string, hint: string, content: readonly HTMLElement[]): HTMLElement {
    return element(
      'fieldset',
      { class: 'group', ...(path !== '' && { 'data-path': path }) },
      element('legend', {}, title),
      ...(hint === '' ? [] : [element('p', { class: 'hint' }, hint)]),
      ...content,
    );
  }

  #grid(controls: readonly HTMLElement[]): HTMLElement {
    return element('div', { class: 'controls' }, ...controls);
  }

  #actions(...buttons: readonly HTMLElement[]): HTMLElement {
    return element('div', { class: 'actions' }, ...buttons);
  }

  #row(
    label: string,
    path: string,
    addKey: string,
    onRemove: () => void,
    controls: readonly HTMLElement[],
  ): HTMLElement {
    const remove = element(
      'button',
      { type: 'button', class: 'quiet', 'aria-label': `Remove ${label}`, [KEY]: `${addKey}:remove` },
      '✕',
    );
    remove.addEventListener('click', onRemove);
    return element(
      'div',
      { class: 'row', role: 'group', 'aria-label': label, 'data-path': path },
      this.#grid(controls),
      remove,
    );
  }

  /** @param onInput undefined where the caller listens itself */
  #text(
    label: string,
    { path, key }: Place,
    value: string,
    placeholder: string,
    onInput: ((value: string) => void) | undefined,
    sentence = '',
    look: 'wide' | 'number' | 'name' | 'course' = 'wide',
  ): HTMLElement {
    const input = element('input', {
      type: 'text',
      ...(look === 'number' && { inputmode: 'decimal' }),
      value,
      placeholder,
      autocomplete: 'off',
      autocapitalize: 'off',
      spellcheck: 'false',
      [KEY]: key,
      'data-path': path,
    });
    if (onInput !== undefined) input.addEventListener('input', () => onInput(input.value));
    return labelled(label, input, sentence, `control ${look}`);
  }

  /** The same number, to be dragged; times have no slider, as most of their way is of no use. */
  #slider(
    label: string,
    schema: Schema,
    { path, key }: Place,
    text: string,
    control: HTMLElement,
  ): HTMLElement | undefined {
    const { minimum, maximum } = schema.anyOf?.[0] ?? schema;
    if (minimum === undefined || maximum === undefined || / \(ms\)$/.test(label)) return undefined;
    if (maximum - minimum > LONGEST_SLIDER || path.split('/').length < 3 || path.startsWith('/controls'))
      return undefined;
    const value =
      text === ''
        ? Number(schema['default'] ?? (schema['examples'] as number[] | undefined)?.[0] ?? minimum)
        : Number(text);
    const slider = element('input', {
      type: 'range',
      min: minimum,
      max: maximum,
      step: schema.type === 'integer' ? 1 : stepOf(maximum - minimum),
      value: Number.isNaN(value) ? minimum : value,
      'aria-label': `Slide ${label.replace(/ \(.*/, '').toLowerCase()}`,
      [KEY]: `${key}:slider`,
    });
    const field = control.querySelector<HTMLInputElement>('input[type=text]')!;
    const moved = (change: Change) => () => {
      field.value = slider.value;
      this.#put(path, Number(slider.value), change);
    };
    slider.addEventListener('input', moved('dragged'));
    slider.addEventListener('change', moved('settled'));
    field.addEventListener('input', () => (slider.value = field.value));
    return slider;
  }

  #choice(
    label: string,
    { path, key }: Place,
    labels: Readonly<Record<string, string>>,
    value: string,
    onChange: (value: string) => void,
    sentence = '',
  ): HTMLElement {
    // A document may hold a value that the form does not offer.
    const offered = value in labels ? labels : { ...labels, [value]: value };
    const options = Object.entries(offered).map(([option, text]) =>
      element('option', { value: option, selected: option === value }, text),
    );
    const select = element('select', { [KEY]: key, 'data-path': path }, ...options);
    select.addEventListener('change', () => onChange(select.value));
    return labelled(label, select, sentence, 'control');
  }

  #groupings(place: Place, byDefault: string, value: Json | undefined): HTMLElement {
    const chosen = isList(value) ? value.join(',') : byDefault;
    return this.#choice('Groups', place, GROUPINGS, chosen, (groups) =>
      this.#put(place.path, groups === byDefault ? undefined : groups === '' ? [] : groups.split(',')),
    );
  }

  /** @param caption stands above it, where a row has several */
  #neurons(label: string, { path, key }: Place, resolved: string, caption = ''): HTMLElement {
    const list = neuronList({
      label,
      selector: (valueAt(this.#document, path) ?? []) as Members,
      path,
      key,
      resolved,
      // One selector stands alone, several are a list.
      onChange: (selectors) => this.#put(path, selectors.length === 1 ? selectors[0] : selectors),
    });
    if (caption !== '') list.prepend(element('span', { class: 'hint' }, caption));
    return list;
  }

  #button(text: string, key: string, onClick: () => void): HTMLButtonElement {
    const button = element('button', { type: 'button', class: 'quiet', [KEY]: key }, text);
    button.addEventListener('click', onClick);
    return button;
  }
}

/** A control with its name, and a sentence on it that shows while it is used. What else is put there is not part of the name. */
function labelled(label: string, control: HTMLElement, sentence: string, look: string): HTMLElement {
  const whole = element('div', { class: look }, element('label', {}, element('span', {}, label), control));
  if (sentence !== '') {
    control.setAttribute('aria-description', sentence);
    whole.append(element('small', { class: 'sentence', 'aria-hidden': 'true' }, sentence));
  }
  return whole;
}

/** Members of a document that no control can show, as they are. */
function note(members: Members): HTMLElement {
  const texts = Object.entries(members).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return element('p', { class: 'hint others' }, `In the document: ${texts.join(', ')}`);
}

/** A message at a place, with a button for each name that may have been meant. */
export function faultElement(
  message: string,
  { suggestions = [] }: Fault,
  onSuggestion: (suggestion: string) => void,
): HTMLElement {
  const fault = element('div', { class: 'fault', role: 'alert' }, element('p', {}, message));
  if (suggestions.length === 0) return fault;
  const buttons = suggestions.map((suggestion) => {
    const button = element('button', { type: 'button', class: 'quiet' }, suggestion);
    button.addEventListener('click', () => onSuggestion(suggestion));
    return button;
  });
  fault.append(element('p', { class: 'suggestions' }, 'Did you mean ', ...buttons));
  return fault;
}

/** The message with the label of its control in the place of the name that the document has for it. */
function inWordsOf(target: HTMLElement, message: string, path: string): string {
  if (target.dataset['path'] !== path) return message;
  const label = target.closest('.control')?.querySelector('label > span')?.textContent;
  if (label == null) return message;
  const row = target.closest('.row')?.getAttribute('aria-label');
  const name = keysOf(path).reduce(
    (text, key) => (/^\d+$/.test(key) ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`),
    '',
  );
  return message.replace(
    name,
    row == null ? label : `${label} of ${row.charAt(0).toLowerCase()}${row.slice(1)}`,
  );
}

function describeResolved(resolved: ResolvedSet | undefined): string {
  if (resolved === undefined) return '';
  const { neurons, sides, types, missing } = resolved;
  const bySide = Object.entries(sides).map(
    ([side, count]) => `${grouped(count)} ${side || 'of unknown side'}`,
  );
  const names = Object.keys(types).length;
  return (
    `${grouped(neurons)} ${neurons === 1 ? 'neuron' : 'neurons'}: ${bySide.join(', ')}` +
    (names > 1 ? `; ${grouped(names)} types` : '') +
    (missing.length > 0 ? `; ${grouped(missing.length)} missing` : '')
  );
}

/** Rates in time as steps, in the width of the control. */
function courseFigure({ times_ms: times, values }: Members): HTMLElement {
  const [xs, ys] = [times, values].map((list) => (list as readonly Json[]).map(Number)) as [
    number[],
    number[],
  ];
  const end = (xs.at(-1) || 1) * 1.25;
  const top = Math.max(1, ...ys);
  const points = xs.flatMap((x, at) => {
    const y = 30 - (28 * ys[at]!) / top;
    return [`${(100 * x) / end},${y}`, `${(100 * (xs[at + 1] ?? end)) / end},${y}`];
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 32" preserveAspectRatio="none">`;
  const drawn = svgElement(`${svg}<polyline points="${points.join(' ')}"/></svg>`);
  return element('span', { class: 'course-figure', 'aria-hidden': 'true' }, drawn);
}

/** @returns how a value of the schema is written; undefined where it has no control */
function writingOf(schema: Schema): Writing | undefined {
  const forms = schema.anyOf ?? [schema];
  if (forms.some(({ properties }) => properties?.['times_ms'] && properties['values'])) return COURSE;
  const isNumber = (type: unknown) => type === 'number' || type === 'integer';
  if (forms.some(({ type, items }) => type === 'array' && isNumber(items?.type))) return NUMBERS;
  const types = [schema.type].flat();
  if (types.some(isNumber)) return NUMBER;
  return types.includes('string') && schema['const'] === undefined ? PLAIN : undefined;
}

function isRows({ type, items }: Schema): boolean {
  return type === 'array' && items?.properties !== undefined;
}

function placeholderOf(schema: Schema, writing: Writing): string {
  const byDefault = schema['default'];
  if (byDefault === null) return 'the end';
  if (byDefault !== undefined) return String(byDefault);
  return writing === PLAIN ? '' : 'as usual';
}

/** 1, 2 or 5 of a power of ten. */
function stepOf(way: number): number {
  const least = way / SLIDER_STEPS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find((each) => each * power >= least * 0.999)! * power;
  return Number(step.toPrecision(1));
}

/** A document's value in another kind: what both have stays, what the kind needs comes from its examples. */
function withSchema(value: Members, { properties = {}, required = [] }: Schema, own: Members = {}): Members {
  const [first] = listAt(value, 'rates');
  const before = isMembers(first) && !('rates' in properties) ? { ...first, ...value } : value;
  const of = (name: string): Json | undefined => {
    const { const: only, default: byDefault, examples, maxItems } = properties[name]!;
    if (only !== undefined) return byDefault === undefined ? (only as Json) : undefined;
    if (name === 'rates') return [{ node_set: value['node_set'] ?? [], rate_hz: 100 }];
    if (maxItems === 0) return undefined;
    const writing = writingOf(properties[name]!);
    const fits = writing === undefined || Boolean(writing.textOf(before[name] ?? ''));
    if (before[name] !== undefined && fits) return before[name];
    return required.includes(name) ? (name === 'node_set' ? [] : (examples as Json[])[0]) : undefined;
  };
  const entries = Object.keys(properties).map(
    (name) => [name, name in own && own[name] !== 'rate' ? own[name] : of(name)] as const,
  );
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** Renames what a sweep may name, also there. */
function renamed(document: Members, member: string, before: string, name: string): Json {
  const [old, now] = [`${member}.${before}`, `${member}.${name}`];
  const text = (value: Json): Json =>
    value === old || (typeof value === 'string' && value.startsWith(`${old}.`))
      ? now + value.slice(old.length)
      : value;
  const axes = listAt(document, 'sweep').map((axis) =>
    isMembers(axis)
      ? Object.fromEntries(Object.entries(axis).map(([key, value]) => [key, text(value)]))
      : axis,
  );
  const changed = withMemberRenamed(document, pointer(member, before), name);
  return axes.length === 0 ? changed : withValueAt(changed, '/sweep', axes);
}

/** Words for a selector, and its name in the answer; in a list of rows it has none of its own. */
function selectorAt(path: string): { readonly what: string; readonly resolved: string } {
  const [section, row, member, at] = keysOf(path) as [string, string, string, string?];
  if (section === 'silence') return { what: `timed silence ${Number(row) + 1}`, resolved: `silence.${row}` };
  if (ENDS.includes(member)) return { what: `${member} of ${row}`, resolved: `${section}.${row}.${member}` };
  const what = `${section.slice(0, -1)} ${row}`;
  return at === undefined
    ? { what, resolved: `${section}.${row}` }
    : { what: `row ${Number(at) + 1} of ${what}`, resolved: '' };
}

/** @returns undefined for a kind that there is not */
function kindOf(input: Members): ReturnType<typeof inputKindOf> | undefined {
  return inputKindOf({ module: 'poisson', ...input });
}

function newInput(selector: Json): Json {
  return { node_set: selector, rate_hz: INPUT_KINDS.poisson.schema.properties.rate_hz.default! };
}

function newReport(selector: Json): Json {
  return { node_set: selector, group_by: ['side'] };
}

function membersAt(document: Members, member: string): Members {
  const value = document[member];
  return isMembers(value) ? value : {};
}

function listAt(document: Members, member: string): readonly Json[] {
  const value = document[member];
  return isList(value) ? value : [];
}

function placeOf(path: string): Place {
  return { path, key: path };
}

function pick(schemas: Readonly<Record<string, Schema>>, names: readonly string[]): Record<string, Schema> {
  return Object.fromEntries(names.flatMap((name) => (name in schemas ? [[name, schemas[name]!]] : [])));
}

function without<T>(members: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

function placeIn(order: readonly string[], name: string): number {
  const at = order.indexOf(name);
  return at < 0 ? order.length : at;
}

function nameFrom(selector: string): string {
  return (
    selector
      .replace(/^@/, '')
      .replace(/[^A-Za-z0-9_-]+/g, '_')
      .slice(0, 64) || 'neurons'
  );
}

function freeName(wanted: string, taken: object): string {
  let name = wanted;
  for (let at = 2; name in taken; at++) name = `${wanted}_${at}`;
  return name;
}

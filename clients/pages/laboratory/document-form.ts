/**
 * The form of the laboratory. It builds controls for the members of a document from the schemas of its kinds. The
 * document is its only state: each control changes the value at its path. A value without a control is shown as text.
 */
import { USUAL_CONSTANTS } from '../../../src/experiments/kinds/edits/constants.js';
import { DOCUMENT } from '../../../src/experiments/document/document.js';
import { sweptGroups, sweptNumbers } from '../../../src/experiments/kinds/edit-kinds.js';
import { INPUT_KINDS, inputKindOf, sweptMembersOf } from '../../../src/experiments/kinds/input-kinds.js';
import { REPORT_KINDS } from '../../../src/experiments/kinds/report-kinds.js';
import type { DryRun, ResolvedSet } from '../../../src/experiments/document/result.js';
import { type Controls, formsOf } from '../../../src/experiments/kinds/controls.js';
import { parameterLabel } from '../../../src/experiments/figures/condition-labels.js';
import { nameOfRef, type Schema } from '../../../src/engine/schema/json-schema.js';
import { byId, choiceOf, counted, element, grouped, pushButton, sidesInWords, suggested } from '../dom.js';
import { svgElement } from '../plots/figure-box.js';
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
import { KEY, neuronList } from './neuron-list.js';
import { withSetRenamed } from './selectors.js';
import { axisText, axisValues, COURSE, NUMBER, NUMBERS, PLAIN, type Writing } from './values.js';
import { GROUPINGS, labelOf, REPORT_LABELS, sentenceOf, valueText } from './words.js';
import { own } from '../../../src/engine/own.js';

const MEMBERS = DOCUMENT.properties as Readonly<Record<string, Schema>>;
const MAX_AXES = DOCUMENT.properties.sweep.maxItems;
/** Longest list of neurons with rates that has controls; a longer list is shown as text. */
const MAX_ROWS = 32;
/** A slider has about this number of steps. */
const SLIDER_STEPS = 200;
/** A larger range has no slider. */
const MAX_SLIDER = 1000;
/** Controls may move under the pointer when the form is drawn, so the way of the pointer tells a press from a drag. */
const CLICK_PIXELS = 5;
const ENDS = ['source', 'target'];
const SELECTED = ['node_set', ...ENDS];

/** A change of the document: `dragged` while a slider moves, `settled` when it is released. */
export type Change = 'typed' | 'dragged' | 'settled' | 'chosen';

/** Members whose own members have names of the user's choice. */
type NamedRows = 'inputs' | 'reports' | 'connection_overrides' | 'node_sets';

/** A member's path, and a key that stays the same if its row is renamed. */
interface Place {
  readonly path: string;
  readonly key: string;
}

export class DocumentForm {
  readonly #fields = byId<HTMLFieldSetElement>('draft-fields');
  #document: Members = {};
  #resolved: DryRun['resolved'] = {};
  /** Sections that the user has opened, by title. */
  readonly #open = new Set<string>();
  /** The constants of the model, which differ from the usual ones in the gain of a synapse. */
  #constants: Readonly<Record<string, number>> = USUAL_CONSTANTS;
  /** The field whose text has changed since it got the focus. */
  #typed: EventTarget | null = null;
  /** True if the form must be drawn when the user leaves the field. */
  #isDue = false;

  /**
   * @param onChange called for every change in the form
   * @param onLeft called when a changed field loses the focus
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
        if (this.#isDue) this.#render();
      });
    }
    this.#keepPresses();
  }

  /** A press that leaves a field may redraw the form. Then its release acts on the control in place of the pressed one. */
  #keepPresses(): void {
    let release: ((event: MouseEvent) => void) | undefined;
    this.#fields.addEventListener('mousedown', ({ target, button, clientX, clientY }) => {
      const place = target as Element;
      const pressed = place.closest('label')?.control ?? place.closest<HTMLElement>(`[${KEY}]`);
      release = undefined;
      if (button !== 0 || pressed === null) return;
      const withKey = () => this.#withKey(pressed.getAttribute(KEY) ?? '');
      const before = withKey();
      release = ({ clientX: x, clientY: y }) => {
        if (pressed.isConnected || Math.hypot(x - clientX, y - clientY) > CLICK_PIXELS) return;
        const same = inPlaceOf(pressed, before, withKey());
        same?.focus({ preventScroll: true });
        // Safari opens no choice for a script.
        if (same instanceof HTMLSelectElement && 'showPicker' in same) same.showPicker();
        else same?.click();
      };
    });
    addEventListener('mouseup', (event) => {
      const act = release;
      release = undefined;
      act?.(event);
    });
  }

  get document(): Members {
    return this.#document;
  }

  /** True while the user types. An incomplete text is not yet an error. */
  get isTyping(): boolean {
    return this.#typed instanceof HTMLInputElement && this.#typed === document.activeElement;
  }

  /** Shows a document from outside the form. */
  write(shown: Members): void {
    this.#document = shown;
    this.#render();
  }

  /** Takes the form's own document, possibly with another name. */
  rename(shown: Members): void {
    this.#document = shown;
    const field = this.#fields.querySelector<HTMLInputElement>('[data-path="/name"]')!;
    const name = String(shown['name'] ?? '');
    if (field !== document.activeElement && field.value !== name) field.value = name;
  }

  allowChanges(allowed: boolean): void {
    this.#fields.disabled = !allowed;
  }

  /** Adds neurons from the search: to the silenced ones, or as a new input or report. */
  add(place: 'stimulate' | 'silence' | 'read', selector: string): void {
    if (place === 'silence') this.#append('silence', selector);
    else if (place === 'read') this.#addTo('reports', nameFrom(selector), newReport(selector));
    else this.#addTo('inputs', nameFrom(selector), newInput(selector));
  }

  /** @param synapseMv gain of a synapse of the served model */
  setGain(synapseMv: number): void {
    this.#constants = { ...USUAL_CONSTANTS, synapse_mv: synapseMv };
    // A drawing would take the text that is typed.
    if (this.isTyping) this.#isDue = true;
    else this.#render();
  }

  /** Shows the number of neurons of each selector, if the service has resolved it. */
  showResolved(resolved: DryRun['resolved'] | undefined): void {
    this.#resolved = resolved ?? {};
    for (const hint of this.#fields.querySelectorAll<HTMLElement>('[data-resolved]')) {
      hint.textContent = describeResolved(this.#resolved[hint.dataset['resolved']!]);
    }
  }

  /**
   * Shows an error at its control, in the words of the form, with suggestions.
   * @returns true if the form has such a control
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

  /** The control for the path, or for the closest enclosing path. */
  #controlAt(path: string): HTMLElement | undefined {
    for (let place = path; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
      const found = this.#fields.querySelector<HTMLElement>(`[data-path="${CSS.escape(place)}"]`);
      if (found !== null) return found;
    }
    return undefined;
  }

  #change(changed: Json, change: Change = 'chosen'): void {
    // Members keep the order of the complete document, whatever the order of changes.
    const inOrder = [...Object.keys(MEMBERS), ...Object.keys(changed as Members)];
    const entries = Object.entries(changed as Members);
    entries.sort(([a], [b]) => inOrder.indexOf(a) - inOrder.indexOf(b));
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

  #addTo(member: NamedRows, name: string, value: Json): void {
    this.#put(pointer(member, freeName(name, membersAt(this.#document, member))), value);
  }

  #render(): void {
    const hadFocus = this.#fields.contains(document.activeElement);
    const focused = document.activeElement?.getAttribute(KEY) ?? '';
    this.#typed = null;
    this.#isDue = false;
    this.#fields.replaceChildren(
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
      this.#controlNetworks(),
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

  /** Restores the focus. If its control is gone, the control that adds such items gets it. */
  #focusAgain(key: string): void {
    const [same = this.#withKey(key.split(':', 1)[0]!)[0]] = this.#withKey(key);
    same?.focus({ preventScroll: true });
  }

  #withKey(key: string): HTMLElement[] {
    return [...this.#fields.querySelectorAll<HTMLElement>(`[${KEY}="${CSS.escape(key)}"]`)];
  }

  #inputs(): HTMLElement {
    const rows = this.#rowsOf('inputs', 'Input', 'add-input', (place, input) => {
      const kind = kindOf(input);
      const kinds = Object.fromEntries(Object.keys(INPUT_KINDS).map((name) => [name, valueText(name)]));
      const chosen =
        Object.entries(INPUT_KINDS).find(([, each]) => each === kind)?.[0] ?? String(input['module']);
      return this.#ofKind('module', place, input, kinds, chosen, kind?.schema, (name) =>
        withSchema(input, INPUT_KINDS[name as keyof typeof INPUT_KINDS].schema),
      );
    });
    const add = this.#button('Add an input', 'add-input', () => this.#addTo('inputs', 'input', newInput([])));
    return this.#group('Stimulate', '/inputs', '', [...rows, this.#actions(add)]);
  }

  /**
   * Controls of an input or a report: its neurons, its kind, then the members of that kind.
   * @param kindMember names the kind
   * @param schema of the kind; undefined for an unknown one
   * @param toKind converts the input or report to another kind
   */
  #ofKind(
    kindMember: 'module' | 'type',
    { path, key }: Place,
    value: Members,
    kinds: Readonly<Record<string, string>>,
    chosen: string,
    schema: Schema | undefined,
    toKind: (name: string) => Json,
  ): HTMLElement[] {
    const properties = schema?.properties ?? {};
    const place = { path: `${path}/${kindMember}`, key: `${key}/${kindMember}` };
    const label = labelOf(keysOf(path)[0]!, kindMember);
    return [
      ...this.#controls(path, pick(properties, SELECTED), key, value),
      this.#choice(label, place, kinds, chosen, (name) => this.#put(path, toKind(name))),
      ...this.#controls(path, without(properties, [...SELECTED, kindMember]), key, value),
      ...this.#others(path, value, { ...properties, [kindMember]: {} }),
    ];
  }

  /** One list for neurons that are silenced throughout, and one row for each item with a window. */
  #silence(): HTMLElement {
    const items = listAt(this.#document, 'silence');
    const isTimed = (item: Json) => isMembers(item) && 'node_set' in item;
    const timedSchema = MEMBERS['silence']!.items!.anyOf![0]!.properties!;
    const rows = items.flatMap((item, at) => {
      if (!isTimed(item)) return [];
      const place = pointer('silence', at);
      const remove = () => this.#put(place, undefined);
      const controls = this.#controls(place, timedSchema);
      return [this.#row(`Timed silence ${at + 1}`, place, 'add-window', remove, controls)];
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
    const add = this.#button('Add a timed silence', 'add-window', () =>
      this.#append('silence', { node_set: [], start_ms: 0 }),
    );
    return this.#group('Silence', '', '', [list, ...rows, this.#actions(add)]);
  }

  #overrides(): HTMLElement {
    const schema = (MEMBERS['connection_overrides']!.additionalProperties as Schema).properties!;
    const rows = this.#rowsOf('connection_overrides', 'Override', 'add-override', ({ path, key }, value) => [
      ...this.#controls(path, schema, key, value),
      ...this.#others(path, value, schema),
    ]);
    const add = this.#button('Add an override', 'add-override', () =>
      this.#addTo('connection_overrides', 'override', { source: [], target: [], weight: 0 }),
    );
    const hint = MEMBERS['connection_overrides']!.description!;
    return this.#group('Connections', '/connection_overrides', hint, [...rows, this.#actions(add)]);
  }

  #object(title: string, member: string): HTMLElement {
    const { properties = {}, description = '' } = MEMBERS[member]!;
    return this.#group(title, `/${member}`, description.replace(/\. .*/s, '.'), [
      this.#grid(this.#controls(`/${member}`, properties)),
      ...this.#others(`/${member}`, membersAt(this.#document, member), properties),
    ]);
  }

  #reports(): HTMLElement {
    const schemaOf = (type: string) => REPORT_KINDS[type as keyof typeof REPORT_KINDS]?.schema;
    const rows = this.#rowsOf('reports', 'Report', 'add-report', (place, report) => {
      const type = String(report['type'] ?? 'rate');
      return this.#ofKind('type', place, report, REPORT_LABELS, type, schemaOf(type), (name) =>
        withSchema(report, schemaOf(name), { type: name }),
      );
    });
    const hint = rows.length === 0 ? 'Nothing chosen: the channels of the model, by side.' : '';
    const add = this.#button('Add a report', 'add-report', () =>
      this.#addTo('reports', 'report', newReport([])),
    );
    return this.#group('Read', '/reports', hint, [...rows, this.#actions(add)]);
  }

  #nodeSets(): HTMLElement {
    const rows = this.#rowsOf('node_sets', 'Set', 'add-set', ({ path, key }, _, name) => [
      this.#neurons(`set ${name}`, { path, key: `${key}/neurons` }, name),
    ]);
    const add = this.#button('Add a set', 'add-set', () => this.#addTo('node_sets', 'set', []));
    const hint = MEMBERS['node_sets']!.description!;
    return this.#group('Sets', '/node_sets', hint, [...rows, this.#actions(add)]);
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
    const dose =
      inputs[0] === undefined
        ? { set: 'duration_ms', values: [100, 500, 1000] }
        : { set: `inputs.${inputs[0]}.rate_hz`, values: [10, 50, 100, 150, 200] };
    const screen = { each: { responders_of: 'baseline' }, group_by: ['type'], as: 'silence' };
    const buttons = [
      this.#button('Add a dose', 'add-dose', () => this.#append('sweep', dose)),
      this.#button('Add a screen', 'add-screen', () => this.#append('sweep', screen)),
    ];
    for (const button of buttons) button.disabled = axes.length >= MAX_AXES;
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
      this.#choice('Parameter', placeOf(`${path}/set`), labels, String(set ?? '')),
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
    const uses = Object.fromEntries([...edits, ...inputs]) as Readonly<Record<string, string>>;
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
      this.#choice('In turn', placeOf(`${path}/as`), uses, String(axis['as'] ?? '')),
      ...this.#others(path, axis, { each: {}, group_by: {}, as: {} }),
    ];
  }

  #controlNetworks(): HTMLElement {
    const { properties, description } = DOCUMENT.properties.controls;
    const controls = membersAt(this.#document, 'controls');
    const has = Object.keys(controls).length > 0;
    const [form = 'shuffle'] = formsOf(controls as unknown as Controls);
    // Matched controls replace the groups of a screen.
    const screen = listAt(this.#document, 'sweep').find((axis) => isMembers(axis) && 'each' in axis);
    const screened = screen === undefined ? undefined : String(valueAt(screen, '/as')).split('.', 1)[0]!;
    const shuffles = properties.shuffle['enum'] as string[];
    const labels = {
      '': 'none',
      ...Object.fromEntries(shuffles.map((name) => [name, `shuffled ${valueText(name)}`])),
      resampled: 'resampled counts',
      sampled: 'sampled signs',
      ...(screened !== undefined && { matched: 'other neurons' }),
    };
    const forms = new Map([
      ['resampled', 'counts'],
      ['sampled', 'signs'],
      ['matched', screened!],
    ]);
    const count = controls['count'] ?? properties.count.default;
    const choose = (chosen: string): void =>
      this.#put('/controls', chosen === '' ? undefined : { [forms.get(chosen) ?? 'shuffle']: chosen, count });
    const place = { path: `/controls/${form}`, key: '/controls/shuffle' };
    const hint = sentenceOf(form === 'shuffle' ? { description } : properties[form]);
    return this.#group('Controls', '/controls', hint, [
      this.#grid([
        this.#choice('Compare with', place, labels, String(controls[form] ?? ''), choose),
        ...(has ? this.#controls('/controls', { count: properties.count }) : []),
      ]),
    ]);
  }

  /** A control for each member of a schema; members without a control show their value as text. */
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
      const offered = Object.fromEntries(schema.enum.map((each) => [String(each), valueText(String(each))]));
      const labels = schema['default'] === undefined ? { '': 'none', ...offered } : offered;
      const shown = String(value ?? schema['default'] ?? '');
      const choose = (chosen: string): void =>
        this.#put(place.path, chosen === '' || chosen === schema['default'] ? undefined : chosen);
      return [this.#choice(label, place, labels, shown, choose, sentenceOf(schema))];
    }
    if (isRows(schema)) return this.#listedRows(name, schema, place, value);
    const writing = writingOf(schema);
    const text = value === undefined ? '' : writing?.textOf(value);
    const usual = this.#usualOf(section!, name);
    if (writing === undefined || text === undefined) return [];
    const control = this.#text(
      label,
      place,
      text,
      usual === undefined ? placeholderOf(schema, writing) : String(usual),
      (typed) => this.#put(place.path, writing.valueOf(typed), 'typed'),
      sentenceOf(schema),
      writing === NUMBER ? 'number' : writing === COURSE ? 'course' : 'wide',
    );
    if (writing === COURSE && isMembers(value)) control.append(courseFigure(value));
    if (writing !== NUMBER && (writing !== COURSE || isMembers(value))) return [control];
    const slider = this.#slider(label, schema, place, text, control, usual);
    if (slider === undefined) return [control];
    control.append(slider);
    if (usual !== undefined) control.append(this.#reset(label, place, usual, control));
    return [control];
  }

  /** Rows of a list, such as a pattern of rates. */
  #listedRows(name: string, schema: Schema, { path, key }: Place, value: Json | undefined): HTMLElement[] {
    const rows = isList(value) ? value : [];
    if (rows.length > MAX_ROWS || !rows.every(isMembers)) return [];
    const add = `add-${key}`;
    const shown = rows.map((_, at) => {
      const place = path + pointer(at);
      const controls = this.#controls(place, schema.items!.properties!, key + pointer(at));
      const remove = (): void => this.#put(place, undefined);
      return this.#row(`Row ${at + 1} of ${name}`, place, add, remove, controls);
    });
    const append = this.#button('Add neurons with a rate', add, () =>
      this.#put(path + pointer(rows.length), { node_set: [], rate_hz: 100 }),
    );
    return [...shown, this.#actions(append)];
  }

  /** Members at a path that have no control. */
  #others(path: string, members: Members, schemas: Readonly<Record<string, Schema>>): HTMLElement[] {
    const others = Object.entries(members).filter(([name, value]) => {
      const schema = own(schemas, name);
      if (schema === undefined) return true;
      if (Object.keys(schema).length === 0 || name === 'group_by' || nameOfRef(schema) !== undefined)
        return false;
      if (schema.enum !== undefined || schema['const'] !== undefined) return false;
      if (isRows(schema)) return !isList(value) || value.length > MAX_ROWS || !value.every(isMembers);
      const writing = writingOf(schema);
      if (path === '' && writing === undefined) return !isList(value) && !isMembers(value);
      return writing?.textOf(value) === undefined;
    });
    return others.length === 0 ? [] : [note(Object.fromEntries(others))];
  }

  /** The rows of a member whose own members have names. */
  #rowsOf(
    member: NamedRows,
    title: string,
    add: string,
    controlsOf: (place: Place, value: Members, name: string) => readonly HTMLElement[],
  ): HTMLElement[] {
    const all = membersAt(this.#document, member);
    return Object.entries(all).map(([name, value], at) => {
      const place = { path: pointer(member, name), key: `${member}/${at}` };
      const nameAt = { path: '', key: `${place.key}/name` };
      const rename = this.#text('Name', nameAt, name, '', undefined, '', 'name');
      const input = rename.querySelector('input')!;
      // Wait for the complete name, because each change renames the member.
      input.addEventListener('change', () => {
        const free = freeName(input.value, without(all, [name]));
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
      const remove = (): void => this.#put(place.path, undefined);
      return this.#row(`${title} ${name}`, place.path, add, remove, [rename, ...controls]);
    });
  }

  /** A section that is closed until the user opens it or it has content. */
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
    const remove = { 'aria-label': `Remove ${label}`, [KEY]: `${addKey}:remove` };
    return element(
      'div',
      { class: 'row', role: 'group', 'aria-label': label, 'data-path': path },
      this.#grid(controls),
      pushButton('✕', onRemove, remove),
    );
  }

  /** @param onInput undefined if the caller listens itself */
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

  /** The number in force if the document leaves a member out; undefined if the schema says it. */
  #usualOf(section: string, member: string): number | undefined {
    if (section === 'constants') return own(this.#constants, member);
    if (section === 'wiring') return member === 'jitter' ? 0 : undefined;
    return section === 'inputs' && member === 'scale' ? 1 : undefined;
  }

  /** A slider for the same number. Times have none, because most of their range is useless. */
  #slider(
    label: string,
    schema: Schema,
    { path, key }: Place,
    text: string,
    control: HTMLElement,
    usual = Number(schema['default'] ?? schema.minimum),
  ): HTMLElement | undefined {
    const { minimum, maximum } = schema.anyOf?.[0] ?? schema;
    if (minimum === undefined || maximum === undefined || / \(ms\)$/.test(label)) return undefined;
    if (maximum - minimum > MAX_SLIDER || path.split('/').length < 3 || path.startsWith('/controls'))
      return undefined;
    const start = Number.isNaN(usual) ? minimum : usual;
    const value = text === '' ? start : Number(text);
    const slider = element('input', {
      type: 'range',
      min: minimum,
      max: maximum,
      // The steps begin at the usual value, which HTML allows only for the minimum.
      step: 'any',
      value: Number.isNaN(value) ? minimum : value,
      'aria-label': `Slide ${label.replace(/ \(.*/, '').toLowerCase()}`,
      [KEY]: `${key}:slider`,
    });
    const step = schema.type === 'integer' ? 1 : stepOf(maximum - minimum);
    const field = control.querySelector<HTMLInputElement>('input[type=text]')!;
    const moved = (change: Change) => () => {
      const steps = Math.round((Number(slider.value) - start) / step);
      const value = Number((start + steps * step).toPrecision(9));
      slider.value = field.value = String(Math.min(maximum, Math.max(minimum, value)));
      this.#put(path, Number(field.value), change);
    };
    slider.addEventListener('input', moved('dragged'));
    slider.addEventListener('change', moved('settled'));
    field.addEventListener('input', () => (slider.value = field.value || String(start)));
    return slider;
  }

  /** A button that takes the member out of the document, as long as it is there. */
  #reset(label: string, { path, key }: Place, usual: number, control: HTMLElement): HTMLElement {
    const button = this.#button(`Back to ${usual}`, `${key}:reset`, () => this.#put(path, undefined));
    button.ariaLabel = `Set ${label.replace(/ \(.*/, '').toLowerCase()} back to ${usual}`;
    const show = () => (button.hidden = valueAt(this.#document, path) === undefined);
    // The listeners of its fields come first and change the document.
    for (const event of ['input', 'change']) control.addEventListener(event, show);
    show();
    return button;
  }

  #choice(
    label: string,
    { path, key }: Place,
    labels: Readonly<Record<string, string>>,
    value: string,
    onChange: (value: string) => void = (chosen) => this.#put(path, chosen),
    sentence = '',
  ): HTMLElement {
    // A document may have a value that the form does not offer.
    const offered = Object.hasOwn(labels, value) ? labels : { ...labels, [value]: value };
    const attributes = { [KEY]: key, 'data-path': path };
    const select = choiceOf(Object.entries(offered), value, onChange, attributes);
    return labelled(label, select, sentence, 'control');
  }

  #groupings(place: Place, byDefault: string, value: Json | undefined): HTMLElement {
    const chosen = isList(value) ? value.join(',') : byDefault;
    return this.#choice('Groups', place, GROUPINGS, chosen, (groups) =>
      this.#put(place.path, groups === byDefault ? undefined : groups === '' ? [] : groups.split(',')),
    );
  }

  /** @param caption shown above it, if a row has several */
  #neurons(label: string, { path, key }: Place, resolved: string, caption = ''): HTMLElement {
    const list = neuronList({
      label,
      selector: (valueAt(this.#document, path) ?? []) as Members,
      path,
      key,
      resolved,
      // A single selector is not a list.
      onChange: (selectors) => this.#put(path, selectors.length === 1 ? selectors[0] : selectors),
    });
    if (caption !== '') list.prepend(element('span', { class: 'hint' }, caption));
    return list;
  }

  #button(text: string, key: string, onClick: () => void): HTMLButtonElement {
    return pushButton(text, onClick, { [KEY]: key });
  }
}

/**
 * @param before the controls with the key of the pressed one at its press
 * @param now those after a drawing, which may have other names and another order
 */
function inPlaceOf(
  pressed: HTMLElement,
  before: readonly HTMLElement[],
  now: readonly HTMLElement[],
): HTMLElement | undefined {
  const there = now[before.indexOf(pressed)];
  const same = [there, ...now].find((each) => each?.ariaLabel === pressed.ariaLabel);
  const isNew = !before.some(({ ariaLabel }) => ariaLabel === there?.ariaLabel);
  return same ?? (isNew ? there : undefined);
}

/**
 * A control with its label, and a sentence that is visible while it has the focus. The sentence is not part of the
 * label.
 */
function labelled(label: string, control: HTMLElement, sentence: string, look: string): HTMLElement {
  const whole = element('div', { class: look }, element('label', {}, element('span', {}, label), control));
  if (sentence !== '') {
    control.setAttribute('aria-description', sentence);
    whole.append(element('small', { class: 'sentence', 'aria-hidden': 'true' }, sentence));
  }
  return whole;
}

/** Members of a document without controls, as text. */
function note(members: Members): HTMLElement {
  const texts = Object.entries(members).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return element('p', { class: 'hint others' }, `In the document: ${texts.join(', ')}`);
}

/** A message at a control, with a button for each suggested name. */
export function faultElement(
  message: string,
  { suggestions = [] }: Fault,
  onSuggestion: (suggestion: string) => void,
): HTMLElement {
  const fault = element('div', { class: 'fault', role: 'alert' }, element('p', {}, message));
  if (suggestions.length > 0)
    fault.append(element('p', { class: 'suggestions' }, ...suggested(suggestions, onSuggestion)));
  return fault;
}

/** Replaces the member's name in the message by the label of its control. */
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
  const names = Object.keys(types).length;
  return (
    `${counted(neurons, 'neuron')}: ${sidesInWords(Object.entries(sides))}` +
    (names > 1 ? `; ${grouped(names)} types` : '') +
    (missing.length > 0 ? `; ${grouped(missing.length)} missing` : '')
  );
}

/** Draws rates over time as steps, in the width of the control. */
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

/** @returns the text form of the schema's values; undefined if there is no control */
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

/** 1, 2 or 5 times a power of ten. */
function stepOf(way: number): number {
  const least = way / SLIDER_STEPS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find((each) => each * power >= least * 0.999)! * power;
  return Number(step.toPrecision(1));
}

/** Converts a value to another kind. Common members stay; required members get values from the kind's examples. */
function withSchema(
  value: Members,
  { properties = {}, required = [] }: Schema,
  given: Members = {},
): Members {
  const [first] = listAt(value, 'rates');
  const before = isMembers(first) && !('rates' in properties) ? { ...first, ...value } : value;
  const of = (name: string): Json | undefined => {
    const { const: only, default: byDefault, examples, maxItems } = properties[name]!;
    if (only !== undefined) return byDefault === undefined ? (only as Json) : undefined;
    if (name === 'rates') return [{ node_set: value['node_set'] ?? [], rate_hz: 100 }];
    if (maxItems === 0) return undefined;
    const writing = writingOf(properties[name]!);
    const fits = writing === undefined || Boolean(writing.textOf(own(before, name) ?? ''));
    if (own(before, name) !== undefined && fits) return before[name];
    return required.includes(name) ? (name === 'node_set' ? [] : (examples as Json[])[0]) : undefined;
  };
  // A report without a type is one of rates, so `rate` is left out.
  const entries = Object.keys(properties).map(
    (name) => [name, Object.hasOwn(given, name) && given[name] !== 'rate' ? given[name] : of(name)] as const,
  );
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** Renames a member, also in the sweep. */
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

/** Words for a selector, and its name in the answer. Selectors of the rows of a pattern have no name there. */
function selectorAt(path: string): { readonly what: string; readonly resolved: string } {
  const [section, row, member, at] = keysOf(path) as [string, string, string, string?];
  if (section === 'silence') return { what: `timed silence ${Number(row) + 1}`, resolved: `silence.${row}` };
  if (ENDS.includes(member)) return { what: `${member} of ${row}`, resolved: `${section}.${row}.${member}` };
  const what = `${section.slice(0, -1)} ${row}`;
  return at === undefined
    ? { what, resolved: `${section}.${row}` }
    : { what: `row ${Number(at) + 1} of ${what}`, resolved: '' };
}

/** @returns undefined for an unknown kind */
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
  const found = names.filter((name) => Object.hasOwn(schemas, name));
  return Object.fromEntries(found.map((name) => [name, schemas[name]!]));
}

function without<T>(members: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
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
  for (let at = 2; Object.hasOwn(taken, name); at++) name = `${wanted}_${at}`;
  return name;
}

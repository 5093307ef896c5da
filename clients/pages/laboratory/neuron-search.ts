/**
 * Searches cell types by the beginning of their name and published sets by any part, and adds them to the experiment.
 */
import type { NeuronSearch as NeuronSearchResult, NodeSetList } from '#client';
import { byId, counted, element, grouped, pushButton, sidesInWords, suggested } from '../dom.js';
import { asFailure, service } from '../service/client.js';
import { SIDE_CHOICES } from './fields.js';

export type Place = 'stimulate' | 'silence' | 'read';

const PLACES: Readonly<Record<Place, string>> = { stimulate: 'Stimulate', silence: 'Silence', read: 'Read' };
/** Above this number of neurons, they are not listed, so sides are not counted. */
const LISTED_NEURONS = 3000;
/** Largest number of visible results of each kind. */
const MAX_RESULTS = 24;
const PAUSE_MS = 300;

/** A row of the results. */
interface Found {
  /** Name in a selector, without the side. */
  readonly name: string;
  readonly detail: string;
  readonly hint?: string;
}

export class NeuronSearch {
  readonly #text = byId<HTMLInputElement>('search-type');
  readonly #side = byId<HTMLSelectElement>('search-side');
  readonly #status = byId('search-status');
  #sets: Promise<readonly NodeSetList['node_sets'][number][]> | undefined;
  #asked = new AbortController();
  #pause: ReturnType<typeof setTimeout> | undefined;

  /** @param onChoice adds neurons to the experiment; returns whether it could */
  constructor(private readonly onChoice: (place: Place, selector: string) => boolean) {
    this.#side.append(...SIDE_CHOICES.map(([side, label]) => new Option(label, side)));
    byId('search').addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#search();
    });
    this.#text.addEventListener('input', () => {
      clearTimeout(this.#pause);
      this.#pause = setTimeout(() => void this.#search(), PAUSE_MS);
    });
    this.#side.addEventListener('change', () => void this.#search());
  }

  async #search(): Promise<void> {
    clearTimeout(this.#pause);
    this.#asked.abort();
    const asked = (this.#asked = new AbortController());
    const wanted = this.#text.value.trim();
    if (wanted === '') {
      this.#show([]);
      this.#status.textContent = '';
      return;
    }
    try {
      this.#sets ??= service.nodeSets().then((list) => list.node_sets);
      const [sets, found] = await Promise.all([
        this.#sets,
        wanted.startsWith('@')
          ? undefined
          : this.#neuronsOf(wanted.includes('*') ? wanted : `${wanted}*`, asked.signal),
      ]);
      if (asked.signal.aborted) return;
      this.#present(wanted, setsWith(wanted, sets), found);
    } catch (error) {
      if (asked.signal.aborted) return;
      this.#sets = undefined;
      this.#show([]);
      this.#status.textContent = asFailure(error).message;
    }
  }

  #neuronsOf(type: string, signal: AbortSignal): Promise<NeuronSearchResult> {
    const side = this.#side.value as 'left' | 'right' | 'center' | '';
    return service.neurons({ type, limit: LISTED_NEURONS, ...(side !== '' && { side }) }, { signal });
  }

  #present(wanted: string, sets: readonly Found[], found: NeuronSearchResult | undefined): void {
    const types = found === undefined ? [] : typesOf(found);
    this.#show([...sets.slice(0, MAX_RESULTS), ...types.slice(0, MAX_RESULTS)]);
    const near = Object.values(found?.suggestions ?? {}).flat();
    if (sets.length + types.length === 0) {
      const search = (name: string): void => {
        this.#text.value = name;
        void this.#search();
      };
      const offered = near.length === 0 ? [] : [' ', ...suggested(near, search)];
      this.#status.replaceChildren(`Nothing begins with ${wanted}.`, ...offered);
      return;
    }
    const parts = [];
    if (sets.length > 0) parts.push(counted(sets.length, 'published set'));
    if (found !== undefined) {
      const all = `${grouped(found.count)} neurons of ${counted(types.length, 'type')}`;
      parts.push(found.count === 0 ? 'no type' : `${all}: ${sidesInWords(Object.entries(found.sides))}`);
    }
    const long = Object.entries({ sets, types }).filter(([, { length }]) => length > MAX_RESULTS);
    const cut = long.map(([kind]) => ` The first ${MAX_RESULTS} ${kind} are listed.`);
    this.#status.textContent = `${parts.join('; ')}.${cut.join('')}`;
  }

  #show(rows: readonly Found[]): void {
    byId('search-results').replaceChildren(...rows.map((row) => this.#row(row)));
  }

  #row({ name, detail, hint }: Found): HTMLElement {
    const buttons = Object.entries(PLACES).map(([place, text]) => {
      const add = (): void => {
        const side = this.#side.value;
        if (this.onChoice(place as Place, side === '' ? name : `${name}:${side}`))
          this.#status.textContent = `${name} is in the experiment: ${text.toLowerCase()}.`;
      };
      return pushButton(text, add, { 'aria-label': `${text} ${name}` });
    });
    const row = element('li', {}, element('b', {}, name), ' ', element('span', { class: 'hint' }, detail));
    if (hint !== undefined) row.append(element('p', { class: 'hint' }, hint));
    row.append(element('div', { class: 'actions' }, ...buttons));
    return row;
  }
}

/** Sets with the text in their name. */
function setsWith(wanted: string, sets: readonly NodeSetList['node_sets'][number][]): Found[] {
  const text = wanted.replace(/^@/, '').replaceAll('*', '').toLowerCase();
  return sets
    .filter(({ name, neurons }) => neurons > 0 && name.toLowerCase().includes(text))
    .map(({ name, neurons, description }) => ({
      name,
      detail: `${grouped(neurons)} neurons`,
      hint: description,
    }));
}

/** Types with their numbers of neurons, also by side if all neurons are listed. Untyped neurons are omitted. */
function typesOf({ types, neurons, count }: NeuronSearchResult): Found[] {
  const sides = new Map<string, Map<string, number>>();
  for (const { type, side } of neurons) {
    const ofType = sides.get(type) ?? new Map<string, number>();
    sides.set(type, ofType.set(side, (ofType.get(side) ?? 0) + 1));
  }
  return Object.entries(types)
    .filter(([name]) => name !== '')
    .map(([name, number]) => ({
      name,
      detail: count <= LISTED_NEURONS ? sidesInWords(sides.get(name) ?? []) : `${grouped(number)} neurons`,
    }));
}

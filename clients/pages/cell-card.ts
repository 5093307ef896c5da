/** Card of the selected neuron or type: labels, activity and partners. */
import type { Model } from './service/client.js';
import type { CardPartners, CellCard } from '../../src/engine/connectome/cell-card.js';
import type { CompactAtlas } from '../../src/engine/connectome/atlas-binary.js';
import { SIDES } from '../../src/engine/connectome/connectome.js';
import { isFlyWire } from '../../src/engine/connectome/model-id.js';
import { byId, counted, element, grouped, pushButton, refill, sidesInWords } from './dom.js';
import { labelOfType, neuronsOf, type Selection, spoken, typeOf } from './selection.js';
import { asFailure, fetchCard } from './service/client.js';
import type { Run } from './service/run-result.js';

const CODEX = 'https://codex.flywire.ai/app';

interface Listeners {
  readonly onSelect: (selection: Selection | undefined) => void;
  readonly onFilter: (isFiltered: boolean) => void;
}

export class CardPanel {
  readonly #panel = byId('card');
  readonly #filter: HTMLButtonElement;
  #selection: Selection | undefined;
  #runs: readonly [Run | undefined, Run | undefined] = [undefined, undefined];
  #card: CellCard | undefined;

  constructor(
    private readonly model: Model,
    private readonly atlas: CompactAtlas,
    private readonly listeners: Listeners,
  ) {
    const filter = (): void => {
      const pressed = this.#filter.ariaPressed !== 'true';
      this.#filter.ariaPressed = String(pressed);
      listeners.onFilter(pressed);
    };
    this.#filter = pushButton('Only these in the raster', filter, { 'aria-pressed': 'false' });
  }

  show(run: Run | undefined, kept: Run | undefined): void {
    this.#runs = [run, kept];
    this.#fill();
  }

  select(selection: Selection | undefined): void {
    this.#selection = selection;
    this.#card = undefined;
    // A hidden panel would lose it, and the next Tab would begin at the top of the page.
    if (selection === undefined && this.#panel.contains(document.activeElement)) byId('brain').focus();
    this.#panel.hidden = selection === undefined;
    if (this.#filter.ariaPressed === 'true') this.#filter.click();
    if (selection === undefined) return;
    this.#fill();
    this.#panel.scrollTop = 0;
    void this.#load(selection);
  }

  /** The atlas has the labels already; the service adds partners, class and sign. */
  async #load(selection: Selection): Promise<void> {
    let problem = '';
    let card: CellCard | undefined;
    try {
      card = await fetchCard(this.model.atlas_url, selection);
    } catch (error) {
      problem = `Partners cannot be shown. ${asFailure(error).message}`;
    }
    if (this.#selection !== selection) return;
    this.#card = card;
    this.#fill(problem);
  }

  #fill(problem = ''): void {
    const selection = this.#selection;
    if (selection === undefined) return;
    const typeIndex = typeOf(selection, this.atlas);
    const type = this.atlas.types[typeIndex]!;
    const close = pushButton('✕', () => this.listeners.onSelect(undefined), {
      'aria-label': 'Close the card',
    });
    const children: HTMLElement[] = [
      element('div', { class: 'card-head' }, element('h2', {}, labelOfType(type)), close),
      element('p', {}, this.#identity(selection)),
      element('p', { class: 'card-activity' }, this.#activity(selection)),
    ];
    const links = this.#links(selection, typeIndex);
    children.push(element('div', { class: 'line card-links' }, this.#filter, ...links));
    if (this.#card !== undefined) {
      children.push(
        element(
          'div',
          { class: 'card-partners' },
          this.#partners('Gets input from', this.#card.inputs),
          this.#partners('Sends output to', this.#card.outputs),
        ),
      );
      if (this.model.wiring === 'synthetic') {
        const sampled = 'Which neurons connect was sampled; synapses between types are measured.';
        children.push(element('p', { class: 'hint' }, sampled));
      }
    } else children.push(element('p', { class: 'hint' }, problem || 'Loading partners …'));
    this.#panel.ariaLabel = `${labelOfType(type)}: neurons that are pointed out`;
    refill(this.#panel, children);
  }

  #identity(selection: Selection): string {
    const type = this.atlas.types[typeOf(selection, this.atlas)]!;
    const neurons = neuronsOf(selection, this.atlas);
    const facts = [
      selection.kind === 'neuron'
        ? `One neuron, ${this.#card?.id ?? 'id loading'}`
        : counted(neurons.length, 'neuron'),
      spoken(type.superClass),
    ];
    const card = this.#card;
    if (card !== undefined) {
      facts.push(...[card.class, card.sub_class].filter(Boolean).map((label) => `class ${spoken(label)}`));
    }
    const onSide = (index: number) => neurons.filter((neuron) => this.atlas.sides[neuron] === index).length;
    const sides = SIDES.map((side, index) => [side, onSide(index)] as const).filter(([, count]) => count > 0);
    facts.push(neurons.length === 1 ? sides[0]![0] || 'side unknown' : sidesInWords(sides));
    if (card !== undefined) {
      const signs = [
        ['excitatory (+)', card.excitatory],
        ['inhibitory (−)', card.inhibitory],
        ['without fast effect (0)', card.without_fast_effect],
      ] as const;
      const there = signs.filter(([, count]) => count > 0);
      facts.push(
        there.map(([sign, count]) => (there.length === 1 ? sign : `${grouped(count)} ${sign}`)).join(', '),
      );
    }
    const estimated = neurons.filter((neuron) => this.atlas.estimated[neuron] === 1).length;
    if (estimated > 0)
      facts.push(estimated === neurons.length ? 'position estimated' : 'some positions estimated');
    return `${facts.join(' · ')}.`;
  }

  #activity(selection: Selection): string {
    const neurons = neuronsOf(selection, this.atlas);
    const spikesIn = ({ counts, response }: Run): string => {
      const spikes = neurons.reduce((sum, neuron) => sum + (counts.get(neuron) ?? 0), 0);
      const responding = neurons.filter((neuron) => counts.has(neuron)).length;
      const rateHz = spikes / neurons.length / (response.duration_ms / 1000);
      const who = selection.kind === 'neuron' ? '' : ` of ${grouped(responding)} neurons`;
      return `${grouped(spikes)} spikes${who}, ${Number(rateHz.toPrecision(3))} Hz`;
    };
    const [run, kept] = this.#runs;
    if (run === undefined) return 'No recorded run is shown.';
    return `${spikesIn(run)}${kept === undefined ? '.' : `; in the kept run ${spikesIn(kept)}.`}`;
  }

  /** Types always are those of the release; ids are real unless the wiring is synthetic. */
  #links(selection: Selection, typeIndex: number): HTMLElement[] {
    const { name } = this.atlas.types[typeIndex]!;
    const links: HTMLElement[] = [];
    const link = (text: string, href: string): HTMLElement =>
      element('a', { href, target: '_blank', rel: 'noreferrer' }, text);
    if (selection.kind === 'neuron') {
      const select = () => this.listeners.onSelect({ kind: 'type', type: typeIndex });
      links.push(pushButton('The whole type', select));
      if (isFlyWire(this.model) && this.model.wiring !== 'synthetic' && this.#card?.id !== undefined) {
        const query = new URLSearchParams({
          data_version: String(this.model.release),
          root_id: this.#card.id,
        });
        links.push(link('This neuron in Codex', `${CODEX}/cell_details?${query}`));
      }
    }
    if (name !== '' && isFlyWire(this.model)) {
      const query = new URLSearchParams({ dataset: 'fafb', filter_string: `cell_type == ${name}` });
      links.push(link('Type in Codex', `${CODEX}/search?${query}`));
    }
    return links;
  }

  #partners(heading: string, { types, synapses, strongest }: CardPartners): HTMLElement {
    const list = element('ul', { class: 'line' });
    for (const partner of strongest) {
      const type = { name: partner.name, superClass: partner.super_class };
      const select = () => this.listeners.onSelect({ kind: 'type', type: partner.type });
      const share = synapses === 0 ? 0 : Math.round((100 * partner.synapses) / synapses);
      const strength = ` ${grouped(partner.synapses)} (${share} %)`;
      list.append(element('li', {}, pushButton(labelOfType(type), select), strength));
    }
    const total = types === 0 ? 'no neuron' : `${counted(types, 'type')}, ${grouped(synapses)} synapses`;
    return element('div', {}, element('h3', {}, `${heading} `, element('small', {}, total)), list);
  }
}

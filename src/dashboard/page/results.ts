/** The results of a run, and of the run it is compared with, beside the brain. */
import type uPlot from 'uplot';
import type { CompactAtlas } from '../../connectome/atlas-binary.js';
import { CHANNEL_KIND_LABELS, CHANNEL_KINDS } from '../../connectome/populations.js';
import { byId, element, grouped } from './dom.js';
import { type BarGroup, type BarRow, fillBars } from './plots/bars.js';
import { plotChannelRates } from './plots/channel-rate-plot.js';
import { plotRaster } from './plots/spike-raster-plot.js';
import { movePlayhead } from './plots/time-plot.js';
import { fillTypeTable } from './plots/type-table.js';
import { curlOf, describe, toHash } from './service/experiment.js';
import type { Channel, Model } from '../../answers/v1/api/model.dto.js';
import type { TopType } from '../../answers/v1/api/run-response.dto.js';
import type { Run } from './service/run-result.js';
import type { Theme } from './theme.js';

interface Listeners {
  readonly onSeek: (timeMs: number) => void;
  readonly onMark: (type: TopType | undefined) => void;
}

export class Results {
  #plots: uPlot[] = [];
  /** The type that is pointed out in the brain. */
  #marked: TopType | undefined;

  constructor(
    private readonly model: Model,
    private readonly atlas: CompactAtlas,
    private readonly labelOf: (stimulus: string) => string,
    private readonly listeners: Listeners,
  ) {}

  show(run: Run, kept: Run | undefined, theme: Theme): void {
    byId('welcome').hidden = true;
    for (const id of ['results', 'raster-panel', 'rates-panel', 'types-panel', 'share-panel']) {
      byId(id).hidden = false;
    }
    this.#showKey(run, kept);
    this.#showSummary(run, kept);
    this.#showBars(run, kept);
    this.#showTypes(run);
    this.#showLinks(run, kept);
    this.draw(run, kept, theme);
  }

  /** Draws the plots anew, as after a change of size or colours. */
  draw(run: Run, kept: Run | undefined, theme: Theme): void {
    for (const plot of this.#plots) plot.destroy();
    const { onSeek } = this.listeners;
    const [raster, rates] = [byId('raster'), byId('rates')];
    raster.ariaLabel =
      `Raster of ${run.response.spikes.total} spikes of ${run.response.spikes.responding_neurons} neurons ` +
      `over ${run.response.duration_ms} ms, grouped by super class.`;
    rates.ariaLabel = `Channel rates in frames of 5 ms. ${this.#loudest(run)}`;
    this.#plots = [
      plotRaster(raster, run, kept, this.atlas, theme, onSeek),
      plotChannelRates(rates, run, kept, this.model.channels, theme, onSeek),
    ];
  }

  moveTo(timeMs: number): void {
    for (const plot of this.#plots) movePlayhead(plot, timeMs);
  }

  #loudest({ response }: Run): string {
    const spoken = Object.entries(response.channels).filter(([, rate]) => rate > 0);
    if (spoken.length === 0) return 'All channels are silent.';
    return `Over the whole run: ${spoken.map(([id, rate]) => `${id} ${rate} Hz`).join(', ')}.`;
  }

  #showKey(run: Run, kept: Run | undefined): void {
    const line = (colour: string, name: string, { response }: Run): HTMLElement => {
      const swatch = element('span', { class: 'swatch' });
      swatch.style.setProperty('--swatch', `var(--${colour})`);
      return element('span', {}, swatch, `${name}${describe(response, this.labelOf(response.stimulus))}`);
    };
    byId('key').replaceChildren(
      line('run', '', run),
      ...(kept === undefined ? [] : [line('kept', 'Kept: ', kept)]),
    );
    byId('drop').hidden = kept === undefined;
  }

  #showSummary(run: Run, kept: Run | undefined): void {
    const entry = (name: string, read: (run: Run) => string): HTMLElement => {
      const value = element('dd', {}, read(run));
      if (kept !== undefined) value.append(' ', element('span', { class: 'of-kept' }, read(kept)));
      return element('div', {}, element('dt', {}, name), value);
    };
    byId('summary').replaceChildren(
      entry('Spikes', ({ response }) => grouped(response.spikes.total)),
      entry('Neurons responding', ({ response }) => grouped(response.spikes.responding_neurons)),
      entry('Neurons stimulated', ({ response }) => grouped(response.spikes.stimulated_neurons)),
      entry('Mean rate', ({ response }) => `${response.spikes.mean_rate_hz} Hz`),
    );
  }

  #showBars({ response }: Run, kept: Run | undefined): void {
    const keptResponse = kept?.response;
    const rates = this.model.channels.flatMap(({ id }) => [
      response.channels[id] ?? 0,
      keptResponse?.channels[id] ?? 0,
    ]);
    const highest = Math.max(10, ...rates);
    const rowOf = ({ id, label, description, neuron_count, quanta }: Channel): BarRow => {
      const quantum = quanta.find(({ duration_ms }) => duration_ms === response.duration_ms);
      const stepHz = Number((quantum?.quantum_hz ?? 0).toPrecision(2));
      return {
        label,
        title: `${description} ${grouped(neuron_count)} neurons: one spike equals ${stepHz} Hz.`,
        value: response.channels[id] ?? 0,
        keptValue: keptResponse?.channels[id],
        text: `${response.channels[id] ?? 0}`,
        range: [0, highest],
      };
    };
    const channels = CHANNEL_KINDS.map((kind): BarGroup => ({
      heading: CHANNEL_KIND_LABELS[kind],
      rows: this.model.channels.filter((channel) => channel.kind === kind).map(rowOf),
    }));
    fillBars(byId<HTMLTableElement>('channels'), channels);
    const drives = this.model.drives.map(({ id, formula, reason, minimum, maximum }): BarRow => ({
      label: id,
      title: `${reason} ${formula}`,
      value: response.drive[id] ?? 0,
      keptValue: keptResponse?.drive[id],
      text: `${response.drive[id] ?? 0}`,
      range: [minimum, maximum],
    }));
    fillBars(byId<HTMLTableElement>('drives'), [{ rows: drives }]);
  }

  /** What was pointed out before stays so where the new table has it, too. */
  #showTypes({ response: { top_types } }: Run): void {
    const mark = (type: TopType | undefined): void => {
      this.#marked = type;
      this.listeners.onMark(type);
    };
    mark(
      top_types.find(
        ({ type, super_class }) => type === this.#marked?.type && super_class === this.#marked.super_class,
      ),
    );
    fillTypeTable(byId<HTMLTableElement>('types'), top_types, this.#marked, mark);
  }

  #showLinks({ response }: Run, kept: Run | undefined): void {
    const link = byId<HTMLAnchorElement>('link');
    link.href = toHash(response, kept?.response);
    link.textContent = link.href;
    byId('curl').textContent = curlOf(response, location.origin);
    const identity = [
      ['Run', response.id],
      ['Model', response.model],
      ['Digest of the spikes', response.spikes.digest],
    ] as const;
    byId('identity').replaceChildren(
      ...identity.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
    );
  }
}

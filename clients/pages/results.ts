/** Shows the results of a run, and of the run with which it is compared. */
import type { CompactAtlas } from '../../src/engine/connectome/atlas-binary.js';
import { CHANNEL_KIND_LABELS, CHANNEL_KINDS } from '../../src/engine/connectome/populations.js';
import { byId, counted, element, grouped, passFocus, swatch, terms } from './dom.js';
import { isLive } from './live/hold-buttons.js';
import { type BarGroup, type BarRow, fillBars } from './plots/bars.js';
import { channelPanel, type Trials } from './plots/channel-rows.js';
import type { RasterOrder, SpikeRaster } from './plots/spike-raster-plot.js';
import type { TimePlot } from './plots/time-plot.js';
import { fillTypeTable, type TypeRow } from './plots/type-table.js';
import { labelOfType, neuronsOf, type Selection, typeOf } from './selection.js';
import { curlOf, describe, toHash } from './service/experiment.js';
import { type Channel, type Model, placeOf } from './service/client.js';
import type { Run } from './service/run-result.js';
import { SERVICE_URL } from './service/transport.js';
import { typeRowsOf } from './type-activity.js';
import { shortDrive, verdictOn } from './verdict.js';

interface Listeners {
  readonly onSeek: (timeMs: number) => void;
  readonly onSelect: (selection: Selection | undefined) => void;
}

/** Runs on the page: the current one, the one for comparison, and further seeds of both. */
export interface Shown {
  readonly run: Run;
  readonly kept: Run | undefined;
  readonly trials: Trials;
  readonly keptTrials: Trials | undefined;
  /** True if the service stores the run, so that it did not count against the rate limit. */
  readonly isStored: boolean;
}

/** Numbers that the bars show. Those that are not known are absent. */
export interface Bars {
  readonly channels: Readonly<Record<string, number>>;
  readonly drive: Readonly<Record<string, number>>;
  /** The rates are means over this time. */
  readonly duration_ms: number;
}

/** The smallest end of the bars of a live fly. Without it the scale would change with each step. */
const LIVE_HIGHEST_HZ = 150;
/** Seeds of a repetition, beside that of the run. */
export const FURTHER_SEEDS = 4;
const ZOOM_FACTOR = 2;
/** In place of a number that has not arrived. */
const UNKNOWN = '–';
const PANELS = ['results', 'rates-panel', 'types-panel', 'share-panel'];

export class Results {
  readonly #order = byId<HTMLSelectElement>('raster-order');
  #atlas: CompactAtlas | undefined;
  #shown: Shown | undefined;
  #selection: Selection | undefined;
  #isFiltered = false;
  /** Loaded with the atlas, because the raster needs it. */
  #raster: SpikeRaster | undefined;
  /** Loaded after the first picture. */
  #rates: TimePlot | undefined;
  #timeMs = 0;

  constructor(
    private readonly model: Model,
    private readonly labelOf: (stimulus: string) => string,
    private readonly listeners: Listeners,
  ) {
    this.#order.addEventListener('change', () => this.#drawRaster());
    byId('zoom-in').addEventListener('click', () => this.#raster?.zoom(ZOOM_FACTOR, this.#timeMs));
    byId('zoom-reset').addEventListener('click', () => this.#raster?.reset());
  }

  /** Loads what draws the rates. */
  async loadRates(): Promise<void> {
    const loaded = await import('./plots/time-plot.js').catch(() => undefined);
    if (loaded === undefined) return;
    this.#rates = new loaded.TimePlot(byId('rates'), this.listeners.onSeek);
    this.#rates.moveTo(this.#timeMs);
    this.#drawRates();
  }

  /** Adds the atlas, which only the raster and some numbers of types need. */
  async setAtlas(atlas: CompactAtlas): Promise<void> {
    this.#raster ??= await import('./plots/spike-raster-plot.js').then(
      ({ SpikeRaster }) => new SpikeRaster(byId('raster'), this.listeners.onSeek),
      () => undefined,
    );
    this.#atlas = atlas;
    if (this.#shown === undefined) return;
    this.#showTypes(this.#shown);
    this.#drawRaster();
  }

  show(shown: Shown): void {
    this.#shown = shown;
    byId('welcome').hidden = true;
    for (const id of PANELS) byId(id).hidden = false;
    byId('recorded').hidden = !shown.isStored;
    this.#showKey(shown);
    this.#showSummary(shown);
    if (!isLive()) this.#showBars(shown.run.response, shown.kept?.response);
    this.#showTypes(shown);
    this.#showLinks(shown);
    this.#showVerdict(shown.run);
    this.draw();
  }

  /** Draws the plots again, for example after a change of size or colours. */
  draw(): void {
    this.#drawRaster();
    this.#drawRates();
  }

  moveTo(timeMs: number): void {
    this.#timeMs = timeMs;
    this.#raster?.moveTo(timeMs);
    this.#rates?.moveTo(timeMs);
  }

  /** Presses the button of the selected type; the raster stays. */
  select(selection: Selection | undefined): void {
    this.#selection = selection;
    if (this.#shown !== undefined) this.#showTypes(this.#shown);
  }

  /** Limits the raster to selected neurons, or shows all that spike. */
  filter(isFiltered: boolean): void {
    this.#isFiltered = isFiltered;
    this.#drawRaster();
  }

  #showVerdict({ response }: Run): void {
    const { deed, reason, course } = verdictOn(response, this.model);
    byId('why')
      .querySelector('summary')!
      .replaceChildren(
        element('b', {}, deed),
        `: ${reason}. `,
        element('span', { class: 'badge engineered' }, 'engineered'),
      );
    byId('course').textContent = `In this run it ${course.join(', then ')}.`;
  }

  #drawRaster(): void {
    if (this.#shown === undefined || this.#atlas === undefined || this.#raster === undefined) return;
    const { run, kept } = this.#shown;
    byId('raster-panel').hidden = false;
    const selection = this.#isFiltered ? this.#selection : undefined;
    const only = selection && new Set(neuronsOf(selection, this.#atlas));
    const { types } = this.#atlas;
    const of = selection && labelOfType(types[typeOf(selection, this.#atlas)]!);
    const one = selection?.kind === 'neuron' ? 'one neuron of ' : '';
    byId('raster-shown').textContent = of === undefined ? '' : `Only ${one}${of}.`;
    const label =
      `Raster of ${run.response.spikes.total} spikes of ${run.response.spikes.responding_neurons} neurons ` +
      `over ${run.response.duration_ms} ms, in rows by ${this.#order.value}.` +
      (of === undefined ? '' : ` Only ${one}${of} is shown.`);
    const order = this.#order.value as RasterOrder;
    this.#raster.show({ run, kept, order, only, label }, this.#atlas);
    this.#raster.moveTo(this.#timeMs);
  }

  #drawRates(): void {
    if (this.#shown === undefined) return;
    const { run, trials, keptTrials } = this.#shown;
    const { panel, silent } = channelPanel(trials, keptTrials, this.model.channels);
    const isSilent = panel.height === 0;
    byId('rates').hidden = isSilent;
    if (!isSilent) this.#rates?.draw(panel, `Channel rates in frames of 5 ms. ${this.#loudest(run)}`);
    byId('silent-channels').textContent = isSilent
      ? 'All channels are silent.'
      : silent.length > 0
        ? `Silent: ${silent.join(', ')}.`
        : '';
    const [seeds, keptSeeds] = [trials.length, (keptTrials ?? trials).length];
    const isOne = Math.max(seeds, keptSeeds) === 1;
    const both =
      seeds === keptSeeds ? counted(seeds, 'seed') : `${counted(seeds, 'seed')}, kept: ${keptSeeds}`;
    byId('trials-shown').textContent = isOne
      ? 'One run; a step of a channel is one spike of one of its neurons.'
      : `Mean and population standard deviation of ${both}.`;
    byId('repeat').hidden = Math.min(seeds, keptSeeds) > FURTHER_SEEDS;
  }

  #loudest({ response }: Run): string {
    const spoken = Object.entries(response.channels).filter(([, rate]) => rate > 0);
    if (spoken.length === 0) return 'All channels are silent.';
    return `Over the whole run: ${spoken.map(([id, rate]) => `${id} ${rate} Hz`).join(', ')}.`;
  }

  #showKey({ run, kept }: Shown): void {
    const line = (colour: string, name: string, { response }: Run): HTMLElement => {
      const text = `${name}${describe(response, this.labelOf(response.stimulus))}`;
      return element('span', {}, swatch(colour), text);
    };
    byId('key').replaceChildren(
      line('run', '', run),
      ...(kept === undefined ? [] : [line('kept', 'Kept: ', kept)]),
    );
    byId('drop').hidden = kept === undefined;
    passFocus(byId('drop'), byId('keep'));
  }

  #showSummary({ run, kept }: Shown): void {
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

  /** Shows the numbers of a live fly in place of those of a run, until a run is shown again. */
  showLive(live: Bars): void {
    byId('welcome').hidden = true;
    byId('results').hidden = false;
    this.#showBars(live, undefined, LIVE_HIGHEST_HZ);
  }

  #showBars(run: Bars, kept: Bars | undefined, leastRange = 10): void {
    const rates = this.model.channels.flatMap(({ id }) => [run.channels[id] ?? 0, kept?.channels[id] ?? 0]);
    const highest = Math.max(leastRange, ...rates);
    const rowOf = ({ id, label, description, neuron_count }: Channel): BarRow => {
      const stepHz = Number((1000 / neuron_count / run.duration_ms).toPrecision(2));
      return {
        id,
        label,
        explanation: `${description} ${grouped(neuron_count)} neurons: one spike equals ${stepHz} Hz.`,
        value: run.channels[id] ?? 0,
        keptValue: kept?.channels[id],
        text: String(run.channels[id] ?? UNKNOWN),
        range: [0, highest],
      };
    };
    const channels = CHANNEL_KINDS.map((kind): BarGroup => ({
      heading: CHANNEL_KIND_LABELS[kind],
      rows: this.model.channels.filter((channel) => channel.kind === kind).map(rowOf),
    }));
    fillBars(byId<HTMLTableElement>('channels'), channels);
    const drives = this.model.drives.map(({ id, formula, reason, minimum, maximum }): BarRow => ({
      id,
      label: id,
      explanation: `${reason} ${id} = ${formula}`,
      value: run.drive[id] ?? 0,
      keptValue: kept?.drive[id],
      text: run.drive[id] === undefined ? UNKNOWN : shortDrive(run.drive[id]),
      range: [minimum, maximum],
    }));
    fillBars(byId<HTMLTableElement>('drives'), [{ rows: drives }]);
  }

  #showTypes({ run, kept }: Shown): void {
    const atlas = this.#atlas;
    const indexOf = (row: TypeRow): number =>
      atlas?.types.findIndex(
        (type) => type.superClass === row.superClass && labelOfType(type) === row.type,
      ) ?? -1;
    const selected = this.#selection?.kind === 'type' ? this.#selection.type : NaN;
    fillTypeTable(
      byId<HTMLTableElement>('types'),
      typeRowsOf(run, kept, atlas),
      kept !== undefined,
      (row) => indexOf(row) === selected,
      (row, pressed) => {
        const type = indexOf(row);
        if (type >= 0) this.listeners.onSelect(pressed ? { kind: 'type', type } : undefined);
      },
    );
  }

  #showLinks({ run: { response }, kept }: Shown): void {
    const link = byId<HTMLAnchorElement>('link');
    link.href = toHash(response, kept?.response);
    link.textContent = link.href;
    byId('curl').textContent = curlOf(response, SERVICE_URL);
    byId('place').textContent = placeOf(response);
    byId('identity').replaceChildren(...terms({ Run: response.id, Model: response.model }));
  }
}

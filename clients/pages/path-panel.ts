/**
 * Shows the path of a run: sense, relay, and the neurons that decide the behaviour. They light up one after the other.
 * The user can silence senses and relays to see the behaviour without them.
 */
import type { CompactAtlas } from '../../src/engine/connectome/atlas-binary.js';
import { STEPS_PER_MS } from '../../src/engine/simulation/network.js';
import { byId, element, grouped, pushButton } from './dom.js';
import { asRuns, lesionOf } from './lesion.js';
import { asFailure, type Channel, type FullRun, type Model, service } from './service/client.js';
import type { Run } from './service/run-result.js';
import { laboratoryUrl } from './service/transport.js';
import { type Verdict, verdictOn } from './verdict.js';
import { withLessMotion } from './window.js';

const LIT_MS = 1500;
/** Number of inputs that are considered as relays, by synapses and rates. */
const CANDIDATES = 12;
/** Lowest rate of a relay. */
const FAINTEST_HZ = 2;
const NAMED_TYPES = 4;
const BOTH_SEEN = 'Both flies got the same input events; the brain showed the recorded run. ';

interface Station {
  readonly role: 'Sense' | 'Relay' | 'Decides' | 'Read out at';
  readonly types: readonly string[];
  /** Indices of all neurons of these types; for the sense, only those that spiked. */
  readonly neurons: readonly number[];
  readonly rateHz: number;
  readonly firstMs: number | undefined;
}

export class PathPanel {
  readonly #details = byId<HTMLDetailsElement>('why');
  readonly #panel = byId('path');
  #run: Run | undefined;
  #timers: ReturnType<typeof setTimeout>[] = [];

  /**
   * @param onLight called with the neurons to mark; undefined at the end
   * @param onTwins called with two runs that have the same input events; the types named are silent in the second.
   *   Returns whether it shows them.
   */
  constructor(
    private readonly model: Model,
    private readonly atlas: CompactAtlas,
    private readonly onLight: (neurons: readonly number[] | undefined) => void,
    private readonly onTwins: (intact: FullRun, lesioned: FullRun, names: string) => boolean,
  ) {
    this.#details.addEventListener('toggle', () => {
      this.#stop();
      if (this.#details.open) void this.#load();
      else onLight(undefined);
    });
  }

  show(run: Run): void {
    if (run === this.#run) return;
    this.#stop();
    if (this.#run !== undefined && this.#details.open) this.onLight(undefined);
    this.#run = run;
    this.#panel.replaceChildren();
    if (this.#details.open) void this.#load();
  }

  /** Ends the path until a run is shown again. */
  end(): void {
    this.#stop();
    this.#run = undefined;
    this.onLight(undefined);
  }

  #stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
  }

  async #load(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    const verdict = verdictOn(run.response, this.model);
    if (verdict.channel === undefined || run.response.stimulus === 'none') return;
    try {
      const stations = await this.#trace(run, verdict.channel);
      if (run === this.#run && this.#details.open) this.#fill(run, verdict, stations);
    } catch (error) {
      if (run === this.#run) this.#panel.replaceChildren(asFailure(error).message);
    }
  }

  /**
   * Follows the wiring backwards from a channel's neurons, through active neurons, to stimulated neurons. A relay fires
   * before its target and carries more than the direct connections; without one, there are two stations.
   */
  async #trace(run: Run, { id, kind }: Channel): Promise<Station[]> {
    const [target, sense] = [`@channel/${id}`, `@stimulus/${run.response.stimulus}`];
    const { connections: inputs } = await service.connections({ target });
    const rates = this.#ratesByType(run);
    const weights = new Map<string, number>();
    for (const { source_type: type, synapses, sign } of inputs) {
      const rateHz = rates.get(type) ?? 0;
      if (type === '' || sign !== 'excitatory' || rateHz < FAINTEST_HZ) continue;
      weights.set(type, (weights.get(type) ?? 0) + synapses * rateHz);
    }
    const candidates = [...weights].sort((a, b) => b[1] - a[1]);
    const names = candidates.slice(0, CANDIDATES).map(([type]) => type);
    const targets = [...new Set(inputs.map(({ target_type: type }) => type))];
    const { connections: first } = await service.connections({
      source: sense,
      target: names.length === 0 ? target : [...names, target],
    });
    const senses = new Set(first.map(({ source_type: type }) => type).filter((type) => type !== ''));
    const direct = [...senses].reduce((sum, type) => sum + (weights.get(type) ?? 0), 0);
    const end = this.#station(run, kind === 'station' ? 'Read out at' : 'Decides', targets);
    const relay = names
      .filter(
        (name) =>
          !senses.has(name) &&
          !targets.includes(name) &&
          weights.get(name)! > direct &&
          first.some(({ target_type: type }) => type === name),
      )
      .map((name) => this.#station(run, 'Relay', [name]))
      .find(({ firstMs = Infinity }) => firstMs < (end.firstMs ?? 0));
    return [this.#station(run, 'Sense', [...senses]), ...(relay === undefined ? [] : [relay]), end];
  }

  /** Mean rate of the neurons of each type, in Hz. */
  #ratesByType({ counts, response }: Run): Map<string, number> {
    const { types, typeIndices } = this.atlas;
    const [spikes, neurons] = [new Float64Array(types.length), new Float64Array(types.length)];
    typeIndices.forEach((type, neuron) => {
      neurons[type]!++;
      spikes[type]! += counts.get(neuron) ?? 0;
    });
    return new Map(
      types.map(({ name }, type) => [name, (1000 * spikes[type]!) / neurons[type]! / response.duration_ms]),
    );
  }

  #station(run: Run, role: Station['role'], types: readonly string[]): Station {
    const wanted = new Set(types);
    const neurons: number[] = [];
    this.atlas.typeIndices.forEach((type, neuron) => {
      if (!wanted.has(this.atlas.types[type]!.name)) return;
      if (role !== 'Sense' || run.counts.has(neuron)) neurons.push(neuron);
    });
    const spikes = neurons.reduce((sum, neuron) => sum + (run.counts.get(neuron) ?? 0), 0);
    const those = new Set(neurons);
    const first = run.raster.neurons.findIndex((neuron) => those.has(neuron));
    return {
      role,
      types,
      neurons,
      rateHz: (1000 * spikes) / Math.max(1, neurons.length) / run.response.duration_ms,
      firstMs: first < 0 ? undefined : run.raster.steps[first]! / STEPS_PER_MS,
    };
  }

  #fill(run: Run, verdict: Verdict, stations: readonly Station[]): void {
    const outcome = element('p', { id: 'silenced', role: 'status' });
    const buttons = stations.map(({ role, types }, at) => {
      const toggle = (): void => {
        this.#stop();
        light(buttons[at]!.ariaPressed === 'true' ? undefined : at);
      };
      return pushButton(`${role}: ${named(types)}`, toggle, { class: false, 'aria-pressed': 'false' });
    });
    const light = (lit: number | undefined): void => {
      buttons.forEach((button, at) => button.setAttribute('aria-pressed', String(at === lit)));
      this.onLight(lit === undefined ? undefined : stations[lit]!.neurons);
    };
    const items = stations.map(({ role, types, neurons, rateHz, firstMs }, at) => {
      const began =
        firstMs === undefined ? 'silent' : `${rateHz.toFixed(0)} Hz, first spike at ${firstMs} ms`;
      const item = element('li', {}, buttons[at]!, ` ${grouped(neurons.length)} neurons, ${began}. `);
      if (role === 'Sense' || role === 'Relay') {
        const label = { 'aria-label': `Silence it and see: ${named(types)}` };
        const act = () => void this.#silence(run, verdict, types, silence, outcome);
        const silence = pushButton('Silence it and see', act, label);
        item.append(silence);
      }
      return item;
    });
    this.#panel.replaceChildren(element('ol', {}, ...items), outcome);
    if (withLessMotion.matches) return;
    stations.forEach((_, at) => this.#timers.push(setTimeout(() => light(at), at * LIT_MS)));
  }

  /** Runs the stimulus with and without the types, and describes the behaviour in both cases. */
  async #silence(
    run: Run,
    verdict: Verdict,
    types: readonly string[],
    button: HTMLButtonElement,
    outcome: HTMLElement,
  ): Promise<void> {
    const document = lesionOf(run.response, this.model, types);
    button.disabled = true;
    outcome.replaceChildren('Simulating …');
    try {
      const answer = await service.runExperiment(document).answer();
      const runs = asRuns(answer, run.response, this.model);
      const areSeen = run === this.#run && this.onTwins(runs[0]!, runs[1]!, named(types));
      const [before, after] = runs.map((each) => verdictOn(each, this.model));
      const { id, label } = verdict.channel!;
      const rates = runs.map(({ channels }) => channels[id]);
      outcome.replaceChildren(
        `Before: ${before!.sentence} `,
        element('b', {}, `Without ${named(types)}: ${after!.sentence}`),
        ` ${label}: ${rates.join(' → ')} Hz. ${areSeen ? BOTH_SEEN : ''}`,
        element('a', { href: laboratoryUrl(document) ?? false }, 'Open in the laboratory'),
      );
    } catch (error) {
      outcome.replaceChildren(asFailure(error).message);
    }
    button.disabled = false;
  }
}

function named(types: readonly string[]): string {
  const shown = types.slice(0, NAMED_TYPES).join(', ');
  return types.length > NAMED_TYPES ? `${shown} and ${types.length - NAMED_TYPES} more` : shown;
}

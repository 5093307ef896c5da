/** A small brain from the front with what an experiment stimulates, silences and reads, in three colours. */
import type { CompactAtlas } from '../../../src/connectome/atlas-binary.js';
import { SIDES } from '../../../src/connectome/connectome.js';
import { nameOnSide } from '../../../src/connectome/set-selector.js';
import type { DryRun } from '../../../src/experiments/run/result.js';
import type { NodeSetList } from '#client';
import { displayPositions } from '../brain/display-positions.js';
import { byId, element, grouped } from '../dom.js';
import { fetchAtlas, fetchJson, service } from '../service/client.js';
import { onThemeChange, readTheme, type Theme } from '../theme.js';
import { isList, isMembers, type Json, type Members } from './json.js';

/** Names of what is done to neurons, with the colour of each. The last one is drawn on top. */
const USES = { read: 'kept', silenced: 'shared', stimulated: 'run' } as const satisfies Record<
  string,
  keyof Theme
>;
type Use = keyof typeof USES;

/** Pixels of the picture for each of the page. */
const SCALE = 2;
const MARK_PIXELS = 3;
/** Sets of more neurons are drawn with smaller marks. */
const MANY = 1500;

interface Brain {
  readonly atlas: CompactAtlas;
  readonly positions: Float32Array;
  readonly places: ReadonlyMap<string, number>;
  readonly sets: ReadonlyMap<string, NodeSetList['node_sets'][number]>;
}

export class BrainMap {
  readonly #canvas = byId<HTMLCanvasElement>('brain-map');
  #brain: Brain | undefined;
  #shown: { readonly document: Members; readonly resolved: DryRun['resolved'] } | undefined;

  constructor() {
    onThemeChange(() => this.#draw());
    // Some 3 MB, for those alone who see it.
    const seen = new IntersectionObserver(([entry]) => {
      if (!entry!.isIntersecting) return;
      seen.disconnect();
      void this.#load();
    });
    seen.observe(this.#canvas);
  }

  /** @param resolved the neurons that the selectors of the document stand for */
  show(document: Members, resolved: DryRun['resolved']): void {
    this.#shown = { document, resolved };
    this.#draw();
  }

  async #load(): Promise<void> {
    try {
      const { atlas_url: url } = await service.model();
      const [atlas, { id: ids }, { node_sets: sets }] = await Promise.all([
        fetchAtlas(url),
        fetchJson<{ readonly id: readonly string[] }>(url),
        service.nodeSets(),
      ]);
      this.#brain = {
        atlas,
        positions: displayPositions(atlas),
        places: new Map(ids.map((id, place) => [id, place])),
        sets: new Map(sets.map((set) => [set.name, set])),
      };
      this.#draw();
    } catch {
      // The brain is an ornament of what the form says in words.
      this.#canvas.parentElement!.hidden = true;
    }
  }

  #draw(): void {
    if (this.#brain === undefined || this.#shown === undefined) return;
    const { atlas, positions } = this.#brain;
    const { document, resolved } = this.#shown;
    const theme = readTheme();
    const width = this.#canvas.clientWidth * SCALE;
    const [xs, ys] = [0, 1].map((axis) => extent(positions, axis)) as [Extent, Extent];
    const pixels = width / (xs.high - xs.low);
    this.#canvas.width = width;
    this.#canvas.height = (ys.high - ys.low) * pixels;
    const context = this.#canvas.getContext('2d')!;
    const dot = (neuron: number, size: number): void =>
      // Seen from the front, the fly's left is on the right.
      context.fillRect(
        (xs.high - positions[3 * neuron]!) * pixels,
        (positions[3 * neuron + 1]! - ys.low) * pixels,
        size,
        size,
      );
    context.globalAlpha = Math.min(1, 20_000 / atlas.neuronCount);
    context.fillStyle = theme.muted;
    for (let neuron = 0; neuron < atlas.neuronCount; neuron++) dot(neuron, 1);
    context.globalAlpha = 1;
    const legend = Object.entries(USES).map(([use, colour]) => {
      const neurons = neuronsOf(this.#brain!, use as Use, document, resolved);
      context.fillStyle = theme[colour];
      for (const neuron of neurons)
        dot(neuron, neurons.size > MANY ? MARK_PIXELS / 2 : MARK_PIXELS * SCALE * 0.7);
      return element('li', { class: colour }, `${use}: ${grouped(neurons.size)}`);
    });
    this.#canvas.setAttribute(
      'aria-label',
      `The brain from the front; ${legend.map((item) => item.textContent).join(', ')}.`,
    );
    byId('brain-legend').replaceChildren(...legend.reverse());
  }
}

interface Extent {
  readonly low: number;
  readonly high: number;
}

/** Nearly all neurons: a few lie far from the others. */
function extent(positions: Float32Array, axis: number): Extent {
  const along = positions.filter((_, at) => at % 3 === axis).sort();
  const margin = Math.floor(along.length / 500);
  return { low: along[margin] ?? 0, high: (along[along.length - 1 - margin] ?? 0) + 1e-3 };
}

/** Neurons of all members of a document that do the same. */
function neuronsOf(brain: Brain, use: Use, document: Members, resolved: DryRun['resolved']): Set<number> {
  const found = new Set<number>();
  const add = (selector: Json | undefined, name: string): void => {
    for (const neuron of named(brain, selector, document) ?? labelled(brain, resolved[name]))
      found.add(neuron);
  };
  if (use === 'silenced') {
    const items = isList(document['silence']) ? document['silence'] : [];
    const isTimed = (item: Json): item is Members => isMembers(item) && 'node_set' in item;
    add(
      items.filter((item) => !isTimed(item)),
      'silence',
    );
    items.forEach((item, at) => isTimed(item) && add(item['node_set'], `silence.${at}`));
  } else {
    const member = use === 'read' ? 'reports' : 'inputs';
    const all = isMembers(document[member]) ? document[member] : {};
    // A background of the whole brain would hide all else.
    for (const [name, each] of Object.entries(all)) {
      if (isMembers(each) && each['node_set'] !== '@all') add(each['node_set'], `${member}.${name}`);
    }
  }
  return found;
}

/** @returns nothing where names alone do not say which neurons a selector stands for */
function named(brain: Brain, selector: Json | undefined, document: Members): number[] | undefined {
  const own = isMembers(document['node_sets']) ? document['node_sets'] : {};
  if (isList(selector)) {
    const all = selector.map((each) => named(brain, each, document));
    return all.every((each) => each !== undefined) ? all.flat() : undefined;
  }
  const parts = typeof selector === 'string' ? nameOnSide(selector) : undefined;
  if (parts === undefined || parts.name in own) return undefined;
  const ids = brain.sets.get(parts.name)?.root_ids ?? [];
  const neurons = ids.flatMap((id) => brain.places.get(id) ?? []);
  if (parts.name.startsWith('@')) {
    if (neurons.length === 0) return undefined;
    return neurons.filter((neuron) => parts.side === undefined || sideOf(brain, neuron) === parts.side);
  }
  const pattern = new RegExp(`^${parts.name.split('*').map(escaped).join('.*')}$`);
  return places(brain, (type, side) => type !== '' && pattern.test(type) && (parts.side ?? side) === side);
}

function labelled(brain: Brain, resolved: DryRun['resolved'][string] | undefined): number[] {
  if (resolved === undefined) return [];
  return places(brain, (type, side) => type in resolved.types && side in resolved.sides);
}

function places(brain: Brain, has: (type: string, side: string) => boolean): number[] {
  const { atlas } = brain;
  const all = SIDES.map((side) => atlas.types.map(({ name }) => has(name, side)));
  return [...atlas.typeIndices.keys()].filter(
    (neuron) => all[atlas.sides[neuron]!]![atlas.typeIndices[neuron]!]!,
  );
}

function sideOf({ atlas }: Brain, neuron: number): string {
  return SIDES[atlas.sides[neuron]!]!;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Draws a small brain from the front, with the stimulated, silenced and read neurons in three colours. */
import type { CompactAtlas } from '../../../src/engine/connectome/atlas-binary.js';
import { SIDES } from '../../../src/engine/connectome/connectome.js';
import { nameOnSide } from '../../../src/engine/connectome/set-selector.js';
import { wildcard } from '../../../src/engine/connectome/wildcard.js';
import type { DryRun } from '../../../src/experiments/document/result.js';
import type { NodeSetList } from '#client';
import { displayPositions, extentOf } from '../brain/display-positions.js';
import { byId, element, grouped } from '../dom.js';
import { fetchPart, service } from '../service/client.js';
import { neuronsWith } from '../selection.js';
import { onThemeChange, readTheme, type Theme } from '../theme.js';
import { own } from '../../../src/engine/own.js';
import { isList, isMembers, type Json, type Members } from './json.js';

/** Uses of neurons, each with a colour of the theme, which has the name of its use on the first page. The last one is drawn on top. */
const USES = { read: 'kept', silenced: 'shared', stimulated: 'run' } as const satisfies Record<
  string,
  keyof Theme
>;
type Use = keyof typeof USES;

/** Pixels of the picture for each pixel of the page. */
const SCALE = 2;
const MARK_PIXELS = 3;
/** Above this number of neurons, marks are smaller. */
const MANY = 1500;

interface Brain {
  readonly atlas: CompactAtlas;
  readonly positions: Float32Array;
  readonly sets: ReadonlyMap<string, NodeSetList['node_sets'][number]>;
}

export class BrainMap {
  readonly #canvas = byId<HTMLCanvasElement>('brain-map');
  #brain: Brain | undefined;
  #shown: { readonly document: Members; readonly resolved: DryRun['resolved'] } | undefined;

  constructor() {
    onThemeChange(() => this.#draw());
    // Loaded only if the picture becomes visible.
    const seen = new IntersectionObserver(([entry]) => {
      if (!entry!.isIntersecting) return;
      seen.disconnect();
      void this.#load();
    });
    seen.observe(this.#canvas);
  }

  /** @param resolved the neurons of the document's selectors */
  show(document: Members, resolved: DryRun['resolved']): void {
    this.#shown = { document, resolved };
    this.#draw();
  }

  async #load(): Promise<void> {
    try {
      const { atlas_url: url } = await service.model();
      const [atlas, { node_sets: sets }] = await Promise.all([fetchPart(url, '-map'), service.nodeSets()]);
      this.#brain = {
        atlas,
        positions: displayPositions(atlas),
        sets: new Map(sets.map((set) => [set.name, set])),
      };
      this.#draw();
    } catch {
      // The form says the same in words, so the page works without the picture.
      this.#canvas.parentElement!.hidden = true;
    }
  }

  #draw(): void {
    if (this.#brain === undefined || this.#shown === undefined) return;
    const { atlas, positions } = this.#brain;
    const { document, resolved } = this.#shown;
    const theme = readTheme();
    const width = this.#canvas.clientWidth * SCALE;
    const [[left, right], [top, bottom]] = [extentOf(positions, 0), extentOf(positions, 1)];
    const pixels = width / Math.max(1e-3, right - left);
    this.#canvas.width = width;
    this.#canvas.height = (bottom - top) * pixels;
    const context = this.#canvas.getContext('2d')!;
    const dot = (neuron: number, size: number): void =>
      // Seen from the front, the fly's left is on the right.
      context.fillRect(
        (right - positions[3 * neuron]!) * pixels,
        (positions[3 * neuron + 1]! - top) * pixels,
        size,
        size,
      );
    context.globalAlpha = Math.min(1, 20_000 / atlas.neuronCount);
    context.fillStyle = theme.muted;
    for (let neuron = 0; neuron < atlas.neuronCount; neuron++) dot(neuron, 1);
    context.globalAlpha = 1;
    const legend = Object.entries(USES).map(([use, colour]) => {
      const { marked, count } = neuronsOf(this.#brain!, use as Use, document, resolved);
      context.fillStyle = theme[colour];
      for (const neuron of marked)
        dot(neuron, marked.size > MANY ? MARK_PIXELS / 2 : MARK_PIXELS * SCALE * 0.7);
      const ofMarked = count < marked.size ? ` of the ${grouped(marked.size)} marked` : '';
      const item = element('li', {}, `${use}: ${grouped(count)}${ofMarked}`);
      item.style.color = `var(--${colour})`;
      return item;
    });
    this.#canvas.setAttribute(
      'aria-label',
      `The brain from the front; ${legend.map((item) => item.textContent).join(', ')}.`,
    );
    byId('brain-legend').replaceChildren(...legend.reverse());
  }
}

/**
 * Neurons of all members of a document with the same use.
 * @returns the number of neurons, and those to mark. These are all of its types on its sides if only the service can
 *   resolve a selector, which may be more.
 */
function neuronsOf(brain: Brain, use: Use, document: Members, resolved: DryRun['resolved']) {
  const exact = new Set<number>();
  const marked = new Set<number>();
  let countOfOthers = 0;
  const add = (selector: Json | undefined, name: string): void => {
    const neurons = named(brain, selector, document);
    for (const neuron of neurons ?? []) exact.add(neuron);
    if (neurons === undefined) countOfOthers += own(resolved, name)?.neurons ?? 0;
    for (const neuron of neurons ?? labelled(brain, own(resolved, name))) marked.add(neuron);
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
    // Marks on the whole brain would hide all others.
    for (const [name, each] of Object.entries(all)) {
      if (isMembers(each) && each['node_set'] !== '@all') add(each['node_set'], `${member}.${name}`);
    }
  }
  // Selectors may overlap, so the sum may exceed the neurons that are marked.
  return { marked, count: Math.min(marked.size, exact.size + countOfOthers) };
}

/** @returns undefined if only the service can resolve the selector */
function named(brain: Brain, selector: Json | undefined, document: Members): number[] | undefined {
  const ownSets = isMembers(document['node_sets']) ? document['node_sets'] : {};
  if (isList(selector)) {
    const all = selector.map((each) => named(brain, each, document));
    return all.every((each) => each !== undefined) ? all.flat() : undefined;
  }
  const parts = typeof selector === 'string' ? nameOnSide(selector) : undefined;
  if (parts === undefined || Object.hasOwn(ownSets, parts.name)) return undefined;
  if (parts.name.startsWith('@')) {
    return brain.sets
      .get(parts.name)
      ?.places?.filter((neuron) => parts.side === undefined || sideOf(brain, neuron) === parts.side);
  }
  const isNamed = wildcard(parts.name);
  return neuronsWith(
    brain.atlas,
    ({ name }, side) => name !== '' && isNamed(name) && (parts.side ?? side) === side,
  );
}

function labelled(brain: Brain, resolved: DryRun['resolved'][string] | undefined): number[] {
  if (resolved === undefined) return [];
  return neuronsWith(
    brain.atlas,
    ({ name }, side) => Object.hasOwn(resolved.types, name) && Object.hasOwn(resolved.sides, side),
  );
}

function sideOf({ atlas }: Brain, neuron: number): string {
  return SIDES[atlas.sides[neuron]!]!;
}

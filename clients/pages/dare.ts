/** The part of the page in which visitors take a dare, or see the one of a link. */
import { own } from '../../src/engine/own.js';
import { refusedTypes } from '../../src/experiments/presets/lesion-document.js';
import { type Dare, dareHref, dareOf, quoted, typesOf } from './dare-link.js';
import { byId, element } from './dom.js';
import { completeNames } from './completion.js';
import { asRuns, lesionOf } from './lesion.js';
import { asFailure, type Model, service, typesLike } from './service/client.js';
import type { StoredRuns } from './service/stored-runs.js';
import { laboratoryUrl } from './service/transport.js';
import { verdictOn } from './verdict.js';

const FIRST_STIMULUS = 'sugar';

/** @throws Error with a sentence if the brain lacks a type */
async function checkTypes(types: readonly string[], signal: AbortSignal): Promise<void> {
  for (const type of types) {
    const { types: found, suggestions } = await service.neurons({ type, limit: 1 }, { signal });
    if (own(found, type) !== undefined) continue;
    const near = own(suggestions, type) ?? [];
    const such = near.length === 0 ? '' : `, such as ${near.join(', ')}`;
    throw new Error(`silence must be a cell type of this brain${such}, got ${quoted(type)}.`);
  }
}

export class DarePanel {
  readonly #stimulus = byId<HTMLSelectElement>('dare-stimulus');
  readonly #types = [byId<HTMLInputElement>('dare-type'), byId<HTMLInputElement>('dare-second-type')];
  readonly #outcome = byId('dare-outcome');
  /** Ends the last dare. */
  #last = new AbortController();

  constructor(
    private readonly model: Model,
    private readonly stored: StoredRuns,
  ) {
    const options = model.stimuli.map(({ id, label }) => element('option', { value: id }, label));
    this.#stimulus.replaceChildren(...options);
    this.#stimulus.value = FIRST_STIMULUS;
    // A brain without it offers others.
    if (this.#stimulus.value === '') this.#stimulus.selectedIndex = 0;
    byId('dare').hidden = false;
    completeNames({
      list: byId<HTMLDataListElement>('dare-types'),
      namesLike: typesLike,
    });
    byId('dare-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#try(() => {
        const silence = typesOf(this.#types.map(({ value }) => value));
        return { stimulus: this.#stimulus.value, silence };
      });
    });
  }

  /** Replays the dare of the address. @returns false if it has none */
  replay(search: string): boolean {
    if (!new URLSearchParams(search).has('dare')) return false;
    this.#try(() => {
      const dare = dareOf(search, this.model)!;
      this.#stimulus.value = dare.stimulus;
      this.#types.forEach((input, at) => (input.value = dare.silence[at] ?? ''));
      return dare;
    });
    return true;
  }

  /** @param read returns the dare, or throws an Error with a sentence */
  #try(read: () => Dare): void {
    this.#last.abort();
    const { signal } = (this.#last = new AbortController());
    byId('dare-share').hidden = true;
    this.#outcome.replaceChildren('Simulating …');
    const shown = async (): Promise<readonly (Node | string)[]> => {
      const dare = read();
      await checkTypes(dare.silence, signal);
      return this.#answer(dare, signal);
    };
    shown().then(
      (nodes) => signal.aborted || this.#outcome.replaceChildren(...nodes),
      (error: unknown) => signal.aborted || this.#outcome.replaceChildren(asFailure(error).message),
    );
  }

  /** Runs the stimulus with and without the types. */
  async #answer(dare: Dare, signal: AbortSignal): Promise<readonly (Node | string)[]> {
    const { response: run } = await this.stored.of(dare.stimulus);
    const document = lesionOf(run, this.model, dare.silence);
    const answer = await service.runExperiment(document, { signal }).answer();
    const [before, after] = asRuns(answer, run, this.model).map((each) => verdictOn(each, this.model));
    const { channel, behaviour } = before!;
    if (channel === undefined) return [`${before!.sentence} There is nothing to silence.`];
    const resolved = answer.resolved as Readonly<Record<string, { types: Readonly<Record<string, number>> }>>;
    const forbidden = [
      [`inputs.${dare.stimulus}`, 'whose neurons the stimulus excites'],
      [`reports.${channel.id}`, 'whose neurons the deed is read from'],
    ].flatMap(([set, reason]) =>
      refusedTypes(dare.silence, resolved[set!]?.types).map((type) => `${type}, ${reason}`),
    );
    if (forbidden.length > 0) {
      return [`silence must not be ${forbidden.join(', or ')}: choose a type in between.`];
    }
    if (!signal.aborted) this.#share({ ...dare, id: answer.id });
    const isWon = after!.behaviour !== behaviour;
    const names = dare.silence.join(' and ');
    return [
      element('p', {}, `Intact: ${before!.sentence}`),
      element('p', {}, `Without ${names}: ${after!.sentence}`),
      element(
        'p',
        {},
        element('b', {}, isWon ? `Won: it no longer ${behaviour}.` : `Lost: it still ${behaviour}.`),
      ),
      element('p', { class: 'hint' }, replayed(dare.id, answer.id)),
      element('a', { href: laboratoryUrl(document) ?? false }, 'Open in the laboratory'),
    ];
  }

  #share(dare: Required<Dare>): void {
    const link = byId<HTMLAnchorElement>('dare-link');
    link.href = dareHref(dare);
    link.textContent = link.href;
    byId('dare-share').hidden = false;
  }
}

/** Compares the id of a link with that of the answer. The id is that of the bytes. */
function replayed(linked: string | undefined, answered: string): string {
  if (linked === undefined) return `Experiment ${answered}. The link below replays it.`;
  return linked === answered
    ? `The same bytes as in the link: experiment ${answered}.`
    : `Another model: the link has experiment ${linked}, this is ${answered}.`;
}

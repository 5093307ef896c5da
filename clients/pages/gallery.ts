/** Experiments from the literature: the behaviour of flies, and the response of the served model. */
import type { FullRun, Model } from './service/client.js';
import { byId, element, grouped } from './dom.js';
import { citationLink } from './about.js';
import { LITERATURE, type LiteratureEntry } from './literature.js';
import { DEFAULT_EXPERIMENT, describe, toHash } from './service/experiment.js';
import type { StoredRuns } from './service/stored-runs.js';
import { verdictOn } from './verdict.js';

/** Distance from the window at which the runs of the gallery are loaded. */
const NEAR = '400px';

export function showGallery(model: Model, stored: StoredRuns): void {
  const gallery = byId('gallery');
  const offered = LITERATURE.filter(({ stimulus }) => model.stimuli.some(({ id }) => id === stimulus));
  const outcomes = offered.map(() => element('div', { class: 'outcome' }));
  byId('gallery-entries').replaceChildren(...offered.map((entry, at) => cardOf(entry, outcomes[at]!, model)));
  gallery.hidden = offered.length === 0;
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      offered.forEach(({ stimulus, channels }, at) => {
        stored.of(stimulus).then(
          ({ response }) => outcomes[at]!.replaceChildren(...outcomeOf(response, channels, model)),
          () => outcomes[at]!.replaceChildren(element('p', { class: 'hint' }, 'Run it to see.')),
        );
      });
    },
    { rootMargin: NEAR },
  );
  observer.observe(gallery);
}

function cardOf(
  { stimulus, title, expected, channels }: LiteratureEntry,
  outcome: HTMLElement,
  model: Model,
): HTMLElement {
  const experiment = { ...DEFAULT_EXPERIMENT, stimulus };
  const run = element('a', { href: toHash(experiment, undefined), class: 'button' }, 'Play it');
  run.setAttribute('aria-label', `Play it: ${title}`);
  return element(
    'article',
    {},
    element('h3', {}, title),
    element('p', {}, element('b', {}, 'Expected. '), expected, ' ', ...sources(stimulus, channels, model)),
    outcome,
    element('p', { class: 'card-links' }, run, element('span', { class: 'hint' }, describe(experiment))),
  );
}

function outcomeOf(run: FullRun, channels: readonly string[], model: Model): HTMLElement[] {
  const rates = channels.map((id) => {
    const label = model.channels.find((channel) => channel.id === id)?.label ?? id;
    const rate = run.channels[id] ?? 0;
    return `${label} ${rate === 0 ? 'silent' : `${rate} Hz`}`;
  });
  const { responding_neurons: responding, total_spikes: spikes } = run;
  const text = `${rates.join(', ')}; ${grouped(responding)} neurons responded with ${grouped(spikes)} spikes.`;
  return [
    element('p', {}, element('b', {}, 'Came out. '), text),
    element(
      'p',
      { class: 'hint' },
      `${verdictOn(run, model).sentence} `,
      element('span', { class: 'badge engineered' }, 'engineered'),
    ),
  ];
}

/** The distinct publications that the model names for the stimulus and the channels. */
function sources(stimulus: string, channels: readonly string[], model: Model): (HTMLElement | string)[] {
  const populations = [
    ...model.stimuli.filter(({ id }) => id === stimulus),
    ...model.channels.filter(({ id }) => channels.includes(id)),
  ];
  const citations = populations.flatMap((each) => each.citations);
  const distinct = citations.filter(({ doi }, at) => citations.findIndex((each) => each.doi === doi) === at);
  const links = distinct.flatMap((citation) => [', ', citationLink(citation)]).slice(1);
  return links.length === 0 ? [] : ['(', ...links, ')'];
}

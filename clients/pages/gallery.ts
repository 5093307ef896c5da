/** Experiments from the literature: what flies do, and what this model answered when the gallery was recorded. */
import type { Citation, Model } from './service/client.js';
import type { DriveRun } from './service/client.js';
import { byId, element, grouped } from './dom.js';
import { citationLink } from './citation.js';
import type { Gallery, GalleryEntry } from './recordings/recordings.js';
import { describe, experimentFrom, toHash } from './service/experiment.js';
import { sentenceOn } from './why.js';

export function showGallery(gallery: Gallery, model: Model): void {
  const isOfThisModel =
    gallery.connectome_digest === model.connectome_digest && gallery.version === model.version;
  byId('gallery-source').textContent = isOfThisModel
    ? 'Recorded with this model; each link runs the experiment again and gives the same numbers.'
    : `Recorded with the model ${gallery.model}. This service has another one, ${model.id}: its numbers differ.`;
  const offered = gallery.entries.filter(({ answer }) =>
    model.stimuli.some(({ id }) => id === answer.stimulus),
  );
  byId('gallery-entries').replaceChildren(...offered.map((entry) => cardOf(entry, model)));
  byId('gallery').hidden = offered.length === 0;
}

function cardOf({ title, expected, channels, answer }: GalleryEntry, model: Model): HTMLElement {
  const experiment = experimentFrom((name) => answer[name]);
  const run = element('a', { href: toHash(experiment, undefined), class: 'button' }, 'Run it');
  run.setAttribute('aria-label', `Run it: ${title}`);
  return element(
    'article',
    {},
    element('h3', {}, title),
    element('p', {}, element('b', {}, 'Expected. '), expected, ' ', ...sources(answer, channels, model)),
    element('p', {}, element('b', {}, 'Came out. '), outcomeOf(answer, channels, model)),
    element('p', { class: 'hint' }, sentenceOn(answer, model)),
    element('p', { class: 'card-links' }, run, element('span', { class: 'hint' }, describe(experiment))),
  );
}

function outcomeOf(answer: DriveRun, channels: readonly string[], model: Model): string {
  const rates = channels.map((id) => {
    const label = model.channels.find((channel) => channel.id === id)?.label ?? id;
    const rate = answer.channels[id] ?? 0;
    return `${label} ${rate === 0 ? 'silent' : `${rate} Hz`}`;
  });
  return `${rates.join(', ')}; ${grouped(answer.responding_neurons)} neurons responded with ${grouped(answer.total_spikes)} spikes.`;
}

/** The publications that the model names for the stimulus and for the channels, each once. */
function sources(
  { stimulus }: DriveRun,
  channels: readonly string[],
  model: Model,
): (HTMLElement | string)[] {
  const populations = [
    ...model.stimuli.filter(({ id }) => id === stimulus),
    ...model.channels.filter(({ id }) => channels.includes(id)),
  ];
  const byDoi = new Map<string, Citation>();
  for (const citation of populations.flatMap(({ citations }) => citations)) {
    if (!byDoi.has(citation.doi)) byDoi.set(citation.doi, citation);
  }
  const links = [...byDoi.values()].flatMap((citation) => [', ', citationLink(citation)]).slice(1);
  return links.length === 0 ? [] : ['(', ...links, ')'];
}

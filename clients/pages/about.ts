/** Texts of the page on the model: measured parts, limitations and credits. */
import type { Citation, Model } from './service/client.js';
import type { CompactAtlas } from '../../src/engine/connectome/atlas-binary.js';
import { hasPositions } from './brain/display-positions.js';
import { byId, element, grouped } from './dom.js';

const LICENCES: Readonly<Record<string, string>> = {
  'Apache-2.0': 'https://www.apache.org/licenses/LICENSE-2.0',
  'CC-BY-4.0': 'https://creativecommons.org/licenses/by/4.0/',
  'CC-BY-NC-4.0': 'https://creativecommons.org/licenses/by-nc/4.0/',
};

const WIRING_TEXTS: Readonly<Record<Model['wiring'], string>> = {
  measured: 'measured wiring',
  synthetic: 'synthetic wiring, sampled from cell-type statistics',
  custom: 'wiring as it was compiled',
};

const WIRED: Readonly<Record<Model['wiring'], string>> = {
  measured: 'wired as in a real fly’s brain',
  synthetic: 'wired by the statistics of a real fly’s brain',
  custom: 'wired as they were compiled',
};

/** The line below the heading of each page. */
export function describeModelLine(model: Model): void {
  byId('model-line').textContent =
    `${grouped(model.neuron_count)} neurons, ${grouped(model.connection_count)} connections, ${WIRING_TEXTS[model.wiring]}. ` +
    `${networkOf(model)}.`;
}

export function describeModel(model: Model): void {
  describeModelLine(model);
  byId('brain-line').textContent =
    `${grouped(model.neuron_count)} neurons, ${WIRED[model.wiring]}, none of them trained.`;
  const badge = byId<HTMLButtonElement>('wiring');
  badge.textContent = `${model.wiring} wiring`;
  badge.classList.add(model.wiring === 'measured' ? 'measured' : 'modelled');
  badge.ariaLabel = `${model.wiring} wiring: what is real here?`;
  badge.disabled = false;
  byId('drives-wiring').hidden = model.wiring !== 'synthetic';
  byId('about-measured').textContent =
    `Neurons, cell types and transmitters: ${networkOf(model)}. ` +
    {
      measured: `Their ${grouped(model.synapse_count)} synapses are measured too.`,
      synthetic:
        'Individual connections are not measured: they are sampled from measured cell-type statistics.',
      custom: 'Their connections are those that whoever compiled the model gave.',
    }[model.wiring];
  byId('limitations').replaceChildren(...model.limitations.map((text) => element('li', {}, text)));
  byId('licence').replaceChildren(
    `Brain: ${networkOf(model)}, and what is derived from it, `,
    licenceLink(model.licence.data),
    '. Software: ',
    licenceLink(model.licence.software),
    '. Please cite:',
  );
  byId('citations').replaceChildren(
    ...model.citations.map((citation) =>
      element('li', {}, citationLink(citation), ` doi:${citation.doi}: ${citation.subject}`),
    ),
  );
}

export function describePositions(atlas: CompactAtlas, { wiring }: Model): void {
  const { estimated, neuronCount } = atlas;
  const measured = estimated.reduce((sum, each) => sum + 1 - each, 0);
  byId('about-measured').append(
    !hasPositions(atlas)
      ? ' The data set has no positions: neurons are drawn at made-up places, by their side.'
      : measured === 0 && wiring === 'synthetic'
        ? ' Positions are sampled from the mean and spread of each cell type.'
        : ` ${grouped(measured)} cell bodies have measured positions; ${grouped(neuronCount - measured)} ` +
          'positions are estimated and drawn fainter.',
  );
}

/** A publication as a link to its DOI. */
export function citationLink({ text, doi }: Pick<Citation, 'text' | 'doi'>): HTMLElement {
  return element('a', { href: `https://doi.org/${doi}`, rel: 'noreferrer' }, text);
}

function networkOf({ dataset, release }: Model): string {
  return release === null ? dataset : `${dataset}, release ${release}`;
}

function licenceLink(spdx: string): HTMLElement | string {
  const href = LICENCES[spdx];
  if (spdx === 'NOASSERTION') return 'licence not stated';
  return href === undefined ? spdx : element('a', { href, rel: 'noreferrer' }, spdx);
}

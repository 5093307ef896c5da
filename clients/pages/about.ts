/** What the page says of the model: what is measured, what it is not, whom to credit. */
import type { Model } from '../../answers/v1/api/model.dto.js';
import type { CompactAtlas } from '../../connectome/atlas-binary.js';
import { citationLink } from './citation.js';
import { byId, element, grouped } from './dom.js';

const LICENCES: Readonly<Record<string, string>> = {
  'Apache-2.0': 'https://www.apache.org/licenses/LICENSE-2.0',
  'CC-BY-NC-4.0': 'https://creativecommons.org/licenses/by-nc/4.0/',
};

/** The line below the heading of each page. */
export function describeModelLine(model: Model): void {
  const wiring =
    model.wiring === 'measured' ? 'measured wiring' : 'synthetic wiring, sampled from cell-type statistics';
  byId('model-line').textContent =
    `${grouped(model.neuron_count)} neurons, ${grouped(model.connection_count)} connections, ${wiring}. ` +
    `${model.dataset}, release ${model.release}.`;
}

export function describeModel(model: Model): void {
  describeModelLine(model);
  byId('about-measured').textContent =
    `Neurons, cell types and transmitters: ${model.dataset}, release ${model.release}. ` +
    (model.wiring === 'measured'
      ? `Their ${grouped(model.synapse_count)} synapses are measured too.`
      : 'Individual connections are not measured: they are sampled from measured cell-type statistics.');
  byId('formulas')
    .querySelector('dl')!
    .replaceChildren(
      ...model.drives.flatMap(({ id, formula, reason }) => [
        element('dt', {}, id),
        element('dd', {}, formula),
        element('dd', {}, reason),
      ]),
    );
  byId('limitations').replaceChildren(...model.limitations.map((text) => element('li', {}, text)));
  byId('licence').replaceChildren(
    `Brain: ${model.dataset}, release ${model.release}, and what is derived from it, `,
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

export function describePositions({ estimated, neuronCount }: CompactAtlas): void {
  const measured = estimated.reduce((sum, each) => sum + 1 - each, 0);
  byId('about-measured').append(
    measured === 0
      ? ' Positions are sampled from the mean and spread of each cell type.'
      : ` ${grouped(measured)} cell bodies have measured positions; ${grouped(neuronCount - measured)} ` +
          'positions are estimated and drawn fainter.',
  );
}

function licenceLink(spdx: string): HTMLElement | string {
  const href = LICENCES[spdx];
  return href === undefined ? spdx : element('a', { href, rel: 'noreferrer' }, spdx);
}

import { modelId, neuronPopulationName } from './model-id.js';

const digest = '0123456789abcdef'.repeat(4);

function namesOf(dataset: string, release: number | null) {
  const metadata = { dataset, release, wiring: 'custom', signRule: 'as given' } as Parameters<
    typeof modelId
  >[0]['metadata'];
  return [modelId({ metadata, digest }), neuronPopulationName(metadata)];
}

it.each<[string, number | null, string, string]>([
  ['FlyWire FAFB', 783, 'fafb-783', 'flywire_783'],
  ['FlyWire FAFB', null, 'fafb', 'flywire'],
  ['BANC', 888, 'banc-888', 'banc_888'],
  ['  My “own” network/2 ', null, 'my-own-network-2', 'my_own_network_2'],
  ['脑', null, 'network', 'network'],
  [`${'a'.repeat(39)} b`, null, 'a'.repeat(39), 'a'.repeat(39)],
])('the data set "%s", release %s, is %s in ids and %s in files', (dataset, release, id, population) => {
  expect(namesOf(dataset, release)).toEqual([`${id}-custom-as-given-0123456789ab`, population]);
});

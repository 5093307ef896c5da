/** A connectome with other stimuli and channels than the one that ships is served as well as that one. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeConnectome, type ConnectomeContent } from '../../src/engine/connectome/format.js';
import { smallConnectome } from '../support/small-connectome.js';
import { startReadyService, type Service } from '../support/service.js';

const whole = smallConnectome();
const { stimuli, channels } = whole.metadata;
const neuronsOf = (id: string) => {
  const at = [...stimuli, ...channels].findIndex((population) => population.id === id);
  return whole.populations[at]!;
};

/** The small brain with some of its populations, by name; a channel may be given another name. */
function brainWith(chosen: readonly string[], renamed: Readonly<Record<string, string>>): ConnectomeContent {
  const kept = {
    stimuli: stimuli.filter(({ id }) => chosen.includes(id)),
    channels: channels
      .filter(({ id }) => id in renamed)
      .map((channel) => ({ ...channel, id: renamed[channel.id]! })),
  };
  const original = Object.fromEntries(Object.entries(renamed).map(([from, to]) => [to, from]));
  return {
    ...whole,
    metadata: { ...whole.metadata, ...kept },
    populations: [
      ...kept.stimuli.map(({ id }) => neuronsOf(id)),
      ...kept.channels.map(({ id }) => neuronsOf(original[id]!)),
    ],
  };
}

async function serve(content: ConnectomeContent): Promise<Service> {
  const path = join(mkdtempSync(join(tmpdir(), 'other-connectome-')), 'other.connectome');
  writeFileSync(path, encodeConnectome(content));
  return startReadyService({ CONNECTOME_FILE: path });
}

describe('a connectome with few stimuli and channels of other names', () => {
  let service: Service;
  const renamed = { escape: 'escape', stop: 'stop', wing: 'flight' };

  beforeAll(async () => {
    service = await serve(brainWith(['loom', 'heat'], renamed));
  });
  afterAll(() => service.stop());

  it('is described as it is', async () => {
    const model = await (await service.get('/api/v1/model')).json();
    const ids = (list: { id: string }[]) => list.map(({ id }) => id);
    expect(ids(model.stimuli)).toEqual(['loom', 'heat']);
    expect(ids(model.channels)).toEqual(['escape', 'stop', 'flight']);
    expect(ids(model.drives)).toEqual(['escape', 'stop']);
  });

  it('answers with its own channels, and the drives that can be read from them', async () => {
    const response = await service.post({ stimulus: 'loom', duration_ms: 200, intensity: 2 });
    expect(response.status).toBe(200);
    const { channels: rates, drive, frames } = await response.json();
    expect(Object.keys(rates)).toEqual(['escape', 'stop', 'flight']);
    expect(Object.keys(drive)).toEqual(['escape', 'stop']);
    // The rates once more, only from the spikes.
    const spikes = frames.flatMap((frame: { spikes: number[] }) => frame.spikes) as number[];
    for (const [from, to] of Object.entries(renamed)) {
      const members = neuronsOf(from);
      const count = spikes.filter((neuron) => members.includes(neuron)).length;
      expect(rates[to]).toBeCloseTo(count / members.length / 0.2, 2);
    }
    expect(Math.max(...(Object.values(rates) as number[]))).toBeGreaterThan(0);
  });

  it('says which stimuli it has if another one is asked for', async () => {
    const response = await service.post({});
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      code: 'STIMULUS_UNAVAILABLE',
      error:
        'stimulus must be one of loom, heat, none for the loaded connectome, got "sugar", which it does not define.',
    });
    expect((await service.post({ stimulus: 'salt' })).status).toBe(400);
  });
});

it('a network that is not FlyWire is not described as FlyWire', async () => {
  const metadata = {
    ...whole.metadata,
    name: 'Mine',
    dataset: 'My network',
    release: null,
    wiring: 'custom',
  } as const;
  const service = await serve({ ...whole, metadata });
  const model = await (await service.get('/api/v1/model')).json();
  expect(model).toMatchObject({
    id: expect.stringMatching(/^my-network-custom-corrected-[0-9a-f]{12}$/),
    name: 'Mine',
    dataset: 'My network',
    release: null,
    wiring: 'custom',
    licence: { software: 'Apache-2.0', data: 'NOASSERTION' },
    citations: [{ text: 'Shiu et al. 2024' }],
  });
  expect(model.limitations[0]).toContain('whoever compiled the model gave');
  // Sources of populations and of constants may name release 783; statements about the network may not.
  const { id, name, dataset, provenance, licence, citations, limitations } = model;
  expect(JSON.stringify({ id, name, dataset, provenance, licence, citations, limitations })).not.toMatch(
    /flywire|fafb|783|backward and courtship/i,
  );
  const run = await (await service.post({ stimulus: 'loom' })).json();
  expect(run.model).toBe(model.id);
  await service.stop();
});

it('another fly has its own name everywhere, and refuses a document for another one', async () => {
  const metadata = {
    ...whole.metadata,
    name: 'MaleCNS 1.0, measured wiring',
    dataset: 'MaleCNS',
    release: '1.0',
    wiring: 'measured',
    signRule: 'fast',
    licence: { spdx: 'CC-BY-4.0', url: 'https://creativecommons.org/licenses/by/4.0/' },
    citations: [{ text: 'Berg et al. 2026', doi: '10.1016/j.cell.2026.08.015', subject: 'the connectome' }],
    signSource: 'consensus_nt',
    synapseMv: 0.19,
  } as const;
  const signs = whole.signs.map((sign, i) => (i % 7 === 0 ? 0 : sign));
  const service = await serve({ ...whole, metadata, signs });
  const id = expect.stringMatching(/^malecns-1\.0-measured-fast-0\.19mv-[0-9a-f]{12}$/);
  const of = (sign: number) => signs.filter((each) => each === sign).length;
  expect(await (await service.get('/api/v2/model')).json()).toMatchObject({
    id,
    network: 'malecns-1.0',
    name: 'MaleCNS 1.0, measured wiring',
    release: '1.0',
    signs: {
      rule: 'fast',
      source: 'consensus_nt',
      excitatory: of(1),
      inhibitory: of(-1),
      without_fast_effect: of(0),
    },
    synapse_mv: 0.19,
    licence: 'CC-BY-4.0',
    cite: ['Berg et al. 2026, doi:10.1016/j.cell.2026.08.015'],
  });
  expect(await (await service.get('/readyz')).json()).toMatchObject({
    model: id,
    network: 'malecns-1.0',
    licence: 'CC-BY-4.0',
  });
  const v1 = await (await service.get('/api/v1/model')).json();
  expect(v1).toMatchObject({ id, release: '1.0', licence: { data: 'CC-BY-4.0' }, sign_rule: { id: 'fast' } });
  expect(v1.citations.map(({ text }: { text: string }) => text)).toEqual([
    'Berg et al. 2026',
    'Shiu et al. 2024',
  ]);
  expect(v1.network).toContainEqual(expect.objectContaining({ name: 'synapse_mv', value: 0.19 }));

  const document = { inputs: { a: { node_set: 'S_loom', rate_hz: 100 } }, trials: 1, duration_ms: 10 };
  const asked = await service.post({ ...document, network: 'malecns-1.0' }, '/api/v2/experiments');
  expect(await asked.json()).toMatchObject({
    model: id,
    licence: 'CC-BY-4.0',
    experiment: { network: 'malecns-1.0' },
    cite: expect.arrayContaining(['Berg et al. 2026, doi:10.1016/j.cell.2026.08.015']),
    resolved: { constants: { synapse_mv: 0.19, threshold_mv: -45 } },
  });
  // The gain of the model is in force: named or not, it gives the same spikes, and another gives others.
  const spikesAt = async (constants?: object) => {
    const inputs = { a: { node_set: 'S_loom', rate_hz: 200 } };
    const body = { inputs, trials: 2, duration_ms: 100, ...(constants && { constants }) };
    const { conditions } = await (await service.post(body, '/api/v2/experiments')).json();
    return conditions[0].spikes.mean as number;
  };
  expect(await spikesAt({ synapse_mv: 0.19 })).toBe(await spikesAt());
  expect(await spikesAt({ synapse_mv: 0.275 })).toBeGreaterThan(await spikesAt());
  const refused = await service.post({ ...document, network: 'flywire-783' }, '/api/v2/experiments');
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    code: 'INVALID_PARAMETER',
    error: 'network must be malecns-1.0, which is the network of this model, got "flywire-783".',
    path: '/network',
  });
  await service.stop();
});

it('a connectome without cell types, stimuli and channels answers to none', async () => {
  const content = brainWith([], {});
  const types = content.metadata.types.map((type) => ({ ...type, name: '' }));
  const service = await serve({ ...content, metadata: { ...content.metadata, types } });
  const silent = await service.post({ stimulus: 'none' });
  expect(silent.status).toBe(200);
  expect(await silent.json()).toMatchObject({ total_spikes: 0, channels: {}, drive: {} });
  const refused = await service.post({ stimulus: 'loom' });
  expect(await refused.json()).toEqual({
    code: 'STIMULUS_UNAVAILABLE',
    error:
      'stimulus must be none for the loaded connectome, got "loom": it was compiled without cell types, so it defines no stimuli.',
  });
  await service.stop();
});

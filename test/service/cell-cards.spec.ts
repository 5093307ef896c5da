/** The cards of neurons and types that lie beside the atlas. */
import { startReadyService, type Service } from '../support/service.js';

describe('the card of a neuron or type', () => {
  let service: Service;
  let folder: string;
  let atlas: { id: string[]; type: string[]; side: string[] };
  beforeAll(async () => {
    service = await startReadyService();
    const { atlas_url } = await (await service.get('/api/v1/model')).json();
    folder = atlas_url.replace(/\.json$/, '');
    atlas = await (await service.get(atlas_url)).json();
  });
  afterAll(() => service.stop());

  it('says of a neuron who it is', async () => {
    const response = await service.get(`${folder}/neurons/25`);
    expect(response.headers.get('cache-control')).toContain('immutable');
    const card = await response.json();
    expect(card).toMatchObject({
      id: atlas.id[25],
      name: atlas.type[25],
      super_class: 'sensory',
      class: 'made_up',
      neurons: 1,
      sides: { [atlas.side[25]!]: 1 },
      excitatory: 1,
      inhibitory: 0,
    });
    // Stimulated neurons of this brain have twelve targets each, and no input.
    expect(card.outputs.connections).toBe(12);
    expect(card.inputs).toEqual({ types: 0, connections: 0, synapses: 0, strongest: [] });
  });

  it('gives for a type the labels that all its neurons have', async () => {
    const types = [...new Set(atlas.type)];
    const index = types.indexOf('S_loom');
    const card = await (await service.get(`${folder}/types/${index}`)).json();
    const neurons = atlas.type.flatMap((type, i) => (type === 'S_loom' ? [i] : []));
    expect(card).toMatchObject({ name: 'S_loom', neurons: neurons.length, sides: { left: 6, right: 6 } });
    const cards = await Promise.all(
      neurons.map(async (i) => (await service.get(`${folder}/neurons/${i}`)).json()),
    );
    expect(card.outputs.synapses).toBe(cards.reduce((sum, { outputs }) => sum + outputs.synapses, 0));
    expect(card.id).toBeUndefined();
  });

  it.each([
    ['neurons/304', 'There is no neuron "304"; their indices are 0 to 303.'],
    ['neurons/-1', 'There is no neuron "-1"'],
    ['neurons/1e2', 'There is no neuron "1e2"'],
    ['types/32', 'There is no type "32"; their indices are 0 to 31.'],
  ])('%s is refused', async (path, message) => {
    const response = await service.get(`${folder}/${path}`);
    expect(response.status).toBe(404);
    expect((await response.json()).error).toContain(message);
  });

  it('of another atlas is not given', async () => {
    const response = await service.get(`${folder}0/neurons/1`);
    expect(response.status).toBe(404);
    expect((await response.json()).error).toMatch(/There is no atlas ".*0"; there is/);
  });
});

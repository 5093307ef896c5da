import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../connectome/format.js';
import { requirePopulations } from './required-populations.js';

const content = smallConnectome();
const { metadata } = content;

describe('the populations that version 1 needs', () => {
  it('are all in a connectome of its own', () => {
    expect(() => requirePopulations(metadata)).not.toThrow();
  });

  it('may stand beside others, in any order', () => {
    const stimuli = [{ ...metadata.stimuli[0]!, id: 'water' }, ...metadata.stimuli].reverse();
    expect(() => requirePopulations({ ...metadata, stimuli })).not.toThrow();
  });

  it('are named where they are missing from a file that can be opened', () => {
    const changed = {
      ...content,
      metadata: { ...metadata, stimuli: metadata.stimuli.slice(1), channels: metadata.channels.slice(0, -2) },
      populations: content.populations.slice(1, -2),
    };
    const opened = openConnectome(encodeConnectome(changed).buffer);
    expect(opened.stimulusNeurons('loom')).toEqual(content.populations[1]);
    expect(() => requirePopulations(opened.metadata)).toThrow(
      'This connectome cannot be served: version 1 of the interface needs the stimulus sugar, ' +
        'the channel descending, the channel motor, which it does not have.',
    );
  });
});

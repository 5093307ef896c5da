import { readFileSync } from 'node:fs';
import { parseDocument } from '../document/parse-document.js';
import { questionOf } from './question.js';

const asked = (document: unknown) => questionOf(parseDocument(document, { conditions: 1000, ids: 10 }, []));

it.each([
  [
    'background',
    'What is the mean rate of MN9 by side, with background events in all neurons and sugar stimulated at 100 Hz, as the rate of background is 0, 0.1 and 0.5 Hz?',
  ],
  [
    'looming-direct',
    'What is the mean rate of giant_fibre (DNp01), with LC4 stimulated at 100 Hz and connections from LC4 to DNp01 times a weight, as the weight of direct is 1, 0.5, 0 and -1?',
  ],
  [
    'looming-ramp',
    'What are the rate in bins of time of giant_fibre (DNp01), the membrane potentials of DNp01 and the spikes of DNp01, with LC4 stimulated at rates of 0 to 140 Hz in turn and LPLC2 stimulated at rates of 0 to 80 Hz in turn?',
  ],
  [
    'looming-relay',
    'What is the mean rate of giant_fibre (DNp01) and PVLP122b, with LC4 stimulated at 100 Hz, without and with each of PVLP122b (by type) silenced?',
  ],
  [
    'shiu2024-fig1d',
    'What is the mean rate of MN9 by side, with sugar stimulated, as the rate of sugar takes 20 values from 10 to 200 Hz?',
  ],
  [
    'shiu2024-fig1f',
    'What is the mean rate of MN9 by side, with sugar stimulated at 100 Hz, without and with each of the 200 that respond most (by neuron and type) silenced?',
  ],
  [
    'shiu2024-gain',
    'What is the mean rate of MN9 by side, with sugar stimulated at 100 Hz, as the synapse is 0.1925, 0.275 and 0.3575 mV?',
  ],
  [
    'shiu2024-shuffled',
    'What is the mean rate of MN9 by side, with sugar stimulated at 100 Hz, held against 100 brains with shuffled weights?',
  ],
  [
    'timed-silence',
    'What is the rate in bins of time of giant_fibre (DNp01), with LC4 stimulated at 100 Hz and PVLP122b silenced from 400 ms to 700 ms?',
  ],
])('puts examples/%s.json in a sentence', (name, sentence) => {
  expect(asked(JSON.parse(readFileSync(`examples/${name}.json`, 'utf8')))).toBe(sentence);
});

it('names neurons by their labels, and edits of the network', () => {
  const reports = {
    out: { node_set: [{ type: 'LC4', side: 'left' }, { root_id: '720' }, { downstream_of: 'A', hops: 2 }] },
  };
  expect(
    asked({
      inputs: {
        a: { node_set: 'LC4:right', module: 'spikes', times_ms: [1, 2], delay_ms: 5, duration_ms: 10 },
      },
      wiring: { shuffle: 'targets', minimum_synapses: 10, seed: 3 },
      constants: { synapse_mv: 0.3 },
      reports,
    }),
  ).toBe(
    'What is the mean rate of out (left LC4, neuron 720 and neurons downstream of A within 2 connections), with right LC4 ' +
      'given events at listed times from 5 ms for 10 ms, synapse_mv 0.3 and only connections of 10 synapses or more, ' +
      'shuffled targets (seed 3)?',
  );
  expect(asked({ reports: { b: { node_set: '@all', type: 'spikes' } } })).toBe(
    'What are the spikes of all neurons, without any input?',
  );
});

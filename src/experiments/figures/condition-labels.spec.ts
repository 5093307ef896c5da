import { controlText, otherSettingsText, groupLabel, withType } from './condition-labels.js';

describe('otherSettingsText', () => {
  it('names parameters that no axis of the figure shows, in the order of the sweep', () => {
    const parameters = {
      'inputs.sugar.rate_hz': 100,
      silence: { type: 'LC4', side: 'left' },
      seed: 7,
      duration_ms: 50,
    };
    expect(otherSettingsText(parameters, ['seed'])).toBe(
      'rate of sugar 100 Hz, LC4 left silenced, duration of a trial 50 ms',
    );
    expect(otherSettingsText({ silence: null, seed: 7 }, [])).toBe('nothing silenced, seed 7');
    expect(otherSettingsText({ seed: 7 }, ['seed'])).toBe('');
  });

  it('tells the neurons of a matched control from the group', () => {
    expect(otherSettingsText({ silence: { type: 'LC4', drawn: '7 8' } }, [])).toBe('matched to LC4 silenced');
  });

  it('tells neurons without a type from all neurons', () => {
    expect(otherSettingsText({ silence: { type: '' } }, [])).toBe('untyped silenced');
    expect([groupLabel({ type: '', side: 'left' }), groupLabel({})]).toEqual(['untyped left', 'all']);
  });
});

it('names the cell type of a neuron, unless its id or label has it', () => {
  const types: Readonly<Record<string, string>> = { '7': 'LC4', '8': '', LC4_L_0001: 'LC4' };
  const named = (labels: object) => groupLabel(withType(labels, (id) => types[id]));
  expect(['7', '8', '9', 'LC4_L_0001'].map((id) => named({ root_id: id }))).toEqual([
    '7 LC4',
    '8 untyped',
    '9',
    'LC4_L_0001',
  ]);
  expect(named({ root_id: '7', type: 'LC6' })).toBe('7 LC6');
});

it('shows the p and q of a group with three digits', () => {
  const control = { mean: 12, sd: 8, values: [4], incomplete: [], p: 1 / 21, q: 0.04949 };
  expect(controlText({ neurons: 1, control })).toBe('controls 12.00 ± 8.00, p 0.0476, q 0.0495');
});

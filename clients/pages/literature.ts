/** Experiments from the literature: a stimulus with all defaults, and the channels that show the response. */
export interface LiteratureEntry {
  readonly stimulus: string;
  readonly title: string;
  /** Behaviour of flies, in plain words; the model names the publications. */
  readonly expected: string;
  /** The channels to look at. */
  readonly channels: readonly string[];
}

export const LITERATURE: readonly LiteratureEntry[] = [
  {
    stimulus: 'sugar',
    title: 'Sugar extends the proboscis',
    expected: 'Sugar on the labellum excites motor neuron MN9, which extends the proboscis.',
    channels: ['proboscis', 'bitter_relay'],
  },
  {
    stimulus: 'bitter',
    title: 'Bitter does not',
    expected:
      'Bitter taste is aversive: proboscis motor neurons stay silent, second-order bitter neurons respond.',
    channels: ['proboscis', 'bitter_relay'],
  },
  {
    stimulus: 'loom',
    title: 'A looming object makes the fly take off',
    expected: 'LC4 and LPLC2 detect the object and drive the giant fibre, which triggers the fast take-off.',
    channels: ['escape', 'landing'],
  },
  {
    stimulus: 'food',
    title: 'Vinegar attracts',
    expected: 'The glomeruli DM1 and VA2 carry the smell of vinegar, and the fly walks towards it.',
    channels: ['food_relay', 'walk'],
  },
  {
    stimulus: 'heat',
    title: 'Heat repels',
    expected: 'Hot cells excite projection neurons of the glomerulus VP2, and the fly avoids the heat.',
    channels: ['heat_relay', 'humid_relay'],
  },
  {
    stimulus: 'touch',
    title: 'Touch of the head elicits grooming',
    expected:
      'Bristles of the head excite neurons of the hemilineage 23b, and through them the grooming descending neurons.',
    channels: ['groom', 'touch_relay'],
  },
];

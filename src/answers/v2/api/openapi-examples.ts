/** Written by npm run openapi:examples: answers of the brain that ships to the first of the requests. */
export const EXAMPLES = {
  requests: {
    sugar: {
      summary: 'Sugar neurons at two rates; the rate of a motor neuron of the proboscis',
      value: {
        inputs: { sugar: { node_set: '@sugar' } },
        duration_ms: 200,
        trials: 2,
        reports: { mn9: { node_set: '@MN9', group_by: ['side'] } },
        sweep: [{ set: 'inputs.sugar.rate_hz', values: [50, 150] }],
      },
    },
    relay: {
      summary: 'Looming detectors with and without a relay, in a window of the trial',
      value: {
        inputs: {
          loom: { node_set: ['LC4:left', 'LPLC2:left'], rate_hz: 100, delay_ms: 200, duration_ms: 300 },
        },
        reports: { escape: { node_set: 'DNp01', type: 'histogram', group_by: ['side'], bin_ms: 25 } },
        sweep: [{ each: 'PVLP122*', group_by: ['type'], as: 'silence' }],
      },
    },
    spikes: {
      summary: 'Given input events; every spike',
      value: {
        inputs: { pulse: { node_set: 'LC4:left', module: 'spikes', times_ms: [10, 20, 30] } },
        duration_ms: 50,
        trials: 1,
        reports: { all: { node_set: { super_class: 'descending' }, type: 'spikes' } },
      },
    },
  },
  answer: {
    id: '5b0f091a34efee2f727e18293165d6e3',
    model: 'fafb-783-synthetic-corrected-d027c3ba3e06',
    wiring: 'synthetic',
    side_convention:
      'Left and right are those of the classification of FlyWire FAFB release 783, the fly\'s own. Shiu et al. 2024 name them the other way round: their "right" sugar neurons are on the left here.',
    experiment: {
      node_sets: {},
      inputs: {
        sugar: { node_set: '@sugar', module: 'poisson', rate_hz: 150, delay_ms: 0, duration_ms: 200 },
      },
      silence: [],
      duration_ms: 200,
      trials: 2,
      seed: 42,
      reports: { mn9: { node_set: '@MN9', type: 'rate', group_by: ['side'], start_ms: 0, end_ms: 200 } },
      sweep: [{ set: 'inputs.sugar.rate_hz', values: [50, 150] }],
      on_missing: 'error',
    },
    resolved: {
      'inputs.sugar': { neurons: 131, sides: { left: 67, right: 64 }, types: { LB3: 131 }, missing: [] },
      'reports.mn9': { neurons: 2, sides: { left: 1, right: 1 }, types: { CB0701: 2 }, missing: [] },
    },
    conditions: [
      {
        index: 0,
        parameters: { 'inputs.sugar.rate_hz': 50 },
        complete: true,
        spikes: { mean: 2390.5, sd: 37.5 },
        responding_neurons: { mean: 318.5, sd: 5.5 },
        synaptic_events: 114800,
        reports: {
          mn9: [
            {
              side: 'left',
              neurons: 1,
              responding: { mean: 1, sd: 0 },
              responding_any: 1,
              rate_hz: { mean: 55, sd: 5, trials: [50, 60] },
            },
            {
              side: 'right',
              neurons: 1,
              responding: { mean: 1, sd: 0 },
              responding_any: 1,
              rate_hz: { mean: 60, sd: 5, trials: [65, 55] },
            },
          ],
        },
      },
      {
        index: 1,
        parameters: { 'inputs.sugar.rate_hz': 150 },
        complete: true,
        spikes: { mean: 6811.5, sd: 0.5 },
        responding_neurons: { mean: 470.5, sd: 2.5 },
        synaptic_events: 309468,
        reports: {
          mn9: [
            {
              side: 'left',
              neurons: 1,
              responding: { mean: 1, sd: 0 },
              responding_any: 1,
              rate_hz: { mean: 85, sd: 10, trials: [75, 95] },
            },
            {
              side: 'right',
              neurons: 1,
              responding: { mean: 1, sd: 0 },
              responding_any: 1,
              rate_hz: { mean: 102.5, sd: 7.5, trials: [95, 110] },
            },
          ],
        },
      },
    ],
    unchanged: [],
    cost: { brain_seconds: 0.8, input_events: 10361, synaptic_events: 424268 },
    warnings: [
      {
        code: 'SYNTHETIC_WIRING',
        message:
          'The wiring was sampled from statistics of cell types. Its single connections were not measured, so nothing can be said of single neurons of a large type.',
      },
      {
        code: 'PARTIAL_WIRING',
        message:
          'The wiring holds 2313358 of the 2700513 pairs of neurons with 5 synapses or more in release 783; 14 % are missing. Neurons that stay silent may lack their connections.',
      },
      {
        code: 'SUBSTITUTED',
        message: 'This brain has no measured cells: cell types stand for those of @sugar, @MN9.',
      },
    ],
    cite: [
      'Dorkenwald et al. 2024, Neuronal wiring diagram of an adult brain, doi:10.1038/s41586-024-07558-y',
      'Schlegel et al. 2024, Whole-brain annotation and multi-connectome cell typing of Drosophila, doi:10.1038/s41586-024-07686-5',
      'Eckstein, Bates et al. 2024, Neurotransmitter classification from electron microscopy images at synaptic sites in Drosophila melanogaster, doi:10.1016/j.cell.2024.03.016',
      'Shiu et al. 2024, A Drosophila computational brain model reveals sensorimotor processing, doi:10.1038/s41586-024-07763-9',
      'Shiu et al. 2024, doi:10.1038/s41586-024-07763-9: Figures 1 to 3; list of release 630, neu_sugar in figures.ipynb of philshiu/Drosophila_brain_model',
      'Shiu et al. 2024, doi:10.1038/s41586-024-07763-9: Figures 1 to 4; its second neuron is the other one of its type in release 783',
    ],
  },
  dryRun: {
    id: '5b0f091a34efee2f727e18293165d6e3',
    model: 'fafb-783-synthetic-corrected-d027c3ba3e06',
    wiring: 'synthetic',
    side_convention:
      'Left and right are those of the classification of FlyWire FAFB release 783, the fly\'s own. Shiu et al. 2024 name them the other way round: their "right" sugar neurons are on the left here.',
    experiment: {
      node_sets: {},
      inputs: {
        sugar: { node_set: '@sugar', module: 'poisson', rate_hz: 150, delay_ms: 0, duration_ms: 200 },
      },
      silence: [],
      duration_ms: 200,
      trials: 2,
      seed: 42,
      reports: { mn9: { node_set: '@MN9', type: 'rate', group_by: ['side'], start_ms: 0, end_ms: 200 } },
      sweep: [{ set: 'inputs.sugar.rate_hz', values: [50, 150] }],
      on_missing: 'error',
    },
    resolved: {
      'inputs.sugar': { neurons: 131, sides: { left: 67, right: 64 }, types: { LB3: 131 }, missing: [] },
      'reports.mn9': { neurons: 2, sides: { left: 1, right: 1 }, types: { CB0701: 2 }, missing: [] },
    },
    conditions: [
      { index: 0, parameters: { 'inputs.sugar.rate_hz': 50 } },
      { index: 1, parameters: { 'inputs.sugar.rate_hz': 150 } },
    ],
    unchanged: [],
    cost: { brain_seconds: 0.8, input_events: 10480 },
    warnings: [
      {
        code: 'SYNTHETIC_WIRING',
        message:
          'The wiring was sampled from statistics of cell types. Its single connections were not measured, so nothing can be said of single neurons of a large type.',
      },
      {
        code: 'PARTIAL_WIRING',
        message:
          'The wiring holds 2313358 of the 2700513 pairs of neurons with 5 synapses or more in release 783; 14 % are missing. Neurons that stay silent may lack their connections.',
      },
      {
        code: 'SUBSTITUTED',
        message: 'This brain has no measured cells: cell types stand for those of @sugar, @MN9.',
      },
    ],
    cite: [
      'Dorkenwald et al. 2024, Neuronal wiring diagram of an adult brain, doi:10.1038/s41586-024-07558-y',
      'Schlegel et al. 2024, Whole-brain annotation and multi-connectome cell typing of Drosophila, doi:10.1038/s41586-024-07686-5',
      'Eckstein, Bates et al. 2024, Neurotransmitter classification from electron microscopy images at synaptic sites in Drosophila melanogaster, doi:10.1016/j.cell.2024.03.016',
      'Shiu et al. 2024, A Drosophila computational brain model reveals sensorimotor processing, doi:10.1038/s41586-024-07763-9',
      'Shiu et al. 2024, doi:10.1038/s41586-024-07763-9: Figures 1 to 3; list of release 630, neu_sugar in figures.ipynb of philshiu/Drosophila_brain_model',
      'Shiu et al. 2024, doi:10.1038/s41586-024-07763-9: Figures 1 to 4; its second neuron is the other one of its type in release 783',
    ],
  },
  lines: [
    {
      id: '5b0f091a34efee2f727e18293165d6e3',
      model: 'fafb-783-synthetic-corrected-d027c3ba3e06',
      wiring: 'synthetic',
      side_convention:
        'Left and right are those of the classification of FlyWire FAFB release 783, the fly\'s own. Shiu et al. 2024 name them the other way round: their "right" sugar neurons are on the left here.',
      experiment: {
        node_sets: {},
        inputs: {
          sugar: { node_set: '@sugar', module: 'poisson', rate_hz: 150, delay_ms: 0, duration_ms: 200 },
        },
        silence: [],
        duration_ms: 200,
        trials: 2,
        seed: 42,
        reports: { mn9: { node_set: '@MN9', type: 'rate', group_by: ['side'], start_ms: 0, end_ms: 200 } },
        sweep: [{ set: 'inputs.sugar.rate_hz', values: [50, 150] }],
        on_missing: 'error',
      },
      resolved: {
        'inputs.sugar': { neurons: 131, sides: { left: 67, right: 64 }, types: { LB3: 131 }, missing: [] },
        'reports.mn9': { neurons: 2, sides: { left: 1, right: 1 }, types: { CB0701: 2 }, missing: [] },
      },
    },
    {
      index: 0,
      parameters: { 'inputs.sugar.rate_hz': 50 },
      complete: true,
      spikes: { mean: 2390.5, sd: 37.5 },
      responding_neurons: { mean: 318.5, sd: 5.5 },
      synaptic_events: 114800,
      reports: {
        mn9: [
          {
            side: 'left',
            neurons: 1,
            responding: { mean: 1, sd: 0 },
            responding_any: 1,
            rate_hz: { mean: 55, sd: 5, trials: [50, 60] },
          },
          {
            side: 'right',
            neurons: 1,
            responding: { mean: 1, sd: 0 },
            responding_any: 1,
            rate_hz: { mean: 60, sd: 5, trials: [65, 55] },
          },
        ],
      },
    },
    {
      index: 1,
      parameters: { 'inputs.sugar.rate_hz': 150 },
      complete: true,
      spikes: { mean: 6811.5, sd: 0.5 },
      responding_neurons: { mean: 470.5, sd: 2.5 },
      synaptic_events: 309468,
      reports: {
        mn9: [
          {
            side: 'left',
            neurons: 1,
            responding: { mean: 1, sd: 0 },
            responding_any: 1,
            rate_hz: { mean: 85, sd: 10, trials: [75, 95] },
          },
          {
            side: 'right',
            neurons: 1,
            responding: { mean: 1, sd: 0 },
            responding_any: 1,
            rate_hz: { mean: 102.5, sd: 7.5, trials: [95, 110] },
          },
        ],
      },
    },
    {
      unchanged: [],
      cost: { brain_seconds: 0.8, input_events: 10361, synaptic_events: 424268 },
      warnings: [
        {
          code: 'SYNTHETIC_WIRING',
          message:
            'The wiring was sampled from statistics of cell types. Its single connections were not measured, so nothing can be said of single neurons of a large type.',
        },
        {
          code: 'PARTIAL_WIRING',
          message:
            'The wiring holds 2313358 of the 2700513 pairs of neurons with 5 synapses or more in release 783; 14 % are missing. Neurons that stay silent may lack their connections.',
        },
        {
          code: 'SUBSTITUTED',
          message: 'This brain has no measured cells: cell types stand for those of @sugar, @MN9.',
        },
      ],
      cite: [
        'Dorkenwald et al. 2024, Neuronal wiring diagram of an adult brain, doi:10.1038/s41586-024-07558-y',
        'Schlegel et al. 2024, Whole-brain annotation and multi-connectome cell typing of Drosophila, doi:10.1038/s41586-024-07686-5',
        'Eckstein, Bates et al. 2024, Neurotransmitter classification from electron microscopy images at synaptic sites in Drosophila melanogaster, doi:10.1016/j.cell.2024.03.016',
        'Shiu et al. 2024, A Drosophila computational brain model reveals sensorimotor processing, doi:10.1038/s41586-024-07763-9',
        'Shiu et al. 2024, doi:10.1038/s41586-024-07763-9: Figures 1 to 3; list of release 630, neu_sugar in figures.ipynb of philshiu/Drosophila_brain_model',
        'Shiu et al. 2024, doi:10.1038/s41586-024-07763-9: Figures 1 to 4; its second neuron is the other one of its type in release 783',
      ],
    },
  ],
  csv: 'condition,inputs.sugar.rate_hz,report,side,neurons,responding,rate_hz_mean,rate_hz_sd,trials\r\n0,50,mn9,left,1,1,55,5,2\r\n0,50,mn9,right,1,1,60,5,2\r\n1,150,mn9,left,1,1,85,10,2\r\n1,150,mn9,right,1,1,102.5,7.5,2\r\n',
  neurons: {
    model: 'fafb-783-synthetic-corrected-d027c3ba3e06',
    count: 2,
    types: { DNp01: 2 },
    sides: { left: 1, right: 1 },
    neurons: [
      {
        root_id: 'DNp01_L_0001',
        type: 'DNp01',
        class: '',
        sub_class: '',
        super_class: 'descending',
        side: 'left',
      },
      {
        root_id: 'DNp01_R_0001',
        type: 'DNp01',
        class: '',
        sub_class: '',
        super_class: 'descending',
        side: 'right',
      },
    ],
    suggestions: {},
  },
  nodeSet: {
    name: '@MN9',
    description: 'Motor neurons 9, which extend the proboscis.',
    sources: [
      'Shiu et al. 2024, A Drosophila computational brain model reveals sensorimotor processing, Nature 634:210, doi:10.1038/s41586-024-07763-9: Figures 1 to 4; its second neuron is the other one of its type in release 783',
    ],
    neurons: 2,
    published_count: 1,
    substitute_types: ['CB0701'],
    root_ids: ['720575940618238523', '720575940660219265'],
  },
  failures: {
    INVALID_PARAMETER: {
      error: 'trials must be an integer from 1 to 100, got 1000.',
      code: 'INVALID_PARAMETER',
      path: '/trials',
    },
    UNKNOWN_NEURONS: {
      error: 'The model lacks "LC44x" (near: LC44, LC14b, LC24, LC34, LC4).',
      code: 'UNKNOWN_NEURONS',
      path: '/inputs/loom/node_set',
      suggestions: ['LC44', 'LC14b', 'LC24', 'LC34', 'LC4'],
    },
    EMPTY_NODE_SET: {
      error:
        'The selector at /silence/0 must select at least one neuron, got none with {"type":"DNp01","side":"center"}.',
      code: 'EMPTY_NODE_SET',
      path: '/silence/0',
    },
    TOO_EXPENSIVE: {
      error:
        'The experiment has 1500 brain seconds (3 conditions x 100 trials); at most 600 are allowed. With 40 trials it would fit.',
      code: 'TOO_EXPENSIVE',
      path: '/trials',
    },
  },
};

import { requestGpuAdapter } from '../../src/engine/simulation/gpu/adapter.js';
import { describeWith } from '../support/requirements.js';
import { itEqualsTheOracle } from './gpu-parity.js';

describeWith(['gpu'], 'The GPU kernels, run through WebGPU, equal the oracle bit for bit', () => {
  beforeAll(async () => {
    const { name } = await requestGpuAdapter();
    expect(name).not.toBe('');
  });
  itEqualsTheOracle('webgpu', { random: 400, cutOut: 3000, steps: 306, recipes: 3 });
});

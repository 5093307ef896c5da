import { expectCutsToChangeNothing } from '../support/cut-trial.js';

describe('a trial in parts', () => {
  it('has the spikes, the membranes and the state of the whole, wherever it is cut and whoever computes', () => {
    const { spikes, stopped } = expectCutsToChangeNothing(40);
    expect(spikes).toBeGreaterThan(50_000);
    expect(stopped).toBeGreaterThan(5);
  });
});

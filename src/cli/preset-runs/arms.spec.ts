import { CodedError } from '../../errors.js';
import { armsOf, type ArmOptions } from './arms.js';

const options: ArmOptions = { stimulus: 'loom', duration: '200', intensity: '1.5', seed: '7', trials: '1' };

describe('the arms of an experiment', () => {
  it('is one for a plain call', () => {
    expect(armsOf(options)).toEqual([
      { experiment: { stimulus: 'loom', duration_ms: 200, intensity: 1.5 }, seeds: [7], silenced: [] },
    ]);
  });

  it('counts seeds up from the first', () => {
    expect(armsOf({ ...options, trials: '3' })[0]!.seeds).toEqual([7, 8, 9]);
  });

  it('are two for a comparison, alike but for what is compared', () => {
    const [intact] = armsOf(options);
    expect(armsOf({ ...options, compare: 'none' })).toEqual([
      intact,
      { ...intact, experiment: { ...intact!.experiment, stimulus: 'none' } },
    ]);
    expect(armsOf({ ...options, silence: ['LC4', 'DN*'] })).toEqual([
      intact,
      { ...intact, silenced: ['LC4', 'DN*'] },
    ]);
  });

  it.each([
    [{ stimulus: 'salt' }, '--stimulus should be one of sugar, loom, '],
    [{ compare: 'Loom' }, '--compare should be one of sugar, loom, '],
    [{ duration: '75' }, '--duration should be one of 50, 100, 150, 200, found "75"'],
    [{ duration: '100.0' }, '--duration should be'],
    [{ intensity: '2.01' }, '--intensity should be a number from 0 to 2, found "2.01"'],
    [{ intensity: '' }, '--intensity should be'],
    [{ intensity: '0x1' }, '--intensity should be'],
    [{ seed: '4294967296' }, '--seed should be an integer from 0 to 4294967295, found "4294967296"'],
    [{ seed: '1e3' }, '--seed should be'],
    [{ trials: '0' }, '--trials should be an integer from 1 to 1000, found "0"'],
    [{ seed: '4294967295', trials: '2' }, '2 trials from seed 4294967295 go beyond the largest seed'],
    [{ compare: 'sugar', silence: ['LC4'] }, '--compare and --silence'],
  ])('refuses %j and says what is allowed', (wrong, message) => {
    const refused = () => armsOf({ ...options, ...wrong });
    expect(refused).toThrow(CodedError);
    expect(refused).toThrow(message);
  });
});

import { Subject } from '../../src/tools/studies/subject.js';
import { deviations, meanResponses, UNTUNED_POPULATIONS } from '../../src/tools/studies/synthesis-check.js';
import { readConnectome } from '../../src/tools/cli/read-connectome.js';
import { compiledSimulators } from '../../src/tools/cli/simulators.js';
import { connectomeFile } from '../support/connectomes.js';
import { describeWith } from '../support/requirements.js';

/** With a cold cache both brains are compiled first. */
const TIMEOUT_MS = 300_000;
const SEEDS = [1, 2, 3, 4];
/** Tolerance without a promise: a brain far off here would be a poor model of the measured one. */
const UNTUNED_TOLERANCE_PERCENT = 25;

/** The short form of `npm run validate:synthesis`, on the one brain that is served. */
describeWith(['tables'], 'the default brain beside the tables its statistics come from', () => {
  const responsesOf = async (name: 'measured-corrected' | 'default') => {
    const { connectome } = await readConnectome(await connectomeFile(name));
    return meanResponses(new Subject(connectome, compiledSimulators()), SEEDS);
  };

  it(
    'answers each stimulus like them, within the tolerance of each',
    async () => {
      const [measured, synthetic] = [await responsesOf('measured-corrected'), await responsesOf('default')];
      const all = deviations(measured, synthetic);
      const outOfTolerance = all
        .map((each) => ({ ...each, tolerance: Math.min(each.tolerance, UNTUNED_TOLERANCE_PERCENT) }))
        .filter(({ difference, tolerance }) => !(Math.abs(difference) <= tolerance));
      expect(outOfTolerance).toEqual([]);
      expect(all.filter(({ tolerance }) => tolerance !== Infinity)).toHaveLength(15);
      expect(all.filter(({ tolerance }) => tolerance === Infinity)).toHaveLength(
        Object.keys(UNTUNED_POPULATIONS).length,
      );
      // Silence would be within many a tolerance in Hz: looming must drive the giant fibre.
      expect(all.find(({ name }) => name === 'loom escape')!.synthetic).toBeGreaterThan(80);
    },
    TIMEOUT_MS,
  );
});

/** docs/validation.md makes claims: its tables are those that the command writes, and its sentences follow from them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { RUNAWAY_NEURONS, tablesOf, withTables } from '../../src/cli/validation/document.js';
import { PATHWAYS, type Report } from '../../src/cli/validation/report.js';
import { shuffledWiring } from '../../src/cli/validation/studies.js';
import { openConnectome } from '../../src/connectome/format.js';
import { STIMULUS_IDS, type ChannelId } from '../../src/connectome/populations.js';
import { describeWith, TABLES_DIR } from '../support/requirements.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

const text = readFileSync(resolve('docs/validation.md'), 'utf8');
function opened(path: string) {
  return openConnectome(new Uint8Array(readFileSync(path)).buffer);
}

describe('withTables', () => {
  const place = '<!-- begin a -->\nold\n<!-- end a -->';

  it('puts each table in its place, again and again', () => {
    const once = withTables(`x\n${place}\ny`, { a: '| 1 |\n' });
    expect(once).toBe('x\n<!-- begin a -->\n\n| 1 |\n\n<!-- end a -->\ny');
    expect(withTables(once, { a: '| 1 |\n' })).toBe(once);
  });

  it('refuses a table without a place and a place without a table', () => {
    expect(() => withTables('', { a: '' })).toThrow('The document has no place for a.');
    expect(() => withTables(place, {})).toThrow('The document asks for a, which no study gives.');
  });
});

describe('shuffledWiring', () => {
  it('keeps the connections of every neuron in both directions, and deals out new targets', () => {
    const connectome = opened(smallConnectomeFile());
    const shuffled = shuffledWiring(connectome);
    expect(shuffled.rowStart).toEqual(connectome.rowStart);
    expect(shuffled.synapseCounts).toEqual(connectome.synapseCounts);
    expect(Array.from(shuffled.targets).sort()).toEqual(Array.from(connectome.targets).sort());
    expect(shuffled.targets).not.toEqual(connectome.targets);
  });
});

describeWith(['tables'], 'docs/validation.md', () => {
  let found: Report;

  beforeAll(() => {
    const command = [resolve('dist/cli/validate.js'), '--tables', TABLES_DIR, '--json'];
    found = JSON.parse(
      execFileSync(process.execPath, command, {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        maxBuffer: 2 ** 24,
      }),
      (_, value: unknown) => (value === null ? Infinity : value),
    ) as Report;
  }, 180_000);

  it('has the tables that the command writes today', () => {
    expect(text).toBe(withTables(text, tablesOf(found)));
  });

  it('is right that signs decide what odours recruit, and little else', () => {
    const responding = (rule: 'predicted' | 'corrected', id: string) =>
      found.responses[rule].find(({ stimulus }) => stimulus === id)!.responding.mean;
    for (const id of ['food', 'pheromone', 'heat']) {
      expect(responding('predicted', id)).toBeGreaterThan(4 * responding('corrected', id));
    }
    for (const id of ['sugar', 'loom', 'touch', 'song', 'colour', 'humid', 'bitter']) {
      expect(Math.abs(responding('predicted', id) / responding('corrected', id) - 1)).toBeLessThan(0.15);
    }
    const runaways = (rule: 'predicted' | 'corrected') =>
      found.glomeruli.filter((each) => each.responding[rule] > RUNAWAY_NEURONS).length;
    expect(runaways('predicted')).toBeGreaterThan(found.glomeruli.length / 2);
    expect(runaways('corrected')).toBe(0);
  });

  it('is right that more does more, without a jump', () => {
    expect(found.doses.map(({ stimulus }) => stimulus)).toEqual(STIMULUS_IDS);
    const courses = [
      ...found.doses.map(({ doses }) => doses.map(({ responding }) => responding.mean)),
      ...PATHWAYS.map(({ stimulus, channel }) =>
        found.doses.find((each) => each.stimulus === stimulus)!.doses.map(({ rates }) => rates[channel].mean),
      ),
    ];
    for (const course of courses) {
      expect(course[0]).toBe(0);
      expect(course).toEqual([...course].sort((a, b) => a - b));
      // The first dose makes the stimulated neurons themselves spike, most of them in many stimuli.
      const steps = course.slice(2).map((value, i) => value - course[i + 1]!);
      expect(Math.max(...steps)).toBeLessThan(course.at(-1)! / 3);
    }
  });

  it('is right about lesions and the shuffled wiring', () => {
    const rateWithout = (stimulus: string, ...types: string[]) =>
      found.lesions.find((each) => each.stimulus === stimulus && each.silenced.join() === types.join())!
        .rateHz.mean;
    const intact = rateWithout('loom');
    for (const type of ['LPLC2', 'LC4']) {
      expect(rateWithout('loom', type)).toBeLessThan(0.8 * intact);
      expect(rateWithout('loom', type)).toBeGreaterThan(0.5 * intact);
    }
    expect(rateWithout('loom', 'LPLC2', 'LC4')).toBe(0);
    const ofSugar = found.lesions.filter(({ stimulus }) => stimulus === 'sugar');
    expect(ofSugar).toHaveLength(41);
    for (const { rateHz } of ofSugar) expect(rateHz.mean).toBeGreaterThan(0.9 * rateWithout('sugar'));
    const meaningful = found.shuffled.responses.flatMap(({ channels }) =>
      channels.filter(
        ({ id, rateHz }) => ['escape', 'proboscis', 'stop', 'wing'].includes(id) && rateHz.mean >= 1,
      ),
    );
    expect(meaningful).toEqual([]);
  });

  it('is right about what is silent', () => {
    expect(found.spontaneous).toEqual({ predicted: 0, corrected: 0 });
    const driven = new Set(found.responses.corrected.flatMap(({ channels }) => channels.map(({ id }) => id)));
    expect(['backward', 'groom', 'courtship'].some((id) => driven.has(id as ChannelId))).toBe(false);
  });
});

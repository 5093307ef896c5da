/** docs/validation.md makes claims: its tables are those that the command writes, and its sentences follow from them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RUNAWAY_NEURONS, tablesOf, withTables } from '../../src/tools/studies/document.js';
import { PATHWAYS, type Report } from '../../src/tools/studies/report.js';
import type { MeanSd } from '../../src/experiments/kinds/mean-sd.js';
import { STIMULUS_IDS, type ChannelId } from '../../src/experiments/presets/populations.js';
import { runBuilt } from '../support/commands.js';
import { describeWith, TABLES_DIR } from '../support/requirements.js';

const text = readFileSync(resolve('docs/validation.md'), 'utf8');

describe('withTables', () => {
  const place = '<!-- begin a -->\nold\n<!-- end a -->';

  it('puts each table in its place, again and again', () => {
    const once = withTables(`x\n${place}\ny`, { a: '| 1 |\n' });
    expect(once).toBe('x\n<!-- begin a -->\n\n| 1 |\n\n<!-- end a -->\ny');
    expect(withTables(once, { a: '| 1 |\n' })).toBe(once);
  });

  it('refuses a table without a place and a place without a table', () => {
    expect(() => withTables('', { a: '' })).toThrow('The document has no place for a.');
    expect(() => withTables(place, {})).toThrow(
      'The document has a place for a, but there is no such table.',
    );
  });
});

describe('validate', () => {
  it.each([
    [
      'has no place for its tables',
      (path: string) => writeFileSync(path, '# Validation\n'),
      'The document has no place for published',
    ],
    ['cannot be read', () => {}, 'cannot be read: ENOENT'],
  ])('says that a document %s before it reads the tables', async (_, prepare, message) => {
    const path = join(mkdtempSync(join(tmpdir(), 'validate-')), 'document.md');
    prepare(path);
    const { status, stderr } = await runBuilt('validate', ['--tables', '/none', '--document', path]);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describeWith(['tables'], 'docs/validation.md', () => {
  let found: Report;

  beforeAll(() => {
    const command = [resolve('dist/tools/cli/run.js'), 'validate', '--tables', TABLES_DIR, '--json'];
    found = JSON.parse(
      execFileSync(process.execPath, command, {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        maxBuffer: 2 ** 24,
      }),
      (_, value: unknown) => (value === null ? Infinity : value),
    ) as Report;
  }, 300_000);

  it('has the tables that the command writes today', () => {
    expect(text).toBe(withTables(text, tablesOf(found)));
  });

  it('compares the published numbers of responding neurons with neurons that spike in any trial', () => {
    const ofSugar = found.published.filter(({ reads }) => reads.startsWith('responding neurons'));
    const [inAny, inOne] = ['in any', 'mean of'].map((words) =>
      ofSugar.filter(({ reads }) => reads.includes(words)),
    ) as [Report['published'], Report['published']];
    expect(inAny.map(({ published }) => published)).toEqual([45, 410, 455]);
    const counts = inAny.map(({ ours }) => ours as number);
    expect(text.replaceAll('\n', ' ')).toContain(
      `recruits ${counts[0]}, ${counts[1]} and ${counts[2]} neurons; the paper has 45, 410 and 455. ` +
        `At 100 and 200 Hz these are ${Math.floor(counts[1]! / 4.1)} % and ${Math.floor(counts[2]! / 4.55)} %`,
    );
    // No trial has more neurons than all of them together.
    inOne.forEach(({ ours }, at) => expect(counts[at]).toBeGreaterThan((ours as MeanSd).mean));
  });

  it('is right that the screen has the errors of the published model, and no others', () => {
    const screen = found.outcomes.find(({ asks }) => asks.startsWith('suffices'))!;
    expect(screen.agree).toHaveLength(96);
    expect(screen.onlyPredicted).toEqual(['kitty']);
    expect(screen.onlyFound).toEqual(['marge', 'phantom', 'tentacular', 'usnea']);
    const all = found.outcomes.flatMap((each) => [
      ...each.agree,
      ...each.onlyFound,
      ...each.onlyPredicted,
      ...each.missing,
    ]);
    expect(text).toContain(`These are ${all.length} of them`);
    const tested = (asked: Report['outcomes']) =>
      asked.flatMap((each) => [...each.agree, ...each.onlyFound, ...each.onlyPredicted]).length;
    const sums = (asked: Report['outcomes']) => ({
      here: asked.reduce((sum, { agree }) => sum + agree.length, 0),
      paper: asked.reduce((sum, { publishedRight }) => sum + publishedRight, 0),
      tested: tested(asked),
    });
    expect(sums(found.outcomes)).toEqual({ here: 135, paper: 140, tested: 153 });
    const others = found.outcomes.filter((each) => each !== screen);
    expect(sums(others)).toEqual({ here: 39, paper: 44, tested: 52 });
  });

  it('is right that signs decide the response to odours, and little else', () => {
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

  it('is right about lesions', () => {
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
    const share = (type: string) => rateWithout('sugar', type) / rateWithout('sugar');
    expect(share('CB0553')).toBeGreaterThan(0.5);
    expect(share('CB0553')).toBeLessThan(0.6);
    expect(Math.abs(share('CB0493') - 0.8)).toBeLessThan(0.02);
    for (const { silenced, rateHz } of ofSugar) {
      if (['CB0553', 'CB0493'].includes(silenced.join())) continue;
      expect(rateHz.mean).toBeGreaterThan(0.9 * rateWithout('sugar'));
    }
  });

  it('is right about the responses that are left in shuffled wiring', () => {
    const answer = (responses: Report['responses']['corrected'], stimulus: string) =>
      responses.find((each) => each.stimulus === stimulus)!;
    const silent = { mean: 0, sd: 0 };
    const rateIn = (responses: Report['responses']['corrected'], stimulus: string, channel: string) =>
      answer(responses, stimulus).channels.find(({ id }) => id === channel)?.rateHz ?? silent;
    const { outputs, inputs } = found.shuffled;
    const pathways = [
      ['sugar', 'stop'],
      ['sugar', 'proboscis'],
      ['loom', 'escape'],
      ['loom', 'wing'],
      ['song', 'escape'],
    ] as const;
    for (const [stimulus, channel] of pathways) {
      const { mean } = rateIn(found.responses.corrected, stimulus, channel);
      expect(mean).toBeGreaterThan(20);
      expect(rateIn(outputs.responses, stimulus, channel).mean).toBeLessThan(mean / 20);
      expect(rateIn(inputs.responses, stimulus, channel).mean).toBeLessThan(mean / 20);
    }
    const { mean, sd } = rateIn(inputs.responses, 'food', 'escape');
    expect(text).toContain(`${mean.toFixed(1)} ± ${sd.toFixed(1)} Hz`);
    for (const [stimulus, channel] of [
      ['sugar', 'turn_right'],
      ['loom', 'turn_right'],
    ] as const) {
      const byChance = rateIn(inputs.responses, stimulus, channel);
      expect(byChance.mean).toBeGreaterThan(1);
      expect(byChance.sd).toBeGreaterThan(byChance.mean);
    }
    const ratios = [outputs, inputs].flatMap(({ responses }) =>
      responses.map(({ stimulus, responding }) => ({
        stimulus,
        ratio: responding.mean / answer(found.responses.corrected, stimulus).responding.mean,
      })),
    );
    ratios.sort((a, b) => a.ratio - b.ratio);
    expect(ratios[0]!.stimulus).toBe('heat');
    expect(Math.abs(ratios[0]!.ratio - 1 / 8)).toBeLessThan(0.01);
    expect(ratios.at(-1)!.stimulus).toBe('bitter');
    expect(Math.abs(ratios.at(-1)!.ratio - 7 / 6)).toBeLessThan(0.02);
  });

  it('is right about silent stimuli', () => {
    expect(found.spontaneous).toEqual({ predicted: 0, corrected: 0 });
    const driven = new Set(found.responses.corrected.flatMap(({ channels }) => channels.map(({ id }) => id)));
    expect(['backward', 'courtship'].some((id) => driven.has(id as ChannelId))).toBe(false);
    const groom = found.responses.corrected.flatMap(({ channels }) =>
      channels.filter(({ id }) => id === 'groom').map(({ rateHz }) => rateHz.mean),
    );
    expect(Math.max(...groom)).toBeLessThan(1);
  });
});

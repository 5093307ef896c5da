import { readFileSync, writeFileSync } from 'node:fs';
import { PAPER } from '../../src/experiments/figures/palette.js';
import { escaped } from '../../src/experiments/figures/svg.js';
import { DOCUMENT, experiment, file, inDirectory, screenFile } from '../support/experiment-command.js';

describe('npm run experiment -- DOCUMENT.json --plot', () => {
  /** The plot, which has to be the same twice, with the answer as a table and as JSON. */
  const plotted = async (name: string, path: string) => {
    const [one, other] = [inDirectory(`${name}-1.svg`), inDirectory(`${name}-2.svg`)];
    const table = await experiment([path, '--plot', one]);
    const json = await experiment([path, '--plot', other, '--workers', '2', '--json']);
    expect([table.status, json.status]).toEqual([0, 0]);
    const svg = readFileSync(one, 'utf8');
    expect(svg).toBe(readFileSync(other, 'utf8'));
    expect(svg).toMatch(/^<svg [^]*<\/svg>\n$/);
    return { svg, table: table.stdout, json: json.stdout };
  };
  const marks = (svg: string, mark: string) => svg.split(mark).length - 1;

  it('writes PNG and PDF in the size that was asked for, with fonts of their own, equal each time', async () => {
    const size = ['--plot-width', '127', '--font-size', '7', '--colours', 'grey'];
    const files = async (ending: string, ...further: readonly string[]) => {
      const paths = [1, 2].map((at) => inDirectory(`sized-${at}.${ending}`));
      for (const path of paths) {
        expect(await experiment([file, '--plot', path, ...size, ...further])).toMatchObject({ status: 0 });
      }
      const [one, other] = paths.map((path) => readFileSync(path)) as [Buffer, Buffer];
      expect(one.equals(other)).toBe(true);
      return one;
    };
    const svg = (await files('svg', '--font', 'Gill Sans')).toString();
    const sized = /^<svg [^>]*width="([\d.]+)mm" height="([\d.]+)mm"[^>]*font-family="Gill Sans"/;
    const [, widthMm, heightMm] = sized.exec(svg)!.map(Number) as [number, number, number];
    expect(widthMm).toBeCloseTo(127, 0);
    expect(svg).not.toContain(PAPER.series[0]!);
    const png = await files('png', '--dpi', '200');
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    // The facts of the run travel along, and 200 dots per inch in dots per metre.
    const { id, model, experiment: complete } = JSON.parse((await experiment([file, '--json'])).stdout);
    for (const fact of [`Model\0\0\0\0\0${model}`, id, JSON.stringify(complete)]) {
      expect(png.includes(fact)).toBe(true);
      expect(svg).toContain(escaped(fact.replace(/^Model\0+/, 'Model: ')));
    }
    expect(png.readUInt32BE(png.indexOf('pHYs') + 4)).toBe(Math.round((200 * 1000) / 25.4));
    expect(Math.abs(png.readUInt32BE(16) - 1000)).toBeLessThanOrEqual(2);
    expect(png.readUInt32BE(20) / png.readUInt32BE(16)).toBeCloseTo(heightMm / widthMm, 2);
    const pdf = (await files('pdf')).toString('latin1');
    const [, width, height] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(pdf)!.map(Number);
    expect(width).toBeCloseTo((127 * 72) / 25.4, -1);
    expect(height! / width!).toBeCloseTo(heightMm / widthMm, 2);
    expect(pdf).toContain('Arimo-Regular');
    expect(pdf.match(/\/Type \/Page\b/g)).toHaveLength(1);
  });

  it('names the characters that the font lacks, and only in files that bring a font', async () => {
    const notes = async (ending: string, name: string) => {
      const path = inDirectory(`script.${ending}`);
      const { status, stderr } = await experiment([file, '--name', name, '--plot', path]);
      expect(status).toBe(0);
      return stderr.split('\n').filter((line) => /font/.test(line));
    };
    for (const ending of ['png', 'pdf']) {
      expect(await notes(ending, '神经 Größe')).toEqual([
        'The font lacks "神经", so the plot has boxes there: --font FILE takes another font.',
      ]);
      expect(await notes(ending, 'Größe ±')).toEqual([]);
    }
    expect(await notes('svg', '神经')).toEqual([]);
  });

  it('draws a numeric sweep as curves: a point for each value and group', async () => {
    const { svg, json } = await plotted('dose', file);
    const { conditions } = JSON.parse(json) as { conditions: { reports: Record<string, unknown> }[] };
    // The plot leaves out silent reports.
    const loud = ['walk', 'bins'].filter((report) =>
      conditions.some(({ reports }) =>
        (reports[report] as { rate_hz: { mean: number } }[]).some(({ rate_hz: { mean } }) => mean > 0),
      ),
    );
    expect(loud).toContain('walk');
    expect(marks(svg, '<circle ')).toBe(loud.length === 2 ? 3 * 3 : 3 * 2);
    expect(svg).toContain('Rate of sugar (Hz)');
    for (const text of ['left', 'right', ...loud.map((report) => `${report} (Hz)`)]) {
      expect(svg).toContain(`>${text}<`);
    }
  });

  it('shows and draws only the times of first spikes, in ms: a bar for each group that has one', async () => {
    const { sweep: _, ...document } = DOCUMENT;
    const reports = { first: { node_set: ['S_sugar', 'S_heat'], type: 'latency', group_by: ['type'] } };
    const path = inDirectory('latency.json');
    writeFileSync(path, JSON.stringify({ ...document, reports }));
    const { svg, table, json } = await plotted('latency', path);
    interface Latency {
      type: string;
      latency_ms: { mean: number; sd: number } | null;
      responding_trials: number;
    }
    const groups = (JSON.parse(json) as { conditions: [{ reports: { first: Latency[] } }] }).conditions[0]
      .reports.first;
    expect(groups.map(({ latency_ms: latency }) => latency === null)).toEqual([true, false]);
    for (const { type, latency_ms: latency, responding_trials: share } of groups) {
      const number = latency === null ? 'none' : `${latency.mean.toFixed(2)} ± ${latency.sd.toFixed(2)}`;
      const row = table.split('\n').find((line) => line.startsWith(`  ${type} `))!;
      expect(row.replace(/ +/g, ' ')).toContain(` ${100 * share} % ${number}`);
    }
    expect(table).toMatch(/^first +neurons responding +ms$/m);
    expect(marks(svg, 'class="bar"')).toBe(1);
    expect(svg).toContain('>First spike (ms)<');
  });

  it('draws two numeric axes as a heat map for each group: a cell for each pair of values', async () => {
    const durationsMs = [50, 100, 200];
    const grid = {
      ...DOCUMENT,
      trials: 2,
      reports: { walk: { node_set: 'C_walk', group_by: ['side'] } },
      sweep: [
        { set: 'inputs.sugar.rate_hz', values: [0, 100] },
        { set: 'duration_ms', values: durationsMs },
      ],
    };
    const gridFile = inDirectory('grid.json');
    writeFileSync(gridFile, JSON.stringify(grid));
    const { svg, json } = await plotted('grid', gridFile);
    const { conditions } = JSON.parse(json) as {
      conditions: { reports: { walk: { rate_hz: { mean: number } }[] } }[];
    };
    const highest = Math.max(
      ...conditions.flatMap(({ reports }) => reports.walk.map(({ rate_hz }) => rate_hz.mean)),
    );
    expect(highest).toBeGreaterThan(0);
    expect(marks(svg, 'class="cell"')).toBe(2 * 2 * durationsMs.length);
    for (const text of ['Rate of sugar (Hz)', 'Duration of a trial (ms)', 'walk left', 'walk right']) {
      expect(svg).toContain(`>${text}<`);
    }
    // The highest rate has the darkest colour, silence the lightest.
    const [silent, most] = [PAPER.heat[0]!, PAPER.heat.at(-1)!].map((colour) => {
      const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
      return `fill="rgb(${red}, ${green}, ${blue})"`;
    });
    expect(svg).toContain(silent);
    expect(svg).toContain(most);
  });

  it('draws a screen as ranked bars with the baseline', async () => {
    const { svg, table, json } = await plotted('screen', screenFile);
    const { conditions, unchanged } = JSON.parse(json) as { conditions: object[]; unchanged: object[] };
    expect(unchanged.length).toBeGreaterThan(0);
    expect(conditions.length).toBeGreaterThan(2);
    // Bars are differences from the baseline, so it has none.
    expect(marks(svg, 'class="bar"')).toBe(conditions.length - 1);
    expect(marks(svg, 'class="baseline"')).toBe(1);
    expect(table).toContain(`${unchanged.length} conditions were not run`);
    expect(table).toContain('In the order of the change of walk; the baseline is none.');
  });

  it('draws every spike, and the histograms, if nothing is swept', async () => {
    const single = { ...DOCUMENT, trials: 2, sweep: [] };
    const singleFile = inDirectory('single.json');
    writeFileSync(singleFile, JSON.stringify(single));
    const { svg, json } = await plotted('raster', singleFile);
    const { conditions } = JSON.parse(json) as {
      conditions: { reports: Record<'events' | 'spikes', { trial: number[]; root_id: string[] }> }[];
    };
    // One path for each report of events, which shows only the first trial if there are many neurons.
    const { events, spikes } = conditions[0]!.reports;
    const rows = [events, spikes].map(({ root_id: ids }) => 2 * new Set(ids).size);
    const shown = ({ trial }: { trial: number[] }) =>
      trial.filter((each) => each === 0 || Math.max(...rows) <= 120).length;
    const drawn = [...svg.matchAll(/class="spikes" d="([^"]+)"/g)].map(
      ([, path]) => path!.split('M').length - 1,
    );
    expect(drawn.reduce((sum, each) => sum + each, 0)).toBe(shown(events) + shown(spikes));
    expect(svg).toMatch(/S_sugar (left|right)/);
    expect(svg).toContain('bins (Hz)');
    expect(svg).toContain('potentials: C_walk left, membrane potential (mV)');
  });
});

/** The laboratory, by doing it: find neurons, put an experiment together, run it, read it, take it away. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Download, Page } from 'playwright-core';
import type { JobState } from '../../clients/typescript/src/client.js';
import { openPage, type PageOptions } from '../support/browser.js';
import { startGateway } from '../support/gateway.js';
import { describeWith, PANDAS } from '../support/requirements.js';
import { startReadyService } from '../support/service.js';
import { until } from '../support/service-process.js';
import { expectText, follow, readNames } from './page-reading.js';
import { axeFindings, serve } from './served-page.js';

const EXPERIMENTS = '/api/v2/experiments';
/** Most bytes that the laboratory may load, with a figure and the map of the brain. */
const LOADED_BYTES = 500_000;
/** Experiment on the small brain: its stimulus loom excites interneurons, and these its channels. */
const DOSE = {
  name: 'Dose of loom',
  inputs: { loom: { node_set: 'S_loom', rate_hz: 100 } },
  duration_ms: 100,
  trials: 3,
  seed: 7,
  reports: { escape: { node_set: 'C_escape', group_by: ['side'] }, walk: { node_set: ['C_walk:left'] } },
  sweep: [{ set: 'inputs.loom.rate_hz', values: [0, 50, 100, 200] }],
};
const SCREEN = {
  ...DOSE,
  name: 'Screen',
  reports: { escape: { node_set: 'C_escape' } },
  sweep: [{ each: ['S_loom', 'C_*'], group_by: ['type'], as: 'silence' }],
};

const GRID = {
  ...DOSE,
  name: 'Rate and window of loom',
  reports: { escape: DOSE.reports.escape },
  sweep: [
    { set: 'inputs.loom.rate_hz', values: [50, 100, 200] },
    { set: 'inputs.loom.duration_ms', values: [20, 40, 80] },
  ],
};
const EVENTS = {
  ...DOSE,
  name: 'Spikes',
  reports: {
    spikes: { node_set: ['C_escape', 'S_loom'], type: 'spikes' },
    given: { node_set: 'S_loom', type: 'inputs' },
  },
  sweep: [{ set: 'inputs.loom.rate_hz', values: [100, 200] }],
};

/** Members of all parts of the form. */
const EVERYTHING = {
  name: 'Everything',
  node_sets: { eyes: 'S_loom' },
  inputs: {
    loom: { node_set: 'eyes', rate_hz: 100 },
    given: { node_set: 'S_food', module: 'spikes', times_ms: [1] },
  },
  silence: ['C_stop', { node_set: 'C_walk', start_ms: 10, end_ms: 20 }],
  constants: { synapse_mv: 0.3 },
  connection_overrides: { cut: { source: '@all', target: 'C_escape', weight: 0.5 } },
  duration_ms: 40,
  trials: 2,
  reports: { escape: DOSE.reports.escape },
  sweep: [{ set: 'inputs.loom.rate_hz', values: [50, 100] }],
  controls: { shuffle: 'weights', count: 2 },
};

describeWith(['chromium'], 'the laboratory', () => {
  const served = serve();

  const pathOf = (document: object) => `/laboratory#document=${encodeURIComponent(JSON.stringify(document))}`;
  async function open(document?: object, options?: PageOptions) {
    const opened = await served.open(document === undefined ? '/laboratory' : pathOf(document), options);
    await opened.page.locator('#draft').waitFor();
    return opened;
  }
  const answerOf = async (document: object) => (await served.service.post(document, EXPERIMENTS)).json();
  const documentOn = async (page: Page) => JSON.parse(await page.locator('#document').inputValue());
  const priced = (page: Page) => expectText(page, '#cost', /brain seconds/);
  async function run(page: Page): Promise<void> {
    await page.locator('#run:enabled').click();
    await expectText(page, '#progress-text', /brain seconds/);
  }

  it('puts an experiment together from found neurons, runs it and shows the answer', async () => {
    const { page, problems } = await open({ duration_ms: 100, trials: 4 });
    await page.locator('#search-type').fill('S_loo');
    await expectText(page, '#search-status', /12 neurons of 1 type: 6 left, 6 right/);
    await page.getByRole('button', { name: 'Stimulate S_loom' }).click();
    await page.locator('#search-side').selectOption('left');
    await page.locator('#search-type').fill('C_escape');
    await expectText(page, '#search-status', /2 neurons of 1 type: 2 left/);
    await page.getByRole('button', { name: 'Read C_escape' }).click();
    await page.locator('#search-type').fill('C_walk');
    await page.getByRole('button', { name: 'Silence C_walk' }).click();
    await page.getByRole('textbox', { name: 'Rate (Hz)' }).fill('120');
    const expected = {
      inputs: { S_loom: { node_set: 'S_loom', rate_hz: 120 } },
      silence: ['C_walk:left'],
      duration_ms: 100,
      trials: 4,
      reports: { C_escape_left: { node_set: 'C_escape:left', group_by: ['side'] } },
    };
    expect(await documentOn(page)).toEqual(expected);
    await expectText(page, '#cost', /^1 condition of 4 trials: 0\.4 brain seconds/);
    await page.click('#preregister summary');
    await expectText(
      page,
      '#preregistration',
      /^We will run experiment [0-9a-f]{32} on model \S+, and read .+ from it\.$/,
    );
    await expectText(page, '#draft', /12 neurons: 6 left, 6 right/);

    await run(page);
    const answer = await answerOf(expected);
    const [group] = answer.conditions[0].reports.C_escape_left;
    const row = page.locator('#rates tbody tr');
    expect(await row.count()).toBe(1);
    expect(await row.locator('td').allInnerTexts()).toEqual([
      'C_escape_left',
      'left',
      `${shown(group.rate_hz.mean)} ± ${shown(group.rate_hz.sd)}`,
      String(Number(group.responding.mean.toFixed(1))),
      '2',
    ]);
    // One bar, and a ring for each trial.
    expect(await page.locator('#figure .bar').count()).toBe(1);
    expect(await page.locator('#figure circle').count()).toBe(4);
    expect(await page.locator('#identity').textContent()).toContain(answer.id);
    for (const { message } of answer.warnings) {
      expect(await page.locator('#warnings').innerText()).toContain(message);
    }
    expect(problems).toEqual([]);
    await page.close();
  });

  it('draws a sweep as dose curves with a band, and saves the figure', async () => {
    const { page, problems } = await open(DOSE);
    await priced(page);
    await run(page);
    const answer = await answerOf(DOSE);
    // A line for each group, in the panel of a report that is not silent; a band if trials differ.
    const lines = ['escape', 'walk'].flatMap((report) => {
      const groups: Group[][] = answer.conditions[0].reports[report].map((_: Group, at: number) =>
        answer.conditions.map(({ reports }: Answer) => reports[report]![at]!),
      );
      return groups.flat().some(({ rate_hz }) => rate_hz.mean > 0) ? groups : [];
    });
    const { id, model, wiring, side_convention: sides, experiment } = answer;
    const facts = [
      id,
      model,
      wiring,
      sides,
      'n = 3 trials of 100 ms',
      'Dose of loom',
      JSON.stringify(experiment),
    ];
    expect(await page.locator('#figure-sides').textContent()).toBe(sides);
    const spread = lines.filter((groups) => groups.some(({ rate_hz }) => rate_hz.sd > 0));
    expect(spread.length).toBeGreaterThan(1);
    expect(await page.locator('#figure path.mean').count()).toBe(lines.length);
    expect(await page.locator('#figure path.band').count()).toBe(spread.length);
    // Each point says its numbers; here of the left side, from the lowest dose to the highest.
    const titles = await page.locator('#figure circle title').allTextContents();
    const expected = answer.conditions.map(({ parameters, reports }: Answer) => {
      const { mean, sd } = reports['escape']!.find(({ side }) => side === 'left')!.rate_hz;
      return `left at ${parameters['inputs.loom.rate_hz']}: ${shown(mean)} ± ${shown(sd)} Hz`;
    });
    expect(titles.slice(0, 4)).toEqual(expected);

    for (const format of ['csv', 'arrow'] as const) {
      const saved = await download(page, format);
      const response = await served.service.post(DOSE, `${EXPERIMENTS}?format=${format}`);
      expect(saved.name).toMatch(new RegExp(`^dose-of-loom-[0-9a-f]{8}\\.${format}$`));
      expect(table(saved.bytes).equals(Buffer.from(await response.arrayBuffer()))).toBe(true);
      if (format === 'csv') {
        const heading = saved.bytes.toString().split('\r\n').slice(0, 7).join('\n');
        for (const fact of facts) expect(heading).toContain(fact);
      }
    }
    const svg = await download(page, 'svg');
    const drawn = await page.evaluate((source) => {
      const parsed = new DOMParser().parseFromString(source, 'image/svg+xml');
      return { root: parsed.documentElement.tagName, means: parsed.querySelectorAll('path.mean').length };
    }, svg.bytes.toString());
    expect(drawn).toEqual({ root: 'svg', means: lines.length });
    const text = await page.evaluate(
      (source) => new DOMParser().parseFromString(source, 'image/svg+xml').documentElement.textContent,
      svg.bytes.toString(),
    );
    for (const fact of facts) expect(text).toContain(fact);
    const png = await download(page, 'png');
    expect(png.bytes.subarray(1, 4).toString()).toBe('PNG');
    // 183 mm at 300 dots per inch.
    const pixels = Math.round((183 / 25.4) * 300);
    expect(png.bytes.readUInt32BE(16)).toBe(pixels);
    for (const fact of facts) expect(png.bytes.includes(fact)).toBe(true);
    // A browser that refuses chunks with a wrong checksum reads it.
    const width = await page.evaluate(async (base64) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      return image.naturalWidth;
    }, png.bytes.toString('base64'));
    expect(width).toBe(pixels);
    const report = (await download(page, 'html')).bytes.toString();
    for (const fact of [id, 'Dose of loom']) expect(report).toContain(fact);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('saves figures in the width, text, font and colours of the reader, also as PDF', async () => {
    const { page, problems } = await open(DOSE);
    await priced(page);
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(request.url()));
    await run(page);
    // The writer of PDF and its fonts come when they are needed.
    expect(loaded.filter((url) => /pdf|[.]ttf/i.test(url))).toEqual([]);
    await page.getByText('Size, font and colours of the figure').click();
    await page.getByLabel('Width').selectOption('89');
    await page.getByLabel('Text').selectOption('7');
    await page.getByLabel('Font').selectOption('Times New Roman');
    await page.getByLabel('Colours').selectOption('grey');
    const pdf = (await download(page, 'pdf')).bytes;
    const [, width, height] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/
      .exec(pdf.toString('latin1'))!
      .map((points) => (Number(points) * 25.4) / 72) as [number, number, number];
    expect(Math.abs(width - 89)).toBeLessThan(0.2);
    expect(pdf.toString('latin1')).toContain('Arimo-Regular');
    const svg = (await download(page, 'svg')).bytes.toString();
    const size = /width="([\d.]+)mm" height="([\d.]+)mm"/.exec(svg)!.slice(1).map(Number);
    expect(Math.abs(size[0]! - width) + Math.abs(size[1]! - height)).toBeLessThan(0.1);
    expect(svg).not.toContain('#b93c0a');
    expect(svg).toMatch(/font-family="[^"]*Times New Roman/);
    expect((await download(page, 'pdf')).bytes.equals(pdf)).toBe(true);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('draws a histogram in time', async () => {
    const binned = {
      ...DOSE,
      sweep: undefined,
      reports: { escape: { node_set: 'C_escape', type: 'histogram', bin_ms: 20 } },
    };
    const { page } = await open(binned);
    await run(page);
    const [group]: Group[] = (await answerOf(binned)).conditions[0].reports.escape;
    const titles = await page.locator('#figure .bin title').allTextContents();
    expect(titles).toEqual(
      group!.bins_hz!.map((rateHz, bin) => `${20 * bin} to ${20 * bin + 20} ms: all ${shown(rateHz)} Hz`),
    );
    expect(await page.locator('#figure .stimulus').count()).toBe(1);
    // The numbers are those of the figure.
    const table = await served.service.post(binned, `${EXPERIMENTS}?format=csv&table=histogram`);
    expect((await savedTable(page)).toString()).toBe(await table.text());
    await page.close();
  });

  it('draws two swept parameters as a heat map that is read by pointing, tapping and with the keyboard', async () => {
    const { page, problems } = await open(GRID, { width: 1440 });
    await run(page);
    const { conditions }: { conditions: Answer[] } = await answerOf(GRID);
    const sentence = ({ parameters, reports }: Answer, side: string) => {
      const { mean, sd } = reports['escape']!.find((group) => group.side === side)!.rate_hz;
      const at = `rate of loom ${parameters['inputs.loom.rate_hz']} Hz, window of loom ${parameters['inputs.loom.duration_ms']} ms`;
      return `escape ${side}: ${shown(mean)} ± ${shown(sd)} Hz (${at})`;
    };
    const expected = ['left', 'right'].flatMap((side) => conditions.map((each) => sentence(each, side)));
    const titles = await page.locator('#figure .cell title').allTextContents();
    expect([...titles].sort()).toEqual([...expected].sort());

    // The longest window is on top, the highest rate on the right.
    const place = async (rateHz: number, windowMs: number) =>
      (await page
        .locator(`#figure .cell[aria-label$="${rateHz} Hz, window of loom ${windowMs} ms)"]`)
        .first()
        .boundingBox())!;
    const [low, high] = [await place(50, 20), await place(200, 80)];
    expect(high.x).toBeGreaterThan(low.x);
    expect(high.y).toBeLessThan(low.y);

    // The loudest cell has the last colour of the scale.
    const loudest = await page.evaluate(() => {
      const rateOf = (cell: Element) => Number(/: ([\d.]+) ±/.exec(cell.textContent!)![1]);
      const cells = [...document.querySelectorAll('#figure .cell')].sort((a, b) => rateOf(b) - rateOf(a));
      return cells[0]!.getAttribute('fill');
    });
    const last = await page.locator('#figure stop').last().getAttribute('stop-color');
    expect(loudest).toBe(
      `rgb(${last!
        .match(/[0-9a-f]{2}/g)!
        .map((hex) => Number.parseInt(hex, 16))
        .join(', ')})`,
    );

    const reading = () => page.locator('#figure-reading').innerText();
    const cells = page.getByRole('grid', { name: 'escape left' }).getByRole('gridcell');
    expect(await cells.count()).toBe(conditions.length);
    await cells.nth(1).hover();
    expect(await reading()).toBe(await cells.nth(1).getAttribute('aria-label'));
    // A tap is a click; from there the arrow keys go on, and stop at the edge.
    await cells.first().click();
    const read = [await reading()];
    for (const key of ['ArrowRight', 'ArrowDown', 'End', 'ArrowRight', 'Home', 'ArrowUp', 'ArrowUp']) {
      await page.keyboard.press(key);
      read.push(await reading());
    }
    const at = (rateHz: number, windowMs: number) =>
      sentence(
        conditions.find(
          ({ parameters }) =>
            parameters['inputs.loom.rate_hz'] === rateHz &&
            parameters['inputs.loom.duration_ms'] === windowMs,
        )!,
        'left',
      );
    expect(read).toEqual([
      at(50, 80),
      at(100, 80),
      at(100, 40),
      at(200, 40),
      at(200, 40),
      at(50, 40),
      at(50, 80),
      at(50, 80),
    ]);
    // One stop of the Tab key for each map.
    await page.keyboard.press('Tab');
    expect(await reading()).toMatch(/^escape right/);
    expect(await axeFindings(page, '#outcome')).toEqual([]);

    const svg = (await download(page, 'svg')).bytes.toString();
    expect(svg.split('class="cell"').length - 1).toBe(2 * conditions.length);
    expect((await download(page, 'png')).bytes.subarray(1, 4).toString()).toBe('PNG');
    // Lines show the same numbers and their spread.
    await page.getByLabel('Show').selectOption('mean rate as curves');
    expect(await page.locator('#figure path.mean').count()).toBe(6);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('leaves the focus at the cell that has it while others come', async () => {
    const { page } = await open(GRID);
    await priced(page);
    // The answer stops after its first condition until the page is told to go on.
    await page.evaluate(() => {
      const usual = window.fetch;
      window.fetch = async (...request) => {
        const answer = await usual(...request);
        if (!answer.headers.get('content-type')!.includes('ndjson')) return answer;
        const lines = (await answer.text()).split(/(?<=\n)/);
        const first = lines.findIndex((line) => line.startsWith('{"index"')) + 1;
        const { readable: body, writable } = new TextEncoderStream();
        const writer = writable.getWriter();
        void writer.write(lines.slice(0, first).join(''));
        const more = () => void writer.write(lines.slice(first).join('')).then(() => writer.close());
        addEventListener('more', more, { once: true });
        return new Response(body, answer);
      };
    });
    await page.locator('#run:enabled').click();
    const cells = page.locator('#figure .cell');
    await cells.first().focus();
    expect(await cells.count()).toBe(2);
    const label = await cells.first().getAttribute('aria-label');
    await page.evaluate(() => dispatchEvent(new Event('more')));
    await expectText(page, '#progress-text', /brain seconds/);
    expect(await cells.count()).toBe(2 * 9);
    expect(await page.evaluate(() => document.activeElement!.getAttribute('aria-label'))).toBe(label);
    await page.close();
  });

  it('draws spikes and input events as a raster, and saves their tables', async () => {
    const { page, problems } = await open(EVENTS);
    await run(page);
    const [condition, other] = (await answerOf(EVENTS)).conditions as Events[];
    const { spikes, given } = condition!.reports;
    const lines = async (at: number) =>
      (await page.locator('#figure path.spikes').nth(at).getAttribute('d'))!.split('M').length - 1;
    // Input events come before spikes; all trials are shown, as there are few neurons.
    await expectText(page, '#figure', new RegExp(`given: ${given.trial.length} input events of 12 neurons`));
    await expectText(page, '#figure', /S_loom left/);
    expect(await lines(0)).toBe(given.trial.length);
    expect(await lines(1)).toBe(spikes.trial.length);
    await page.locator('[data-choice=trial]').selectOption('1');
    const ofTrial = spikes.trial.filter((trial) => trial === 1).length;
    expect(await lines(1)).toBe(ofTrial);
    expect(await page.locator('#figure svg').getAttribute('aria-label')).toContain(`: ${ofTrial} spikes of`);
    await page.locator('[data-choice=trial]').selectOption('all');
    await page.locator('[data-choice=beside]').selectOption('rate of loom 200 Hz');
    expect(await lines(1)).toBe(other!.reports.spikes.trial.length);
    // Pointing at a band shows its neurons.
    await page.locator('#figure rect:has(title)').first().hover();
    await expectText(page, '#figure-reading', /^S_loom left$/);
    expect(await axeFindings(page, '#outcome')).toEqual([]);
    for (const format of ['csv', 'arrow'] as const) {
      const response = await served.service.post(EVENTS, `${EXPERIMENTS}?format=${format}&table=spikes`);
      const { bytes } = await download(page, format);
      expect(table(bytes).equals(Buffer.from(await response.arrayBuffer()))).toBe(true);
    }
    expect(problems).toEqual([]);
    await page.close();
  });

  it('ranks the groups of a screen by the change that each makes', async () => {
    const { page } = await open(SCREEN);
    await run(page);
    const { conditions, unchanged } = await answerOf(SCREEN);
    const rateOf = ({ reports }: Answer) => reports['escape']![0]!.rate_hz.mean;
    const baseline = rateOf(conditions[0]);
    const changes = conditions.slice(1).map((condition: Answer) => Math.abs(rateOf(condition) - baseline));
    // It opens on paired differences.
    expect(await page.locator('#figure .bar').count()).toBe(conditions.length - 1);
    await page.getByLabel('Show').selectOption('mean rate');
    const titles = await page.locator('#figure .bar title').allTextContents();
    expect(titles.length).toBe(conditions.length);
    expect(titles[0]).toMatch(/^nothing silenced: /);
    const shownChanges = titles
      .slice(1)
      .map((title) => Math.abs(Number(/: ([\d.]+) ±/.exec(title)![1]) - baseline));
    expect(Math.max(...shownChanges)).toBeCloseTo(shownChanges[0]!, 1);
    expect(shownChanges[0]).toBeCloseTo(Math.max(...changes), 0);
    expect(await page.locator('#figure .baseline').count()).toBe(1);
    if (unchanged.length > 0)
      await expectText(page, '#figure-note', new RegExp(`not run: ${unchanged.length},`));
    await page.close();
  });

  it('draws a screen without a report that selects nothing in this brain', async () => {
    const reports = { absent: { node_set: 'Z_absent' }, ...SCREEN.reports };
    const { page, problems } = await open({ ...SCREEN, reports, on_missing: 'skip' });
    await run(page);
    expect(await page.locator('#figure .bar').count()).toBeGreaterThan(0);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('says that results cannot be drawn, and lets the next experiment run', async () => {
    const { page, problems } = await open(DOSE);
    await page.evaluate(() => {
      DOMParser.prototype.parseFromString = () => {
        throw new Error('No parser.');
      };
    });
    await run(page);
    await expectText(page, '#figure-note', /^These results cannot be drawn: No parser\.$/);
    await page.locator('#run:enabled').waitFor();
    expect(problems.length).toBeGreaterThan(0);
    await page.close();
  });

  it('keeps form and document the same, whichever is changed', async () => {
    const { page } = await open(DOSE);
    const text = page.locator('#document');
    await page.getByRole('textbox', { name: 'Trials' }).fill('6');
    expect((await documentOn(page)).trials).toBe(6);
    await text.fill(JSON.stringify({ ...DOSE, trials: 8, silence: [{ type: 'C_walk', side: 'left' }] }));
    expect(await page.getByRole('textbox', { name: 'Trials' }).inputValue()).toBe('8');
    await page.getByRole('button', { name: 'Remove {"type":"C_walk","side":"left"}' }).click();
    expect((await documentOn(page)).silence).toBeUndefined();
    // Members without a control pass through the form unharmed.
    const report = { ...DOSE.reports.escape, start_ms: { early: 20 }, note: 'mine' };
    await text.fill(JSON.stringify({ ...DOSE, on_missing: 'skip', reports: { escape: report } }));
    await expectText(page, '#draft', /In the document: start_ms {"early":20}, note "mine"/);
    await page.getByRole('textbox', { name: 'Seed' }).fill('9');
    expect(await documentOn(page)).toEqual({
      ...DOSE,
      on_missing: 'skip',
      reports: { escape: report },
      seed: 9,
    });
    await text.fill(JSON.stringify(DOSE));
    // The parameter of a sweep contains the name of an input.
    await page.getByRole('group', { name: 'Input loom' }).getByRole('textbox', { name: 'Name' }).fill('dark');
    await page.keyboard.press('Tab');
    expect((await documentOn(page)).sweep[0].set).toBe('inputs.dark.rate_hz');
    await page.close();
  });

  it('says that a text is no document, and goes back', async () => {
    const { page } = await open(DOSE);
    const before = await documentOn(page);
    await page.locator('#document').fill('{"trials": 5, ');
    await expectText(page, '#document-state', /^This is no JSON/);
    expect(await page.locator('#run').isDisabled()).toBe(true);
    expect(await page.getByRole('textbox', { name: 'Trials' }).isDisabled()).toBe(true);
    await page.locator('#document').fill('{"trials": 5, "trials": 6}');
    await expectText(page, '#document-state', /^The document has the member trials twice/);
    expect(await page.locator('#run').isDisabled()).toBe(true);
    const nested = { ...DOSE, reports: { escape: { node_set: [['C_escape'], ['C_walk']] } } };
    await page.locator('#document').fill(JSON.stringify(nested));
    await run(page);
    const { id } = await answerOf(nested);
    expect(await page.locator('#identity').textContent()).toContain(id);
    await page.locator('#document').fill(JSON.stringify(before));
    await page.locator('#document').fill('[]');
    await expectText(page, '#document-state', /^A document is an object/);
    await page.getByRole('button', { name: 'Go back to what the form has' }).click();
    expect(await documentOn(page)).toEqual(before);
    await page.close();
  });

  it('marks a refused value at its control, and mends it by a suggestion', async () => {
    const wrong = { ...DOSE, reports: { escape: { node_set: ['C_walk', 'C_escap:left'] } } };
    const { page } = await open(wrong);
    const { error, suggestions } = await (
      await served.service.post(wrong, `${EXPERIMENTS}?dry_run=true`)
    ).json();
    await expectText(page, '#fault p', /lacks/);
    expect(await page.locator('#fault p').first().innerText()).toBe(error);
    expect(suggestions).toContain('C_escape');
    expect(await page.locator('#run').isDisabled()).toBe(true);
    // The fault stands at the name, and belongs to its control.
    const place = page.locator('[data-path="/reports/escape/node_set/1"]');
    expect(await place.locator('select').getAttribute('aria-describedby')).toBe('fault');
    await page.locator('#fault').getByRole('button', { name: 'C_escape', exact: true }).click();
    await priced(page);
    expect((await documentOn(page)).reports.escape.node_set).toEqual(['C_walk', 'C_escape:left']);
    expect(await page.locator('#fault').count()).toBe(0);

    // Half a number is no fault: it shows when the field is left.
    await page.getByRole('textbox', { name: 'Rate (Hz)' }).fill('900');
    await page.waitForResponse((answer) => answer.status() === 400);
    expect(await page.locator('#fault').count()).toBe(0);
    await page.keyboard.press('Tab');
    await expectText(page, '#fault', /^Rate \(Hz\) of input loom must be .* 0 to 500, got 900/);
    expect(await page.getByRole('textbox', { name: 'Rate (Hz)' }).getAttribute('aria-invalid')).toBe('true');
    await page.getByRole('textbox', { name: 'Rate (Hz)' }).fill('90');
    await priced(page);

    // A member that does not exist has no control; its name is mended, not its value.
    await page.locator('#document').fill(JSON.stringify({ ...DOSE, trails: 5, trials: undefined }));
    await expectText(page, '#other-fault', /may have the members/);
    await page.locator('#other-fault').getByRole('button', { name: 'trials', exact: true }).click();
    await priced(page);
    expect((await documentOn(page)).trials).toBe(5);
    await page.close();
  });

  it('says that numbers have a decimal point', async () => {
    const { page } = await open(DOSE);
    for (const [name, typed] of [
      ['Rate (Hz)', '0,5'],
      ['Values', '0,5 1,5'],
    ] as const) {
      const field = page.getByRole('textbox', { name });
      const usual = await field.inputValue();
      await field.fill(typed);
      await page.keyboard.press('Tab');
      await expectText(page, '#fault', new RegExp(`got "${typed}".*\\. Numbers have a decimal point\\.`));
      expect(await field.inputValue()).toBe(typed);
      await field.fill(usual);
      await priced(page);
    }
    await page.close();
  });

  it('shows the neurons of the experiment while the browser translates the page', async () => {
    const { page } = await open({ ...DOSE, trials: 2 });
    await expectText(page, '.resolved', /^12 neurons/);
    await page.evaluate(translate);
    const list = page.locator('[data-path="/inputs/loom/node_set"]');
    const add = list.locator('.add > input');
    await add.fill('C_stop');
    await add.press('Enter');
    await expectText(page, '.resolved', /2 types/);
    await list.getByRole('button', { name: 'Remove S_loom' }).click();
    await page.waitForFunction(
      () => !/2 types|12 neurons/.test(document.querySelector('.resolved')!.textContent!),
    );
    expect(await list.locator('li > span').allInnerTexts()).toEqual(['C_stop']);
    await page.close();
  });

  it('has controls for the last of many names, and says how many others there are', async () => {
    const silence = Array.from({ length: 2000 }, (_, at) => `T${at}`);
    const { page } = await open({ ...DOSE, silence });
    const list = page.locator('.neurons[data-path="/silence"]');
    await expectText(page, '.neurons[data-path="/silence"]', /1\u202f900 more before them, in the document/);
    expect(await list.locator('li:not(.add)').count()).toBe(100);
    const add = list.locator('.add > input');
    // The fault is of a name without a control.
    await expectText(page, '#fault', /T0/);
    expect(await add.getAttribute('aria-describedby')).toBe('fault');
    await add.press('Backspace');
    await list.getByRole('button', { name: 'Remove T1899' }).click();
    expect((await documentOn(page)).silence).toEqual(silence.filter((name) => !/^T1[89]99$/.test(name)));
    await page.close();
  });

  it.each([
    [320, 256],
    [320, 568],
    [1280, 900],
  ])('covers no field that has the focus, %d by %d', async (width, height) => {
    const { page } = await open(DOSE, { width, height });
    await priced(page);
    await page.locator('#new').focus();
    const covered: string[] = [];
    for (;;) {
      await page.keyboard.press('Tab');
      const { isOver, isFree, name } = await page.evaluate(() => {
        const focused = document.activeElement!;
        const { left, top, height } = focused.getBoundingClientRect();
        const seen = document.elementFromPoint(left + 8, top + height / 2);
        const isFree = focused.contains(seen) || seen?.closest('label')?.contains(focused);
        return {
          isOver: focused.closest('#draft-fields, #draft-actions') === null,
          isFree: isFree === true,
          name: focused.getAttribute('name') ?? focused.textContent,
        };
      });
      if (isOver) break;
      if (!isFree) covered.push(name!);
    }
    expect(covered).toEqual([]);
    await page.close();
  });

  it('prints the whole result in dark ink', async () => {
    const { page } = await open(DOSE);
    await run(page);
    await page.emulateMedia({ media: 'print' });
    const printed = await page.evaluate(() => {
      const cut = ['#outcome', '.scroll', '#command'].filter((each) => {
        const { clientHeight, scrollHeight } = document.querySelector(each)!;
        return scrollHeight > clientHeight;
      });
      const position = getComputedStyle(document.querySelector('#run-bar')!).position;
      return { cut, position, colour: getComputedStyle(document.body).color };
    });
    expect(printed).toEqual({ cut: [], position: 'static', colour: 'rgb(28, 30, 36)' });
    await page.close();
  });

  it('speaks the beginning and the end of a run, and not each count', async () => {
    const { page } = await open(DOSE);
    await priced(page);
    await page.evaluate(() => {
      const spoken: string[] = [];
      const status = document.querySelector('#progress-text [role=status]')!;
      new MutationObserver(() => spoken.push(status.textContent!)).observe(status, { childList: true });
      Object.assign(globalThis, { spoken });
    });
    await run(page);
    const spoken = await page.evaluate(() => (globalThis as unknown as { spoken: string[] }).spoken);
    expect(spoken).toEqual(['Running:', expect.stringMatching(/^4 conditions of 3 trials/)]);
    await page.close();
  });

  it('says that an experiment is too expensive before anything is run', async () => {
    const rates = { set: 'inputs.loom.rate_hz', from: 0, to: 100, step: 0.1 };
    const { page } = await open({ ...DOSE, duration_ms: 5000, trials: 100, sweep: [rates] });
    await expectText(page, '#fault', /500500 brain seconds.*at most 300000.*With 59 trials/);
    expect(await page.getByRole('textbox', { name: 'Trials' }).getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('#run').isDisabled()).toBe(true);
    await page.close();
  });

  it('stops an experiment, keeps its conditions, and goes on with the next one', async () => {
    const long = {
      ...DOSE,
      duration_ms: 2000,
      trials: 50,
      sweep: [{ set: 'inputs.loom.rate_hz', from: 1, to: 25, step: 1 }],
    };
    const service = await startReadyService({
      EXPERIMENT_BRAIN_SECONDS: '10000',
      EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0',
    });
    const { page } = await openPage(served.browser, service, pathOf(long));
    await priced(page);
    await page.locator('#run').click();
    await page.waitForFunction(() => document.querySelectorAll('#rates tbody tr').length >= 3);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expectText(page, '#progress-text', /^Stopped after \d+ of 25 conditions/);
    const stopped = Number(/after (\d+)/.exec(await page.locator('#progress-text').innerText())![1]);
    expect(stopped).toBeLessThan(25);
    const request = page.waitForRequest((each) => each.url().includes('format=ndjson'));
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    expect(await page.locator('#run').isDisabled()).toBe(true);
    expect(new URL((await request).url()).searchParams.get('from')).toBe(String(stopped));
    await expectText(page, '#progress-text', /^25 conditions/);
    const whole = await (await service.post(long, `${EXPERIMENTS}?format=csv`)).text();
    expect((await savedTable(page)).toString()).toBe(whole);
    await page.close();
    await service.stop();
  });

  it('puts the pages of an answer together, of a request and of a job', async () => {
    const { conditions, experiment } = await answerOf(EVENTS);
    // The limit is the rows of the largest trial, so that no page has a whole condition.
    const rows = (conditions as Events[]).flatMap(({ reports }) =>
      Array.from({ length: experiment.trials as number }, (_, trial) =>
        Object.values(reports).reduce(
          (sum, table) => sum + (table.trial?.filter((each) => each === trial).length ?? 0),
          0,
        ),
      ),
    );
    const service = await startReadyService({}, { limits: { jsonRows: Math.max(...rows) } });
    expect((await (await service.post(EVENTS, EXPERIMENTS)).json()).next_page).toMatch(/^0\.[1-9]$/);
    const whole = await served.service.post(EVENTS, `${EXPERIMENTS}?format=csv&table=spikes`);
    const csv = await whole.text();
    for (const asJob of [false, true]) {
      const { page } = await openPage(served.browser, service, pathOf(EVENTS));
      await priced(page);
      await page.getByLabel('Run as a job').setChecked(asJob);
      await priced(page);
      await page.locator('#run:enabled').click();
      await expectText(page, '#progress-text', /brain seconds/);
      expect((await savedTable(page)).toString()).toBe(csv);
      await page.close();
    }
    await service.stop();
  });

  it('runs an experiment that is too large for a request as a job, which a link shows as well', async () => {
    const large = { ...DOSE, duration_ms: 5000, trials: 40 };
    const { page, problems } = await open(large);
    await expectText(page, '#too-large', /so it runs as a job.*800 brain seconds.*at most 600/);
    expect(await page.getByLabel('Run as a job').isChecked()).toBe(true);
    await expectText(page, '#cost', /800 brain seconds/);
    // An experiment that fits a request becomes one again.
    await page.getByRole('textbox', { name: 'Trials' }).fill('20');
    await expectText(page, '#cost', /400 brain seconds/);
    expect(await page.getByLabel('Run as a job').isChecked()).toBe(false);
    await page.getByRole('textbox', { name: 'Trials' }).fill('40');
    await expectText(page, '#too-large', /so it runs as a job/);
    await page.locator('#run').click();
    await page.waitForFunction(() => location.hash.startsWith('#job='));
    const address = await page.evaluate(() => location.href);
    // The id of the job is enough.
    const second = await served.open(`/laboratory#job=${jobIn(address)}`);
    for (const each of [page, second.page]) await expectText(each, '#progress-text', /^4 conditions of 40/);
    const job = jobIn(address);
    const results = await served.service.get(`${EXPERIMENTS}/${job}/results?format=csv`);
    expect((await savedTable(second.page)).toString()).toBe(await results.text());
    // The document of the job is on the page that only had its link.
    expect(await documentOn(second.page)).toMatchObject(large);
    // Another document in the form leaves the only link to the job in the history.
    await page.getByRole('textbox', { name: 'Seed' }).fill('7');
    await page.waitForFunction(() => location.hash.startsWith('#document='));
    await page.goBack();
    expect(await page.evaluate(() => location.href)).toBe(address);
    await expectText(page, '#progress-text', /^4 conditions of 40/);
    expect([...problems, ...second.problems]).toEqual([]);
    await second.page.close();
    await page.close();
  });

  it('ends a job', async () => {
    const { page } = await open({ ...DOSE, duration_ms: 5000, trials: 100, sweep: undefined });
    await page.getByLabel('Run as a job').check();
    await page.locator('#run:enabled').click();
    await page.getByRole('button', { name: 'End the job' }).click();
    await expectText(page, '#progress-text', /^Stopped/);
    const job = jobIn(await page.evaluate(() => location.href));
    // The page does not wait for the answer of the service.
    const state = async () => (await (await served.service.get(`${EXPERIMENTS}/${job}`)).json()) as JobState;
    await until(async () => (await state()).status === 'dismissed');
    // Its document is still there when the page is loaded again.
    await page.reload();
    await expectText(page, '#alert', /This job has no results/);
    expect(await documentOn(page)).toMatchObject({ name: 'Dose of loom', trials: 100 });
    await page.close();
  });

  it('keeps a document that is changed before the job has begun, and the job behind Back', async () => {
    const { page } = await open(DOSE);
    await page.getByLabel('Run as a job').check();
    await priced(page);
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route(/\/experiments$/, async (route) => {
      if (route.request().headers()['prefer'] === undefined) return route.continue();
      await released;
      await route.continue();
    });
    await page.locator('#run:enabled').click();
    await page.getByRole('textbox', { name: 'Seed' }).fill('8');
    release();
    await expectText(page, '#progress-text', /^4 conditions of 3 trials/);
    expect(await page.evaluate(() => location.hash)).toContain('%22seed%22%3A8');
    expect((await documentOn(page)).seed).toBe(8);
    await page.goBack();
    await page.waitForFunction(() => location.hash.startsWith('#job='));
    expect((await documentOn(page)).seed).toBe(7);
    await page.close();
  });

  it('begins one job if the answer to its request is lost and the request is tried again', async () => {
    // A second job would be refused: the first one is not done.
    const service = await startReadyService({}, { limits: { jobsPerClient: 1 } });
    const gateway = await startGateway(service);
    const endless = { ...DOSE, duration_ms: 5000, trials: 100, sweep: undefined };
    const { page } = await openPage(served.browser, gateway, pathOf(endless));
    await page.getByLabel('Run as a job').check();
    await priced(page);
    gateway.wayOf = (path) => (path === EXPERIMENTS ? { losesAnswerOf: service } : service);
    await page.locator('#run').click();
    await expectText(page, '#alert', /No connection/);
    gateway.wayOf = () => service;
    await page.locator('#alert').getByRole('button', { name: 'Try again' }).click();
    await page.waitForFunction(() => location.hash.startsWith('#job='));
    expect(await page.locator('#alert').isVisible()).toBe(false);
    await page.close();
    await gateway.stop();
    await service.stop();
  });

  it('says that a job is gone, and is of use all the same', async () => {
    const { page } = await served.open('/laboratory#job=AAAAAAAAAAAAAAAAAAAAAAAA');
    await expectText(page, '#alert', /This job has no results.*There is no job "AAAA/s);
    expect(await page.locator('#alert button').count()).toBe(0);
    expect(Object.keys(await documentOn(page))).toContain('inputs');
    await page.close();
  });

  it('says when the connection breaks, and goes on when it is there again', async () => {
    const gateway = await startGateway(served.service);
    const { page } = await openPage(served.browser, gateway, pathOf(DOSE));
    await priced(page);
    gateway.wayOf = () => ({ status: 502, html: '' });
    await page.locator('#run').click();
    await expectText(page, '#alert', /Unexpected answer.*502/s);
    gateway.wayOf = () => served.service;
    await page.locator('#alert').getByRole('button', { name: 'Try again' }).click();
    await expectText(page, '#progress-text', /^4 conditions/);
    await page.close();
    await gateway.stop();
  });

  it('counts down when the brain seconds of the minute are spent', async () => {
    const limited = await startReadyService({ EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '2' });
    const first = await openPage(served.browser, limited, pathOf(DOSE));
    await run(first.page);
    await first.page.close();
    // Another seed, because an equal experiment would get the stored answer.
    const { page } = await openPage(served.browser, limited, pathOf({ ...DOSE, seed: 8 }));
    await page.locator('#run').click();
    await expectText(page, '#alert', /brain seconds of this minute are spent.*Try again in \d+ s/is);
    await page.close();
    await limited.stop();
  });

  it('gives commands that ask for the same experiment', async () => {
    const context = await served.browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    const named = { ...DOSE, name: "What's the dose?" };
    await page.goto(served.service.url + pathOf(named));
    const copied = async (kind: string) => {
      await page.getByText(kind, { exact: true }).click();
      await page.locator('#copy-command').click();
      await expectText(page, '#status', /Copied/);
      return page.evaluate(() => navigator.clipboard.readText());
    };
    await priced(page);
    const csv = await (await served.service.post(named, `${EXPERIMENTS}?format=csv`)).text();
    const shell = (command: string) => promisify(execFile)('sh', ['-c', command]);
    expect((await shell(await copied('curl'))).stdout).toBe(csv);
    const command = await copied('Command');
    const [first, ...lines] = command.split('\n');
    expect(first).toBe(`npm run -s experiment -- - --url '${served.service.url}' <<'DOCUMENT'`);
    expect(JSON.parse(lines.slice(0, -1).join('\n'))).toEqual(named);
    const { id } = await answerOf(named);
    expect((await shell(command)).stdout).toContain(id);
    await context.close();
  });

  it('gives no command for a refused document, or for text that is none', async () => {
    const { page } = await open({ ...DOSE, [`x=print('a link'), y`]: 1 });
    await page.getByText('Python', { exact: true }).click();
    await expectText(page, '#other-fault', /x=print/);
    await expectText(page, '#command', /^$/);
    await page.locator('#document').fill(JSON.stringify(DOSE));
    await expectText(page, '#command', /^from neural_experiment_client/);
    await page.locator('#document').fill('{');
    await expectText(page, '#command', /^$/);
    await page.close();
  });

  it('gives commands that work for an experiment that is too large for one request', async () => {
    const small = await startReadyService({ EXPERIMENT_BRAIN_SECONDS: '1' });
    const { page } = await openPage(served.browser, small, pathOf(DOSE));
    await expectText(page, '#too-large', /so it runs as a job/);
    await page.getByText('curl', { exact: true }).click();
    const { stdout } = await promisify(execFile)('sh', ['-c', await page.locator('#command').innerText()]);
    expect(stdout).toBe(await (await served.service.post(DOSE, `${EXPERIMENTS}?format=csv`)).text());
    await page.getByText('Python', { exact: true }).click();
    await expectText(page, '#command', /job = lab\.submit\([^]*result = job\.wait\(/);
    await page.close();
    await small.stop();
  });

  describeWith(['pandas'], 'beside Python', () => {
    it.each(['request', 'job'])(
      'gives lines of Python that run the same experiment as a %s',
      async (kind) => {
        const { page } = await open({ ...DOSE, reports: { escape: { node_set: 'C_escape', end_ms: null } } });
        if (kind === 'job') await page.getByLabel('Run as a job').check();
        await page.getByText('Python', { exact: true }).click();
        const script = `${await page.locator('#command').innerText()}\nimport json\nprint(json.dumps(result.document))`;
        const { stdout } = await promisify(execFile)(PANDAS, ['-c', script], {
          env: { ...process.env, PYTHONPATH: resolve('clients/python'), PYTHONDONTWRITEBYTECODE: '1' },
        });
        const { experiment } = await answerOf(await documentOn(page));
        expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual(experiment);
        await page.close();
      },
    );
  });

  it('is reached from the page of the brain, and reopens an experiment from its link', async () => {
    const { page, problems } = await served.open();
    const assets: string[] = [];
    page.on('request', (request) => assets.push(new URL(request.url()).pathname));
    await page.reload();
    // It is folded away until it is wanted.
    await page.locator('#run:enabled').waitFor({ state: 'attached' });
    expect(assets.filter((path) => path.includes('laboratory'))).toEqual([]);
    await page.getByRole('link', { name: 'Laboratory' }).click();
    await page.locator('#draft').waitFor();
    expect(new URL(page.url()).pathname).toBe('/laboratory');
    const [link] = await page.locator('#examples a').all();
    await link!.click();
    const example = await documentOn(page);
    expect(example.name).toBe(await link!.innerText());
    await page.getByRole('textbox', { name: 'Trials' }).fill('3');
    // A changed example loses the published name until it is equal again.
    expect((await documentOn(page)).name).toBe(`Changed: ${example.name}`);
    await page.getByRole('textbox', { name: 'Trials' }).fill(String(example.trials));
    expect(await documentOn(page)).toEqual(example);
    await page.getByRole('textbox', { name: 'Trials' }).fill('3');
    const address = await page.evaluate(() => location.href);
    const other = await served.open(address.slice(served.service.url.length));
    expect(await documentOn(other.page)).toEqual(await documentOn(page));
    await page.reload();
    expect((await documentOn(page)).trials).toBe(3);
    await follow(page, pathOf(DOSE).slice('/laboratory'.length));
    await page.waitForFunction(() =>
      document.querySelector<HTMLTextAreaElement>('#document')!.value.includes('Dose of loom'),
    );
    expect(problems).toEqual([]);
    await other.page.close();
    await page.close();
  });

  it('finds published sets, and suggests similar names', async () => {
    const { page } = await open();
    await page.locator('#search-type').fill('@channel/esc');
    await page.getByRole('button', { name: 'Read @channel/escape' }).click();
    expect(Object.keys((await documentOn(page)).reports)).toContain('channel_escape');
    await page.locator('#search-type').fill('S_lom');
    await page.locator('#search-status').getByRole('button', { name: 'S_loom', exact: true }).click();
    await expectText(page, '#search-status', /12 neurons/);
    await page.close();
  });

  it('has a control for each member, and leaves a document as it is', async () => {
    const { page, problems } = await open({ duration_ms: 100, trials: 2 });
    const group = (name: string) => page.getByRole('group', { name, exact: true });
    const neurons = async (label: string, name: string) => {
      await page.getByRole('combobox', { name: `Add neurons to ${label}` }).fill(name);
      await page.keyboard.press('Enter');
    };
    await page.getByRole('button', { name: 'New experiment' }).click();
    expect(await documentOn(page)).toEqual({});
    await page.getByRole('button', { name: 'Add an input' }).click();
    await neurons('input input', 'S_loom');
    await group('Input input').getByRole('textbox', { name: 'Rate (Hz)' }).fill('0: 20, 50: 120');
    await page.getByRole('button', { name: 'Add a timed silence' }).click();
    await neurons('timed silence 1', 'C_walk');
    await group('Timed silence 1').getByRole('textbox', { name: 'To (ms)' }).fill('60');
    await page.locator('summary', { hasText: /^Network$/ }).click();
    await page.getByRole('textbox', { name: 'Synapse (mV)' }).fill('0.3');
    await page.getByRole('button', { name: 'Add an override' }).click();
    await neurons('source of override', 'S_loom');
    await neurons('target of override', 'C_escape');
    await group('Override override').getByRole('textbox', { name: 'Weight' }).fill('-0.5');
    await group('Wiring').getByRole('combobox', { name: 'Shuffle' }).selectOption('weights');
    await page.getByRole('textbox', { name: 'Trials' }).fill('2');
    await page.getByRole('textbox', { name: 'Duration (ms)' }).fill('100');
    await page.getByRole('button', { name: 'Add a report' }).click();
    await neurons('report report', 'C_escape:left');
    await group('Report report').getByRole('combobox', { name: 'What' }).selectOption('membrane');
    await group('Report report').getByRole('textbox', { name: 'Every (ms)' }).fill('0.5');
    const expected = {
      inputs: { input: { node_set: 'S_loom', rate_hz: { times_ms: [0, 50], values: [20, 120] } } },
      silence: [{ node_set: 'C_walk', start_ms: 0, end_ms: 60 }],
      constants: { synapse_mv: 0.3 },
      wiring: { shuffle: 'weights' },
      connection_overrides: { override: { source: 'S_loom', target: 'C_escape', weight: -0.5 } },
      duration_ms: 100,
      trials: 2,
      reports: { report: { node_set: 'C_escape:left', type: 'membrane', dt_ms: 0.5 } },
    };
    expect(await documentOn(page)).toEqual(expected);
    await priced(page);
    await run(page);
    expect(await page.locator('#identity').textContent()).toContain((await answerOf(expected)).id);

    const kind = group('Input input').getByRole('combobox', { name: 'Events' });
    await kind.selectOption('background');
    expect((await documentOn(page)).inputs.input).toEqual({
      node_set: 'S_loom',
      module: 'background',
      rate_hz: 0.5,
    });
    await kind.selectOption('pattern');
    expect((await documentOn(page)).inputs.input).toEqual({ rates: [{ node_set: 'S_loom', rate_hz: 100 }] });
    await kind.selectOption('spikes');
    expect((await documentOn(page)).inputs.input).toEqual({
      node_set: 'S_loom',
      module: 'spikes',
      times_ms: [10, 20.5, 31],
    });
    await kind.selectOption('poisson');
    expect((await documentOn(page)).inputs.input).toMatchObject({ node_set: 'S_loom' });
    expect(await page.locator('.others').count()).toBe(0);
    expect(await axeFindings(page, '#draft')).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('shows every example whole: a control that is changed and changed back leaves the document', async () => {
    const { page } = await open();
    for (const link of await page.locator('#examples a').all()) {
      await link.click();
      await expectText(page, '#document-state', /^$/);
      const before = await documentOn(page);
      expect(before.name).toBe(await link.innerText());
      expect(await page.locator('.others').allTextContents()).toEqual([]);
      await page.locator('[data-path="/seed"]').fill('7');
      expect(await documentOn(page)).toEqual({ ...before, seed: 7, name: `Changed: ${before.name}` });
      await page.locator('[data-path="/seed"]').fill('');
      expect(await documentOn(page)).toEqual(before);
    }
    await page.close();
  });

  it('says which examples this brain cannot run', async () => {
    const { page, problems } = await open();
    await expectText(page, '#examples', /Cannot run on this brain, which has no LC4/);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('opens no experiment from a damaged link, and says so', async () => {
    for (const hash of [
      '#document=%7B%22trials',
      '#document=%',
      '#document={"trials":1,"trials":2}',
      '#example=gone',
      '#job=%',
    ]) {
      const { page } = await served.open(`/laboratory${hash}`);
      await expectText(page, '#document-state', /^This link is damaged, so it opened no experiment/);
      expect(await page.locator('#document').inputValue()).toBe('');
      expect(await page.locator('#run').isDisabled()).toBe(true);
      await page.getByRole('button', { name: 'New experiment' }).click();
      expect(await documentOn(page)).toEqual({});
      await page.close();
    }
  });

  it('follows a control with few trials while it is dragged, and with all once it is let go', async () => {
    const { page, problems } = await open({ ...DOSE, sweep: undefined, trials: 8 });
    await priced(page);
    const asked: Record<string, unknown>[] = [];
    page.on('request', (request) => {
      if (request.url().includes('format=ndjson')) asked.push(request.postDataJSON());
    });
    const slider = page.getByRole('slider', { name: 'Slide rate' });
    const drag = (value: number, event: string) =>
      slider.evaluate(
        (control: HTMLInputElement, [to, type]) => {
          control.value = String(to);
          control.dispatchEvent(new Event(type as string, { bubbles: true }));
        },
        [value, event] as const,
      );
    await drag(120, 'input');
    await expectText(page, '#progress-text', /A preview of 2 trials/);
    expect(asked).toEqual([
      expect.objectContaining({ trials: 2, inputs: { loom: { node_set: 'S_loom', rate_hz: 120 } } }),
    ]);
    await drag(200, 'input');
    await drag(200, 'change');
    await expectText(page, '#progress-text', /^1 condition of 8 trials: [^A]*$/);
    expect(asked.at(-1)).toMatchObject({ trials: 8, inputs: { loom: { rate_hz: 200 } } });
    expect(await page.getByRole('textbox', { name: 'Rate (Hz)' }).inputValue()).toBe('200');

    // An experiment whose button was pressed goes on.
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route(/format=ndjson/, (route) => released.then(() => route.continue()));
    await page.locator('#run:enabled').click();
    await expectText(page, '#progress-text', /^Running/);
    await drag(50, 'input');
    await drag(50, 'change');
    await expectText(page, '#live-state', /^The figure follows the controls again after this run\.$/);
    release();
    await expectText(page, '#progress-text', /^1 condition of 8 trials: [^A]*$/);
    expect(asked.at(-1)).toMatchObject({ trials: 8, inputs: { loom: { rate_hz: 200 } } });
    expect(problems).toEqual([]);
    await page.close();
  });

  it('has sliders at the values in use, which they reach exactly and go back to', async () => {
    const { page } = await open({
      duration_ms: 50,
      trials: 2,
      inputs: DOSE.inputs,
      constants: { delay_ms: 2 },
    });
    await priced(page);
    const slide = (name: string) => page.getByRole('slider', { name: `Slide ${name}` });
    const { network } = await (await served.service.get('/api/v1/model')).json();
    for (const [name, label] of [
      ['synapse_mv', 'synapse'],
      ['threshold_mv', 'threshold'],
      ['input_event_mv', 'input event'],
    ] as const) {
      const { value } = network.find((each: { name: string }) => each.name === name);
      expect(Number(await slide(label).inputValue())).toBe(value);
    }
    expect(await slide('excitatory scale').inputValue()).toBe('1');
    expect(await slide('jitter').inputValue()).toBe('0');
    expect(await slide('scale').first().inputValue()).toBe('1');
    expect(await slide('synapse').getAttribute('aria-valuetext')).toBe('0.275 mV');
    // One step away and back again.
    await slide('synapse').focus();
    await page.keyboard.press('ArrowRight');
    const { synapse_mv: changed } = (await documentOn(page)).constants;
    expect(changed).toBeGreaterThan(0.275);
    await page.keyboard.press('ArrowLeft');
    expect((await documentOn(page)).constants).toEqual({ delay_ms: 2, synapse_mv: 0.275 });
    await page.getByRole('button', { name: 'Set synapse back to 0.275' }).click();
    expect((await documentOn(page)).constants).toEqual({ delay_ms: 2 });
    expect(await page.getByRole('button', { name: 'Set synapse back to 0.275' }).isVisible()).toBe(false);
    expect(await page.getByRole('textbox', { name: 'Synapse (mV)' }).getAttribute('placeholder')).toBe(
      '0.275',
    );
    await page.close();
  });

  it('takes changes back and makes them again, and New and Hold leave the draft in the history', async () => {
    const { page, problems } = await open(DOSE);
    await priced(page);
    const trials = page.getByRole('textbox', { name: 'Trials' });
    await trials.fill('6');
    await trials.fill('61');
    await page.getByRole('textbox', { name: 'Seed' }).fill('9');
    await page.keyboard.press('Control+z');
    expect(await documentOn(page)).toEqual({ ...DOSE, trials: 61 });
    await page.keyboard.press('Control+z');
    expect(await documentOn(page)).toEqual(DOSE);
    await page.keyboard.press('Control+Shift+z');
    await page.keyboard.press('Control+y');
    const draft = { ...DOSE, trials: 61, seed: 9 };
    expect(await documentOn(page)).toEqual(draft);
    await page.getByRole('button', { name: 'New experiment' }).click();
    expect(await documentOn(page)).toEqual({});
    await page.goBack();
    expect(await documentOn(page)).toEqual(draft);
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await documentOn(page)).toEqual({});
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await documentOn(page)).toEqual(draft);
    for (const each of [{ ...DOSE, trials: 61 }, DOSE]) {
      await page.getByRole('button', { name: 'Undo' }).click();
      expect(await documentOn(page)).toEqual(each);
    }
    await page.getByRole('button', { name: 'Hold it against shuffled wiring' }).click();
    expect(await documentOn(page)).toEqual({ ...DOSE, controls: { shuffle: 'targets', count: 20 } });
    await expectText(page, '#progress-text', /brain seconds/);
    await page.goBack();
    expect(await documentOn(page)).toEqual(DOSE);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('takes back a change of the text of a published experiment, and one before it', async () => {
    const { page } = await served.open('/laboratory#example=shiu2024-fig1d');
    const example = await documentOn(page);
    await page.getByRole('textbox', { name: 'Trials' }).fill('6');
    const changed = await documentOn(page);
    await page.locator('#document').fill(JSON.stringify({ ...example, trials: 7 }));
    await page.getByRole('textbox', { name: 'Seed' }).focus();
    for (const each of [changed, example]) {
      await page.getByRole('button', { name: 'Undo' }).click();
      expect(await documentOn(page)).toEqual(each);
    }
    await page.close();
  });

  it('keeps a document that is too long for an address, also when it is loaded again', async () => {
    const { page } = await open(DOSE);
    const long = { ...DOSE, silence: Array.from({ length: 45 }, (_, at) => `${'x'.repeat(400)}${at}`) };
    await page.locator('#document').fill(JSON.stringify(long));
    await page.waitForFunction(() => location.hash === '');
    await page.reload();
    expect(await documentOn(page)).toEqual(long);
    await page.getByRole('button', { name: 'New experiment' }).click();
    expect(await documentOn(page)).toEqual({});
    await page.goBack();
    expect(await documentOn(page)).toEqual(long);
    // The address is the same for two of them.
    await page.getByRole('button', { name: 'New experiment' }).click();
    const other = { ...long, seed: 8 };
    await page.locator('#document').fill(JSON.stringify(other));
    await page.goBack();
    expect(await documentOn(page)).toEqual(long);
    await page.goForward();
    expect(await documentOn(page)).toEqual(other);
    await page.close();
  });

  it('marks a result of another document, shows that document again, and New clears it', async () => {
    const { page } = await open(DOSE);
    await priced(page);
    await run(page);
    const { id } = await answerOf(DOSE);
    const other = page.locator('#other-document');
    await expectText(page, '#outcome-of', new RegExp(`^Dose of loom ${id.slice(0, 8)}$`));
    expect(await other.isVisible()).toBe(false);
    await page.getByRole('textbox', { name: 'Trials' }).fill('5');
    await other.waitFor();
    await page.waitForFunction(
      () => Number(getComputedStyle(document.querySelector('#figure')!).opacity) < 0.5,
    );
    expect(await axeFindings(page, '#outcome')).toEqual([]);
    await page.getByRole('button', { name: 'Show the document of this result' }).click();
    await other.waitFor({ state: 'hidden' });
    expect(await documentOn(page)).toEqual(DOSE);
    // A default that is written out is no other experiment.
    await page.locator('#document').fill(JSON.stringify({ ...DOSE, on_missing: 'error' }));
    await other.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'New experiment' }).click();
    expect(await page.locator('#outcome').isVisible()).toBe(false);
    await page.close();
  });

  it.each([360, 768, 1024, 1280, 1440, 1920])('puts nothing over anything else, %d wide', async (width) => {
    const { page } = await open(DOSE, { width });
    await priced(page);
    await run(page);
    await page.evaluate(() => (document.querySelector('#status')!.textContent = 'A notice.'));
    const overlaps = await page.evaluate(() => {
      const over: string[] = [];
      const box = (selector: string) => document.querySelector(selector)!.getBoundingClientRect();
      const areApart = (one: DOMRect, other: DOMRect) =>
        one.right <= other.left ||
        other.right <= one.left ||
        one.bottom <= other.top ||
        other.bottom <= one.top;
      const panels = ['#find', '#draft', '#outcome', '#examples-panel', '#document-panel'];
      for (const share of [0, 0.25, 0.5, 0.75, 1]) {
        scrollTo({ top: share * document.documentElement.scrollHeight, behavior: 'instant' });
        for (const [at, one] of panels.entries()) {
          for (const other of panels.slice(at + 1)) {
            if (!areApart(box(one), box(other))) over.push(`${one} ${other} at ${share}`);
          }
        }
        if (!areApart(box('#notices'), box('#run'))) over.push(`#notices #run at ${share}`);
      }
      return over;
    });
    expect(overlaps).toEqual([]);
    await page.close();
  });

  it('shows the same at a zoom of 200 %, without scrolling sideways', async () => {
    const [usual, zoomed] = await Promise.all(
      [1, 2].map(async (zoom) => {
        const { page } = await open(GRID, { zoom });
        await priced(page);
        await run(page);
        const read = await readNames(page);
        await page.close();
        return read;
      }),
    );
    expect(usual!.names).toContain('Run experiment');
    expect(zoomed).toEqual({ ...usual, width: 640, cut: [] });
  });

  it('says that it waits if the brain seconds of the minute are spent while a control is dragged', async () => {
    const limited = await startReadyService({ EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '1' });
    const { page } = await openPage(
      served.browser,
      limited,
      pathOf({ ...DOSE, sweep: undefined, duration_ms: 900, trials: 1 }),
    );
    await priced(page);
    await run(page);
    const slider = page.getByRole('slider', { name: 'Slide rate' });
    const spent = /brain seconds of this minute are spent\. The figure follows again in \d+ s/;
    await slider.evaluate((control: HTMLInputElement) => {
      control.value = '120';
      control.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await expectText(page, '#live-state', spent);
    // The figure and its note are still those of the document before.
    await expectText(page, '#progress-text', /^1 condition of 1 trial: [^A]*$/);
    expect(await page.locator('#outcome.of-other').count()).toBe(1);
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    await expectText(page, '#live-state', spent);
    await expectText(page, '#progress-text', /^1 condition of 1 trial: [^A]*$/);
    expect(await page.locator('#outcome.of-other').count()).toBe(1);
    expect(await page.locator('#alert').isVisible()).toBe(false);
    await page.close();
    await limited.stop();
  });

  it('holds a rate against shuffled wiring with one press', async () => {
    const { page, problems } = await open({ ...DOSE, sweep: undefined });
    await page.getByRole('button', { name: 'Hold it against shuffled wiring' }).click();
    await expectText(page, '#progress-text', /brain seconds/);
    const { conditions } = await answerOf(await documentOn(page));
    expect((await documentOn(page)).controls).toEqual({ shuffle: 'targets', count: 20 });
    const tested = conditions[0].reports.escape.map(
      ({ control }: { control: { p: number; q: number } }) =>
        `p ${Number(control.p.toPrecision(3))}, q ${Number(control.q.toPrecision(3))}`,
    );
    const figure = await page.locator('#figure').textContent();
    for (const each of tested) expect(figure).toContain(each);
    expect(await page.locator('#figure .own').count()).toBeGreaterThan(0);
    expect(await axeFindings(page, '#outcome')).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('names the cell types of single neurons, in figure and table', async () => {
    const reports = { escape: { ...DOSE.reports.escape, group_by: ['neuron'] } };
    const { page, problems } = await open({ ...DOSE, sweep: undefined, reports });
    await run(page);
    await expectText(page, '#rates tbody td:nth-child(2)', /^N_\d+ C_escape$/);
    await expectText(page, '#figure', /N_\d+ C_escape/);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('shows all rows of a long table when asked to', async () => {
    const rates = { set: 'inputs.loom.rate_hz', from: 0, to: 50, step: 0.25 };
    const { page } = await open({
      ...DOSE,
      duration_ms: 5,
      trials: 1,
      sweep: [rates],
      reports: { escape: DOSE.reports.escape },
    });
    await run(page);
    await expectText(page, '#rates-note', /^The first 300 of 402 rows/);
    await page.getByRole('button', { name: 'Show all 402 rows' }).click();
    expect(await page.locator('#rates tbody tr').count()).toBe(402);
    await page.close();
  });

  it('leaves a text as it is typed while the form follows it', async () => {
    const { page } = await open(DOSE);
    const rate = page.getByRole('textbox', { name: 'Rate (Hz)' });
    const figure = page.locator('.course-figure');
    await rate.fill('');
    await rate.pressSequentially('0:20,50:80');
    await figure.waitFor();
    await priced(page);
    expect(await rate.inputValue()).toBe('0:20,50:80');
    await rate.press('Tab');
    expect(await rate.inputValue()).toBe('0: 20, 50: 80');
    // Half a range is no list of values yet.
    const values = page.getByRole('textbox', { name: 'Values' });
    await values.fill('');
    await values.pressSequentially('10:50:');
    await page.keyboard.type('20');
    expect((await documentOn(page)).sweep).toEqual([
      { set: 'inputs.loom.rate_hz', from: 10, to: 50, step: 20 },
    ]);
    await page.keyboard.press('Control+z');
    await page.close();
  });

  it('names an unknown type when it is added, and drops a half typed one with its document', async () => {
    const { page } = await open(DOSE);
    const silenced = page.getByRole('combobox', { name: 'Add neurons to what is silenced' });
    await silenced.fill('S_nobody');
    await silenced.press('Enter');
    await expectText(page, '#fault', /S_nobody/);
    await silenced.fill('S_fo');
    await page.keyboard.press('Control+z');
    await page.getByRole('textbox', { name: 'Seed' }).focus();
    expect(await silenced.inputValue()).toBe('');
    expect((await documentOn(page)).silence).toBeUndefined();
    await page.close();
  });

  it('leaves a part closed, and opens it for another document that uses it', async () => {
    const { page } = await open({ ...DOSE, constants: { synapse_mv: 0.3 } });
    const part = page.locator('details.part').first();
    await part.locator('summary').click();
    const trials = page.getByRole('textbox', { name: 'Trials' });
    await trials.fill('4');
    await trials.press('Tab');
    expect(await part.getAttribute('open')).toBeNull();
    // Open in the drawing, and closed on the page.
    await part.locator('summary').click();
    await trials.fill('5');
    await trials.press('Tab');
    await part.locator('summary').click();
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await part.getAttribute('open')).toBe('');
    await page.close();
  });

  it('leaves the focus at a choice that moves when it is made', async () => {
    const { page } = await open(DOSE);
    const events = page.getByRole('combobox', { name: 'Events' });
    await events.focus();
    for (const kind of ['pattern', 'spikes', 'poisson']) {
      await events.selectOption(kind);
      expect(await events.evaluate((choice) => choice === document.activeElement)).toBe(true);
    }
    await page.close();
  });

  it('leaves the focus at the choice of a figure that has other choices', async () => {
    const { page } = await open({ ...EVENTS, reports: { ...EVENTS.reports, escape: DOSE.reports.escape } });
    await run(page);
    const show = page.getByLabel('Show');
    await show.focus();
    for (const figure of await show.locator('option').allTextContents()) {
      await show.selectOption(figure);
      expect(await show.evaluate((choice) => choice === document.activeElement)).toBe(true);
    }
    await page.close();
  });

  it('moves the focus from a button that goes to its field', async () => {
    const { page } = await open({ ...DOSE, constants: { synapse_mv: 0.3 } });
    await page.getByRole('button', { name: 'Set synapse back to 0.275' }).press('Enter');
    const gain = page.getByRole('textbox', { name: 'Synapse (mV)' });
    expect(await gain.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(await gain.inputValue()).toBe('');
    await page.close();
  });

  it('acts on a press that leaves a field whose text changes the form', async () => {
    const { page } = await open({ ...DOSE, silence: ['S_loom'] });
    const silenced = page.getByRole('combobox', { name: 'Add neurons to what is silenced' });
    await silenced.fill('C_escape');
    await page.getByRole('button', { name: 'Add an input' }).click();
    await silenced.fill('S_food');
    const list = page.getByRole('list', { name: 'Neurons of what is silenced' });
    await list.getByRole('button', { name: 'Remove S_loom' }).click();
    const { inputs, silence } = await documentOn(page);
    expect(Object.keys(inputs)).toEqual([...Object.keys(DOSE.inputs), 'input']);
    expect(silence).toEqual(['C_escape', 'S_food']);
    const inFocus = () => page.evaluate(() => document.activeElement!.ariaLabel);
    await silenced.fill('C_walk');
    await page.getByLabel('Side of S_food').click();
    expect(await inFocus()).toBe('Side of S_food');
    await page.keyboard.press('Escape');
    // The press is in the row that gets another name.
    const row = page.getByRole('group', { name: 'Input loom' });
    await row.getByRole('textbox', { name: 'Name' }).fill('seen');
    await page.getByRole('combobox', { name: 'Add neurons to input loom' }).click();
    expect(await inFocus()).toBe('Add neurons to input seen');
    await page.close();
  });

  it('takes no press that is dragged away, or that begins beside the form', async () => {
    const { page } = await open({ ...DOSE, silence: ['S_loom', 'C_walk', 'C_stop'] });
    const list = page.getByRole('list', { name: 'Neurons of what is silenced' });
    await list.getByRole('button', { name: 'Remove S_loom' }).click();
    await page.getByRole('heading', { name: 'Laboratory' }).hover();
    await page.mouse.down();
    await list.getByRole('button', { name: 'Remove C_walk' }).hover();
    await page.mouse.up();
    await page.getByRole('combobox', { name: 'Add neurons to what is silenced' }).fill('S_food');
    await list.getByRole('button', { name: 'Remove C_walk' }).hover();
    await page.mouse.down();
    await page.getByRole('heading', { name: 'Laboratory' }).hover();
    await page.mouse.up();
    expect((await documentOn(page)).silence).toEqual(['C_walk', 'C_stop', 'S_food']);
    await page.close();
  });

  it.each([
    ['an experiment', run],
    ['a live run', (page: Page) => page.getByRole('slider', { name: 'Slide rate' }).press('ArrowRight')],
  ])('asks for the model again after %s that was answered meanwhile', async (_, compute) => {
    const { page } = await openPage(served.browser, served.service, 'about:blank');
    const unavailable = {
      status: 503,
      headers: { 'retry-after': '600' },
      json: { error: 'The model is loading.' },
    };
    await page.route(/\/api\/v1\/model$/, (route) => route.fulfill(unavailable));
    await page.goto(served.service.url + pathOf(DOSE));
    await expectText(page, '#alert', /currently unavailable/);
    await page.unroute(/\/api\/v1\/model$/);
    await compute(page);
    await expectText(page, '#model-line', /neurons/);
    await page.close();
  });

  it('keeps what is refused in sight when the model comes', async () => {
    const { page } = await openPage(served.browser, served.service, 'about:blank');
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route(/\/api\/v1\/model$/, async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(served.service.url + pathOf({ ...DOSE, silence: ['S_nobody'] }));
    await expectText(page, '#fault', /S_nobody/);
    release();
    await expectText(page, '#model-line', /neurons/);
    await expectText(page, '#fault', /S_nobody/);
    await page.close();
  });

  it('completes names, gives each press of Stimulate an input, and runs with Ctrl+Enter', async () => {
    const { page } = await open({ duration_ms: 50, trials: 2 });
    await page.locator('#search-type').fill('S_');
    await page.getByRole('button', { name: 'Stimulate S_loom' }).click();
    await page.getByRole('button', { name: 'Stimulate S_food' }).click();
    expect(Object.keys((await documentOn(page)).inputs)).toEqual(['S_loom', 'S_food']);
    await page.getByRole('combobox', { name: 'Add neurons to what is silenced' }).fill('C_');
    await page.waitForFunction(() => document.querySelectorAll('#neuron-names option').length > 1);
    const names = await page
      .locator('#neuron-names option')
      .evaluateAll((all) => all.map((each) => (each as HTMLOptionElement).value));
    expect(names).toContain('C_escape');
    await page.getByRole('combobox', { name: 'Add neurons to what is silenced' }).fill('');
    await page.getByRole('textbox', { name: 'Seed' }).fill('3');
    await priced(page);
    await page.locator('#run:enabled').waitFor();
    await page.keyboard.press('Control+Enter');
    await expectText(page, '#progress-text', /brain seconds/);
    await page.close();
  });

  it('completes the names of own sets, and renames a set wherever it is used', async () => {
    const { page, problems } = await open({
      duration_ms: 50,
      trials: 1,
      // A set may have the name of a type, which a label means all the same.
      node_sets: { C_stop: 'S_loom', both: ['C_stop:left', { type: 'C_stop', except: 'C_stop' }] },
      inputs: { C_stop: { node_set: 'C_stop', rate_hz: 100 } },
      silence: ['C_stop:right'],
      reports: { all: { node_set: ['C_escape', 'both'] } },
    });
    await page.getByRole('combobox', { name: 'Add neurons to what is silenced' }).fill('C_st');
    await page.locator('#neuron-names option[value=C_stop]').waitFor({ state: 'attached' });
    await page.getByRole('combobox', { name: 'Add neurons to what is silenced' }).fill('');
    const set = page.getByRole('group', { name: 'Set C_stop', exact: true });
    await set.getByRole('textbox', { name: 'Name' }).fill('lobula');
    await page.keyboard.press('Tab');
    expect(await documentOn(page)).toEqual({
      node_sets: { lobula: 'S_loom', both: ['lobula:left', { type: 'C_stop', except: 'lobula' }] },
      inputs: { C_stop: { node_set: 'lobula', rate_hz: 100 } },
      silence: ['lobula:right'],
      duration_ms: 50,
      trials: 1,
      reports: { all: { node_set: ['C_escape', 'both'] } },
    });
    await expectText(page, '#cost', /brain seconds/);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('waits for a job with controls, and shows its result among them', async () => {
    const held = { ...DOSE, sweep: undefined, controls: { shuffle: 'weights', count: 3 } };
    const { page, problems } = await open(held);
    await priced(page);
    await page.getByLabel('Run as a job').check();
    await page.locator('#run:enabled').click();
    await page.waitForFunction(() => location.hash.startsWith('#job='));
    await expectText(page, '#progress-text', /^1 condition of 3 trials/);
    await page.getByLabel('Show').selectOption('this wiring among controls');
    const { conditions } = await answerOf(held);
    const means = conditions[0].reports.escape.map(
      ({ control }: { control: { mean: number } }) => control.mean,
    );
    const cells = await page.locator('#rates tbody td:nth-child(4)').allInnerTexts();
    for (const [at, mean] of means.entries()) expect(cells[at]).toContain(`controls ${mean.toFixed(2)} ±`);
    expect(await page.locator('#figure .own').count()).toBeGreaterThan(0);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('leads from nothing to a saved figure by keyboard only', async () => {
    const { page, problems } = await open();
    /** Presses the Tab key until the control has the focus. */
    const tabTo = async (name: string, selector = 'button, input, select, summary') => {
      for (let presses = 0; presses < 150; presses++) {
        await page.keyboard.press('Tab');
        const isThere = await page.evaluate(
          ([wanted, css]) => {
            const focused = document.activeElement!;
            const label = focused.closest('label')?.querySelector('span')?.textContent;
            const text = focused.getAttribute('aria-label') ?? label ?? focused.textContent;
            return focused.matches(css!) && text!.trim() === wanted;
          },
          [name, selector] as const,
        );
        if (isThere) return;
      }
      throw new Error(`The Tab key does not lead to ${name}`);
    };
    await tabTo('New experiment');
    await page.keyboard.press('Enter');
    await tabTo('Add an input');
    await page.keyboard.press('Enter');
    await tabTo('Add neurons to input input');
    await page.keyboard.type('S_loom');
    await page.keyboard.press('Enter');
    await tabTo('Slide rate');
    await page.keyboard.press('ArrowRight');
    const { rate_hz: rateHz } = (await documentOn(page)).inputs.input;
    expect(rateHz).toBeGreaterThan(100);
    await tabTo('Duration (ms)');
    await page.keyboard.type('50');
    await tabTo('Add a report');
    await page.keyboard.press('Enter');
    await tabTo('Add neurons to report report');
    await page.keyboard.type('C_escape');
    await page.keyboard.press('Enter');
    await tabTo('Groups');
    await page.keyboard.press('ArrowDown');
    await priced(page);
    await page.locator('#run:enabled').waitFor();
    await page.keyboard.press('Control+Enter');
    await expectText(page, '#progress-text', /brain seconds/);
    expect(await page.evaluate(() => document.activeElement!.id)).toBe('outcome-heading');
    await tabTo('SVG');
    const [saved] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    const svg = readFileSync(await saved.path(), 'utf8');
    expect(svg).toContain(await page.locator('#identity dd').first().innerText());
    expect(await documentOn(page)).toMatchObject({
      inputs: { input: { node_set: 'S_loom', rate_hz: rateHz } },
    });
    expect(problems).toEqual([]);
    await page.close();
  });

  it('has no finding of axe while nothing is shown, all is open, controls are, or a figure is saved', async () => {
    const { page } = await open({}, { width: 1440, colorScheme: 'light' });
    await page.getByRole('button', { name: 'New experiment' }).click();
    expect(await axeFindings(page)).toEqual([]);
    await follow(page, pathOf(EVERYTHING).slice('/laboratory'.length));
    await expectText(page, '#cost', /^2 conditions/);
    await page.locator('details:not([open])').evaluateAll((all) => {
      for (const part of all) (part as HTMLDetailsElement).open = true;
    });
    expect(await axeFindings(page)).toEqual([]);
    // A number has only its own label, without that of its slider.
    await page.getByRole('textbox', { name: 'Rate (Hz)', exact: true }).waitFor();
    await run(page);
    await page.getByLabel('Show').selectOption('this wiring among controls');
    await page.getByText('Size, font and colours of the figure').click();
    expect(await axeFindings(page)).toEqual([]);
    await page.close();
  });

  it('counts neurons on the small brain that only the service can tell from others of their type', async () => {
    const { page } = await open({ ...DOSE, silence: [{ downstream_of: 'S_loom', minimum_synapses: 40 }] });
    const lines = page.locator('#draft .resolved').filter({ hasText: 'neurons' });
    await expectText(page, '#brain-legend', /silenced: \d+ of the \d+ marked/);
    const counts = (await lines.allInnerTexts()).map((text) => /\d+(?= neurons)/.exec(text)?.[0]);
    const [, silenced] = /silenced: (\d+) /.exec(await page.locator('#brain-legend').innerText())!;
    expect(counts).toContain(silenced);
    await page.close();
  });

  it('shows stimulated, silenced and read neurons on a small brain', async () => {
    const { page } = await open({ ...DOSE, silence: ['C_walk'] }, { width: 1440 });
    await expectText(page, '#brain-legend', /stimulated: 12[^]*silenced: \d+[^]*read: \d+/);
    const colours = await page.locator('#brain-map').evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      const found = new Set<string>();
      for (let at = 0; at < data.length; at += 4)
        if (data[at + 3] === 255) found.add(data.subarray(at, at + 3).join());
      const style = getComputedStyle(document.documentElement);
      return ['run', 'shared', 'kept'].map((name) => {
        const hex = style.getPropertyValue(`--${name}`).trim();
        return found.has([1, 3, 5].map((from) => Number.parseInt(hex.slice(from, from + 2), 16)).join());
      });
    });
    expect(colours).toEqual([true, true, true]);
    await page.close();
  });

  it('works by keyboard only', async () => {
    const { page } = await open({ duration_ms: 50, trials: 2 });
    await page.getByRole('button', { name: 'Add an input' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Add neurons to input input' }).focus();
    await page.keyboard.type('S_loom');
    await page.keyboard.press('Enter');
    // The field keeps the focus for the next name; Backspace takes the last one away.
    await page.keyboard.type('S_food');
    await page.keyboard.press('Enter');
    expect((await documentOn(page)).inputs.input.node_set).toEqual(['S_loom', 'S_food']);
    await page.keyboard.press('Backspace');
    expect((await documentOn(page)).inputs.input.node_set).toBe('S_loom');
    // Removing an item moves the focus to the control that adds the next one.
    await page.getByRole('button', { name: 'Add a report' }).press('Enter');
    await page.getByRole('button', { name: 'Remove Report report' }).press('Enter');
    expect(await page.evaluate(() => document.activeElement!.textContent)).toBe('Add a report');
    await page.getByRole('textbox', { name: 'Rate (Hz)' }).focus();
    await page.keyboard.press('Enter');
    await expectText(page, '#progress-text', /brain seconds/);
    expect(await page.evaluate(() => document.activeElement!.id)).toBe('outcome-heading');
    await page.close();
  });

  it.each([
    ['very wide and dark', DOSE, { width: 2560, height: 1440, colorScheme: 'dark' }],
    ['wide and light', EVENTS, { width: 1440, colorScheme: 'light' }],
    ['as wide as a tablet, dark', GRID, { width: 768, height: 1024, colorScheme: 'dark' }],
    ['as wide as a small phone, light', GRID, { width: 360, height: 740, colorScheme: 'light' }],
    ['as wide as a small phone, dark', EVENTS, { width: 360, height: 740, colorScheme: 'dark' }],
  ] as const)('has no finding of axe and fits its width: %s', async (_, experiment, options) => {
    const { page } = await open(experiment, options);
    await page.locator('#search-type').fill('S_');
    await page.getByRole('button', { name: 'Stimulate S_loom' }).waitFor();
    await run(page);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Rate (Hz)' }).first().fill('900');
    await page.keyboard.press('Tab');
    await expectText(page, '#fault', /got 900/);
    expect(await axeFindings(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(options.width);
    await page.close();
  });

  async function savedTable(page: Page): Promise<Buffer> {
    return table((await download(page, 'csv')).bytes);
  }

  async function download(page: Page, format: string): Promise<{ name: string; bytes: Buffer }> {
    const [saved]: [Download, void] = await Promise.all([
      page.waitForEvent('download'),
      page.locator(`[data-save=${format}]`).click(),
    ]);
    return { name: saved.suggestedFilename(), bytes: readFileSync(await saved.path()) };
  }
});

describeWith(['chromium'], 'the laboratory on the brain that ships', () => {
  const served = serve('default');

  it('draws the published curve below a dose of @sugar', async () => {
    const dose = {
      inputs: { sugar: { node_set: '@sugar' } },
      duration_ms: 20,
      trials: 1,
      reports: { MN9: { node_set: '@MN9', group_by: ['side'] } },
      sweep: [{ set: 'inputs.sugar.rate_hz', values: [10, 50, 100] }],
    };
    const { page, problems } = await served.open(
      `/laboratory#document=${encodeURIComponent(JSON.stringify(dose))}`,
    );
    await page.locator('#run:enabled').click();
    await expectText(page, '#progress-text', /brain seconds/);
    // One number of neurons: that of the model that is served. It is not the published one.
    const [neurons] = /\d+(?= neurons)/.exec(await page.locator('#draft .resolved').first().innerText())!;
    expect(await page.locator('#figure path.published').count()).toBe(1);
    await expectText(page, '#figure-note', new RegExp(`${neurons} sugar neurons on .*not comparable`));
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('[data-save=svg]').click(),
    ]);
    expect(readFileSync(await saved.path(), 'utf8')).toContain('class="published"');
    await expectText(page, '#examples', new RegExp(`${neurons} for the 21 of @sugar`));
    await expectText(page, '#brain-legend', new RegExp(`stimulated: ${neurons}`));
    const bytes = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
    );
    expect(bytes).toBeLessThan(LOADED_BYTES);
    expect(problems).toEqual([]);
    await page.close();
  });
});

describeWith(['chromium'], 'the laboratory on arrival', () => {
  const served = serve('default');

  it('shows the same at a zoom of 200 %, without scrolling sideways', async () => {
    const [usual, zoomed] = await Promise.all(
      [1, 2].map(async (zoom) => {
        const { page } = await served.open('/laboratory', { zoom });
        await page.locator('#figure path.published').waitFor();
        const read = await readNames(page);
        await page.close();
        return read;
      }),
    );
    expect(usual!.names).toContain('Open the bench');
    expect(zoomed).toEqual({ ...usual, width: 640, cut: [] });
  });

  it.each([
    [360, 'light'],
    [1440, 'dark'],
    [2560, 'dark'],
  ] as const)('is a finished figure with a slider, at %d px, %s', async (width, colorScheme) => {
    const { page, problems } = await served.open('/laboratory', { width, colorScheme });
    await page.locator('#figure path.mean').first().waitFor();
    expect(await page.locator('#draft').isVisible()).toBe(false);
    // The published curve is beside it as long as nothing is changed.
    await page.locator('#figure path.published').waitFor();
    const drawn = () => page.locator('#figure path.mean').first().getAttribute('d');
    const before = await drawn();
    const slider = page.getByRole('slider', { name: 'Strength of every synapse' });
    await slider.focus();
    for (let presses = 0; presses < 4; presses++) await page.keyboard.press('ArrowLeft');
    await expectText(page, '#opening-gain-shown', /^80 %, 0\.22 mV$/);
    await page.waitForFunction((path) => {
      const mean = document.querySelector('#figure path.mean')?.getAttribute('d');
      return mean !== undefined && mean !== path && document.querySelector('#figure path.published') === null;
    }, before);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect(await axeFindings(page)).toEqual([]);
    expect(new URL(page.url()).hash).toBe('');

    await page.getByRole('button', { name: 'Open the bench' }).click();
    await page.locator('#draft').waitFor();
    const opened = JSON.parse(await page.locator('#document').inputValue());
    expect(opened.constants).toEqual({ synapse_mv: 0.22 });
    expect(opened.name).toBe('Changed: Shiu et al. 2024, Fig. 1D: sugar to MN9');
    await page.goBack();
    await page.locator('#opening').waitFor();
    await page.goForward();
    await page.locator('#draft').waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });
});

function jobIn(address: string): string {
  return new URLSearchParams(new URL(address).hash.slice(1)).get('job')!;
}

/** A file without its lines of provenance. */
function table(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes[start] === '#'.charCodeAt(0)) start = bytes.indexOf('\n', start) + 1;
  return bytes.subarray(start);
}

interface Group {
  readonly side?: string;
  readonly rate_hz: { readonly mean: number; readonly sd: number };
  readonly bins_hz?: readonly number[];
}

interface Answer {
  readonly parameters: Readonly<Record<string, number>>;
  readonly reports: Readonly<Record<string, readonly Group[]>>;
}

interface Events {
  readonly reports: Readonly<Record<'spikes' | 'given', { readonly trial: readonly number[] }>>;
}

/** A rate as people read it. */
/** Replaces texts as the translation of a browser does: each goes into an element, and the page's node goes away. */
function translate(): void {
  const replace = (root: Node): void => {
    const texts: Text[] = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node: Node | null = root; node !== null; node = walker.nextNode())
      if (node instanceof Text && node.data.trim() !== '') texts.push(node);
    for (const text of texts) {
      if (text.parentElement?.closest('font, textarea, script, style') !== null) continue;
      const font = document.createElement('font');
      font.textContent = text.data;
      text.replaceWith(font);
    }
  };
  replace(document.body);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node.isConnected) replace(node);
  }).observe(document.body, { subtree: true, childList: true });
}

function shown(rateHz: number): string {
  if (rateHz === 0) return '0';
  if (rateHz < 0.1) return String(Number(rateHz.toPrecision(1)));
  return rateHz.toFixed(rateHz >= 99.95 ? 0 : 1);
}

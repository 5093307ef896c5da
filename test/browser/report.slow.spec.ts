/** Reports of the command line as a browser shows and prints them, from a file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/browser.js';
import { runCommand } from '../support/commands.js';
import { describeWith } from '../support/requirements.js';
import { smallConnectomeFile } from '../support/small-connectome.js';
import { axeFindings } from './served-page.js';

const INPUTS = { sugar: { node_set: 'S_sugar' }, food: { node_set: 'S_food', rate_hz: 50 } };
const WALK = { node_set: '@channel/walk', group_by: ['side'] };
const DOCUMENTS = {
  controls: { reports: { walk: WALK }, controls: { shuffle: 'weights', count: 3 } },
  events: {
    reports: {
      walk: { ...WALK, type: 'histogram', bin_ms: 5 },
      spikes: { node_set: '@all', type: 'spikes' },
      potentials: { node_set: 'C_walk', type: 'membrane', dt_ms: 5 },
    },
  },
  maps: {
    reports: { walk: WALK },
    sweep: [
      { set: 'inputs.sugar.rate_hz', values: [0, 100, 200] },
      { set: 'inputs.food.rate_hz', values: [0, 100] },
    ],
  },
  screen: { reports: { walk: WALK }, sweep: [{ each: ['S_*', 'C_*'], group_by: ['type'], as: 'silence' }] },
};

describeWith(['chromium'], 'the report of an experiment', () => {
  const directory = mkdtempSync(join(tmpdir(), 'reports-'));
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(directory, { recursive: true });
  });

  it.each(Object.entries(DOCUMENTS))(
    'of %s opens alone, is accessible and prints',
    async (name, document) => {
      const [json, html] = ['json', 'html'].map((ending) => join(directory, `${name}.${ending}`)) as [
        string,
        string,
      ];
      writeFileSync(json, JSON.stringify({ name, inputs: INPUTS, duration_ms: 100, trials: 2, ...document }));
      const args = [json, '--html', html, '--connectome', smallConnectomeFile(), '--workers', '1'];
      expect(await runCommand('experiment', args)).toMatchObject({ status: 0 });
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.newPage({ colorScheme, viewport: { width: 360, height: 800 } });
        const problems: string[] = [];
        page.on('console', (message) => problems.push(message.text()));
        page.on('request', (request) => problems.push(request.url()));
        await page.goto(pathToFileURL(html).href);
        expect(problems).toEqual([pathToFileURL(html).href]);
        // Wide tables scroll by themselves.
        const wide = await page.evaluate(() => globalThis.document.documentElement.scrollWidth);
        expect(wide).toBe(360);
        expect(await axeFindings(page)).toEqual([]);
        const dark = await page.evaluate(() => getComputedStyle(globalThis.document.body).backgroundColor);
        expect(dark).toBe(colorScheme === 'dark' ? 'rgb(20, 23, 29)' : 'rgb(255, 255, 255)');
        const paper = await page.pdf({ format: 'A4' });
        expect(paper.subarray(0, 5).toString()).toBe('%PDF-');
        await page.emulateMedia({ media: 'print' });
        const printed = await page.evaluate(() => getComputedStyle(globalThis.document.body).backgroundColor);
        expect(printed).toBe('rgb(255, 255, 255)');
        await page.close();
      }
    },
  );
});

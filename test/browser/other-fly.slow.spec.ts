/** The pages on another fly than FlyWire's, with and without measured positions: they name it correctly. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { runCommand } from '../support/commands.js';
import { writeMaleCns } from '../support/other-flies.js';
import { describeWith } from '../support/requirements.js';
import { brightPixels, expectText, openSettings, untilBrain } from './page-reading.js';
import { axeFindings, serveFile } from './served-page.js';

/** Names that only FlyWire has; gallery and sources of stimuli cite its papers. */
const FLYWIRE = /flywire|fafb|(?<!\d)783(?!\d)|codex|Dorkenwald|Schlegel|BY-NC/i;
const NEURONS = 600;
/** LC4 and LPLC2 of both sides drive the giant fibres, taste neurons motor neuron 9. */
const TYPES = ['DNp01', 'MN9', 'LB3b', 'LC4', 'LPLC2'];

async function maleCns(hasPositions: boolean): Promise<string> {
  const bodies = Array.from({ length: NEURONS }, (_, i) => {
    const type = i < 2 ? 'DNp01' : i < 4 ? 'MN9' : TYPES[2 + (i % 3)]!;
    const isLeft = i % 2 === 0;
    return {
      bodyId: 10_001 + i,
      superclass: i < 2 ? 'descending_neuron' : i < 4 ? 'cb_motor' : 'cb_sensory',
      type,
      flywireType: type === 'LB3b' ? 'LB3' : type,
      somaSide: isLeft ? 'L' : 'R',
      transmitter: i % 10 === 9 ? 'dopamine' : 'acetylcholine',
      // A low x is the fly's left here; places repeat, as those of columns do.
      ...(hasPositions && {
        somaLocation: [(isLeft ? 20_000 : 60_000) + 97 * (i % 89), 40 * i, 91 * (i % 97)],
      }),
    };
  });
  const weights = bodies.slice(4).map(({ bodyId, type, somaSide }) => {
    const target = (type === 'LB3b' ? 10_003 : 10_001) + (somaSide === 'L' ? 0 : 1);
    return [bodyId, target, 60] as const;
  });
  const out = join(mkdtempSync(join(tmpdir(), 'other-fly-')), 'malecns.connectome');
  const args = ['--dataset', 'malecns-1.0', '--tables', writeMaleCns(bodies, weights), '--out', out];
  expect(await runCommand('model-compile', [...args, '--synapse-mv', '0.19'])).toMatchObject({ status: 0 });
  return out;
}

async function lines(page: Page, selector = 'body'): Promise<string[]> {
  return (await page.locator(selector).innerText()).split('\n');
}

describeWith(['chromium'], 'the pages on another fly', () => {
  describe.each([
    ['with positions', true],
    ['without positions', false],
  ])('%s', (_, hasPositions) => {
    const served = serveFile(() => maleCns(hasPositions));

    it('the brain is named, drawn and credited', async () => {
      const { page, problems } = await served.open('/');
      await expectText(page, '#model-line', /^600 neurons.*measured wiring\. MaleCNS, release 1\.0\.$/);
      await untilBrain(page);
      await expectText(
        page,
        '#about-measured',
        hasPositions ? /600 cell bodies have measured positions/ : /no positions: .*made-up places/,
      );
      await expectText(page, '#licence', /MaleCNS, release 1\.0.*CC-BY-4\.0/);
      await expectText(page, '#citations', /Berg et al\. 2026/);
      await expectText(page, '#wiring', /^measured wiring$/);
      // Its answers are its own; only the gallery cites publications on FlyWire.
      await page.locator('#gallery').scrollIntoViewIfNeeded();
      await expectText(page, '#gallery', /Came out\. Escape \d/);
      await page.evaluate(`document.querySelector('#gallery').remove()`);
      expect((await lines(page)).filter((line) => FLYWIRE.test(line))).toEqual([]);
      const places = await page
        .locator('.side-label')
        .evaluateAll((labels) => labels.map((label) => label.getBoundingClientRect().x));
      // Who looks the fly in the face has its left on the right.
      expect(places[0]).toBeGreaterThan(places[1]!);
      expect(await brightPixels(page, '#brain')).toBeGreaterThan(50);
      expect(await axeFindings(page)).toEqual([]);
      expect(problems).toEqual([]);
      await page.close();
    });

    it('the stimuli that its types allow run, and describe their result', async () => {
      const { page, problems } = await served.open('/');
      expect(await page.locator('#stimulus-options label').allInnerTexts()).toEqual([
        'Sugar',
        'Looming object',
        'Nothing',
      ]);
      await page.locator('#stimulus-options').getByText('Sugar', { exact: true }).click();
      await expectText(page, '#key', /^Sugar/);
      await openSettings(page);
      await page.locator('#stimulus-options').getByText('Looming object', { exact: true }).click();
      await page.locator('#run:enabled').click();
      await page.locator('#recorded').waitFor({ state: 'hidden' });
      await expectText(page, '#identity', /malecns-1\.0-measured-fast-0\.19mv-/);
      await expectText(page, '#types', /LPLC2/);
      expect(problems).toEqual([]);
      await page.close();
    });

    it('the laboratory runs a published experiment by the types that stand for its cells', async () => {
      const { page, problems } = await served.open('/laboratory#example=shiu2024-fig1d');
      await page.locator('#run:enabled').click();
      await expectText(page, '#warnings', /other cells: cell types stand for those of @sugar, @MN9/);
      await page.locator('#credit summary').click();
      await expectText(page, '#cite', /Berg et al\. 2026/);
      expect((await lines(page, 'header')).join()).toContain('MaleCNS, release 1.0');
      expect(problems).toEqual([]);
      await page.close();
    });

    it('the description of the interface names no data set', async () => {
      const { info } = (await (await served.service.get('/api/v2/openapi')).json()) as {
        info: { description: string };
      };
      expect(info.description).toMatch(/^Open experiments on a spiking model/);
      const texts = info.description.split('\n');
      expect(texts.filter((line) => FLYWIRE.test(line) && !/such as FlyWire's/.test(line))).toEqual([]);
      // The page is a file that every brain shares.
      const { page } = await served.open('/docs');
      await expectText(page, 'header', /examples are those of the brain that ships/);
      await page.close();
    });
  });
});

/** The brain of the page: selections, comparisons, and drawing again after the graphics were lost. */
import type { Page } from 'playwright-core';
import { type PageOptions } from '../support/browser.js';
import { describeWith } from '../support/requirements.js';
import {
  between,
  brainColours,
  brainOf,
  expectText,
  spikesInRaster,
  untilBrain,
  untilBrainIs,
} from './page-reading.js';
import { hashOf, LOOM, LOOM_HASH, phoneContext, serve } from './served-page.js';

/** Hues of the run, of the kept run and of both, as in styles.css. */
const RUN = [20, 50] as const;
const KEPT = [190, 220] as const;
const SHARED = [260, 290] as const;

describeWith(['chromium'], 'the brain of the page', () => {
  const served = serve('small', { isSharp: true });

  async function open(path: string, options?: PageOptions): Promise<Page> {
    const { page } = await served.open(path, options);
    await untilBrain(page);
    return page;
  }

  it('tells the light of one run, of the other and of both apart, and none of it turns white', async () => {
    const counts = async (hash: string) => {
      const page = await open(hash);
      await expectText(page, '#key', /Kept|Stimulus loom/);
      const colours = await brainColours(page);
      await page.close();
      const of = (hues: readonly [number, number]) => between(colours, ...hues);
      return { white: colours.white, run: of(RUN), kept: of(KEPT), shared: of(SHARED) };
    };
    const one = await counts(LOOM_HASH);
    const same = await counts(`${LOOM_HASH}&${hashOf(LOOM, 'kept.')}`);
    const other = await counts(`${LOOM_HASH}&${hashOf({ ...LOOM, stimulus: 'food' }, 'kept.')}`);
    for (const { white } of [one, same, other]) expect(white).toBe(0);
    expect(one.run).toBeGreaterThan(300);
    expect(same.shared).toBeGreaterThan(300);
    expect(same.run + same.kept).toBeLessThan(0.02 * same.shared);
    expect(Math.min(other.run, other.kept, other.shared)).toBeGreaterThan(50);
  });

  it('turns slowly at rest until its button, or the reader, stops it', async () => {
    const page = await open('', { reducedMotion: 'no-preference' });
    await page.locator('#time:enabled').fill('50');
    const turning = page.getByRole('button', { name: 'Turn slowly' });
    const untilItTurns = async () => {
      const before = await brainOf(page);
      while ((await brainOf(page)) === before);
    };
    const untilItStands = async () => {
      while ((await brainOf(page)) !== (await brainOf(page)));
    };
    expect(await turning.getAttribute('aria-pressed')).toBe('true');
    await untilItTurns();
    await turning.click();
    expect(await turning.getAttribute('aria-pressed')).toBe('false');
    await untilItStands();
    await turning.click();
    await untilItTurns();
    await page.locator('#brain').focus();
    await page.keyboard.press('ArrowUp');
    expect(await turning.getAttribute('aria-pressed')).toBe('false');
    await untilItStands();
    await page.close();

    const still = await open('');
    expect(await still.getByRole('button', { name: 'Turn slowly' }).getAttribute('aria-pressed')).toBe(
      'false',
    );
    await still.close();
  });

  it('shows as the difference only neurons that two runs do not share', async () => {
    const same = await open(`${LOOM_HASH}&${hashOf(LOOM, 'kept.')}`);
    await expectText(same, '#key', /Kept/);
    const before = await brainColours(same);
    await same.getByRole('button', { name: 'Difference' }).click();
    expect(between(before, ...SHARED)).toBeGreaterThan(300);
    const hues: (readonly [number, number])[] = [RUN, KEPT, SHARED];
    const after = await untilBrainIs(same, (seen) => hues.every((each) => between(seen, ...each) < 30));
    for (const each of hues) expect(between(after, ...each)).toBeLessThan(30);
    await same.close();

    const other = await open(`${LOOM_HASH}&${hashOf({ ...LOOM, stimulus: 'none' }, 'kept.')}`);
    await expectText(other, '#key', /Kept/);
    await other.getByRole('button', { name: 'Difference' }).click();
    const apart = await untilBrainIs(other, (seen) => between(seen, ...RUN) > 300);
    expect(between(apart, ...RUN)).toBeGreaterThan(300);
    await other.close();
  });

  it('leaves the wheel to the page, and zooms with Ctrl', async () => {
    const page = await open(LOOM_HASH);
    await page.locator('#share-panel').waitFor();
    await page.locator('#time').fill('200');
    const before = await brainOf(page);
    await page.locator('#brain').hover({ position: { x: 200, y: 200 } });
    await page.mouse.wheel(0, 150);
    await page.waitForFunction(() => scrollY > 50);
    expect(await brainOf(page)).toBe(before);
    await page.locator('#brain').hover({ position: { x: 200, y: 200 } });
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -300);
    await page.keyboard.up('Control');
    await page.waitForTimeout(200);
    expect(await page.evaluate(() => scrollY)).toBe(0);
    expect(await brainOf(page)).not.toBe(before);
    await page.close();
  });

  it('rings the neurons of a type that is pressed, and comes into view', async () => {
    const page = await open(LOOM_HASH, { width: 1440, height: 700 });
    await page.locator('#types tbody tr').first().waitFor();
    const before = (await brainColours(page)).white;
    await page.locator('#types').getByRole('button', { name: 'S_loom', exact: true }).click();
    await expectText(page, '#card', /^S_loom/);
    const box = (await page.locator('#brain').boundingBox())!;
    expect(box.y).toBeGreaterThanOrEqual(-2);
    expect(box.y + box.height).toBeLessThanOrEqual(700);
    const ringed = await untilBrainIs(page, ({ white }) => white - before > 12 * 20);
    expect(ringed.white - before).toBeGreaterThan(12 * 20);
    await page.close();
  });

  it('rings a neuron that was clicked although it is silent, and says who it is', async () => {
    const page = await open('#stimulus=none');
    await expectText(page, '#key', /^Nothing/);
    const before = (await brainColours(page)).white;
    await clickANeuron(page);
    await expectText(page, '#card', /One neuron, N_\d{4}[^]*0 spikes[^]*Gets input from[^]*Sends output to/);
    const { top, bottom, left, right } = await page
      .locator('#card')
      .evaluate((card) => card.getBoundingClientRect());
    expect([top, left]).toEqual([top, left].map((edge) => Math.max(edge, 0)));
    expect([bottom, right]).toEqual([Math.min(bottom, 900), Math.min(right, 1280)]);
    const ringed = await untilBrainIs(page, ({ white }) => white - before > 60);
    expect(ringed.white - before).toBeGreaterThan(60);
    // The selection stays in the next run.
    await page.locator('#stimulus-options').getByText('Stimulus loom', { exact: true }).click();
    await expectText(page, '#key', /^Stimulus loom/);
    expect((await brainColours(page)).white - before).toBeGreaterThan(60);
    await page.getByRole('button', { name: 'Close the card' }).click();
    expect(await page.locator('#card').isVisible()).toBe(false);
    const unringed = await untilBrainIs(page, ({ white }) => white - before < 30);
    expect(unringed.white - before).toBeLessThan(30);
    await page.close();
  });

  it('gives a type a card: name, spikes and partners', async () => {
    const page = await open(`${LOOM_HASH}&${hashOf({ ...LOOM, stimulus: 'food' }, 'kept.')}`);
    const [run, kept] = await Promise.all(
      [LOOM, { ...LOOM, stimulus: 'food' }].map(async (body) => (await served.service.post(body)).json()),
    );
    await page.locator('#types').getByRole('button', { name: 'S_loom', exact: true }).click();
    const { atlas_url } = await (await served.service.get('/api/v1/model')).json();
    const atlas = await (await served.service.get(atlas_url)).json();
    const types = [...new Set<string>(atlas.type)];
    const card = await (
      await served.service.get(atlas_url.replace('.json', `/types/${types.indexOf('S_loom')}`))
    ).json();
    const spikesIn = (answer: { frames: { spikes: number[] }[] }) =>
      answer.frames.flatMap(({ spikes }) => spikes).filter((neuron) => atlas.type[neuron] === 'S_loom')
        .length;
    await expectText(page, '#card', /Sends output to/);
    // It opens in view, below the brain.
    const { y } = (await page.locator('#card').boundingBox())!;
    expect(y).toBeLessThan(900 - 100);
    const text = await page.locator('#card').innerText();
    expect(text).toContain('12 neurons · sensory · class made up · 6 left, 6 right · excitatory (+)');
    expect(text).toContain(`${spikesIn(run)} spikes`);
    expect(text).toContain(`in the kept run ${spikesIn(kept)} spikes`);
    const [strongest] = card.outputs.strongest;
    expect(text).toMatch(new RegExp(`Sends output to.*${strongest.name || 'untyped central'}\\s+`, 's'));
    expect(await page.getByRole('link', { name: 'Type in Codex' }).getAttribute('href')).toBe(
      'https://codex.flywire.ai/app/search?dataset=fafb&filter_string=cell_type+%3D%3D+S_loom',
    );
    // Its neurons have made-up ids, which Codex does not know.
    expect(await page.getByRole('link', { name: 'This neuron in Codex' }).count()).toBe(0);
    await page.locator('#card li button').first().click();
    await expectText(page, '#card', /^(?!S_loom)/);
    await page.close();
  });

  it('leaves in the raster only neurons that are pointed out; orders rows by type; zooms and comes back', async () => {
    const page = await open(LOOM_HASH);
    await page.locator('#raster svg').waitFor();
    const all = await spikesInRaster(page);
    await page.locator('#types').getByRole('button', { name: 'C_escape', exact: true }).click();
    await page.getByRole('button', { name: 'Only these in the raster' }).click();
    await expectText(page, '#raster-shown', /^Only C_escape\.$/);
    expect(await spikesInRaster(page)).toBeLessThan(0.6 * all);
    await page.getByRole('button', { name: 'Close the card' }).click();
    await expectText(page, '#raster-shown', /^$/);
    expect(await spikesInRaster(page)).toBe(all);

    const raster = () => page.locator('#raster svg').evaluate((svg) => svg.outerHTML);
    const bySuperClass = await raster();
    await page.locator('#raster-order').selectOption('type');
    const byType = await raster();
    expect(byType).not.toBe(bySuperClass);
    await page.locator('#raster').scrollIntoViewIfNeeded();
    const box = (await page.locator('#raster .cover').boundingBox())!;
    await page.mouse.move(box.x + 0.2 * box.width, box.y + 0.1 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.4 * box.height, { steps: 4 });
    await page.locator('#raster .chosen').waitFor();
    await page.mouse.up();
    expect(await spikesInRaster(page)).toBeLessThan(0.6 * all);
    // The end of a drag is no click that seeks.
    await expectText(page, '#shown-moment', /Whole run/);
    await page.getByRole('button', { name: 'Whole run' }).click();
    expect(await raster()).toBe(byType);
    // A click goes to its moment. The line of both plots follows.
    await page.mouse.click(box.x + 0.25 * box.width, box.y + 0.5 * box.height);
    await expectText(page, '#shown-moment', /^(49|50)\.\d ms of 200 ms/);
    for (const plot of ['#raster', '#rates']) {
      const [line, cover] = await Promise.all(
        ['.playhead', '.cover'].map(async (each) => (await page.locator(`${plot} ${each}`).boundingBox())!),
      );
      expect((line!.x - cover!.x) / cover!.width).toBeCloseTo(0.25, 2);
    }
    // A band without room for its label has it where the reader points.
    expect(await page.locator('#raster .neurons title').allTextContents()).toContain('C_escape');
    await page.close();
  });

  it('comes back by itself after the graphics were lost', async () => {
    const page = await open(LOOM_HASH);
    await expectText(page, '#key', /Stimulus loom/);
    const before = await brainOf(page);
    await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('#brain')!;
      const extension = canvas.getContext('webgl2')!.getExtension('WEBGL_lose_context')!;
      (window as { restore?: () => void }).restore = () => extension.restoreContext();
      extension.loseContext();
    });
    await expectText(page, '#brain-status', /took the graphics away/);
    await page.evaluate(() => (window as { restore?: () => void }).restore!());
    await page.waitForFunction(() => document.querySelector('#brain-status')!.textContent === '');
    await page.waitForTimeout(300);
    expect(await brainOf(page)).toBe(before);
    await page.close();
  });

  it('is on the first screen of a phone, with notices in view, and a tap names a neuron', async () => {
    const context = await phoneContext(served);
    const page = await context.newPage();
    await page.goto(served.service.url);
    await untilBrain(page);
    const box = (await page.locator('#brain').boundingBox())!;
    expect(box.y + box.height).toBeLessThan(400);
    expect(await page.locator('body [title]').count()).toBe(0);
    await clickANeuron(page, (x, y) => page.touchscreen.tap(x, y));
    await expectText(page, '#card', /One neuron, N_\d{4}/);

    await page.locator('#about').scrollIntoViewIfNeeded();
    await page.route('**/api/v1/run*', (route) => route.abort());
    await page.evaluate(() => document.querySelector<HTMLFormElement>('#experiment')!.requestSubmit());
    await expectText(page, '#alert', /No connection/);
    const notice = (await page.locator('#alert').boundingBox())!;
    expect(notice.y).toBeGreaterThan(0);
    expect(notice.y + notice.height).toBeLessThan(740);
    await page.unroute('**/api/v1/run*');
    await page.getByRole('button', { name: 'Try again' }).tap();
    await page.locator('#recorded').waitFor({ state: 'hidden' });
    // The explanation of a channel opens by touch, too.
    await page.locator('#channels button', { hasText: 'Channel escape' }).tap();
    await expectText(page, '#channels', /Made up for tests\. 4 neurons: one spike equals/);
    await context.close();
  });
});

/** Clicks places near the middle of the brain until one of them is a neuron. */
async function clickANeuron(page: Page, click = (x: number, y: number) => page.mouse.click(x, y)) {
  await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
  const box = (await page.locator('#brain').boundingBox())!;
  for (let i = 0; i < 60; i++) {
    const [x, y] = [0.35 + 0.05 * (i % 7), 0.35 + 0.04 * Math.floor(i / 7)];
    await click(box.x + x * box.width, box.y + y * box.height);
    if (await page.locator('#card').isVisible()) return;
  }
  throw new Error('No neuron was found near the middle of the brain.');
}

/** The fly on the page: beside the brain, in step with the scrubber, said to be engineered. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { behaviourOf } from '../../clients/fly/src/behaviour.js';
import { Choreography } from '../../clients/fly/src/choreography.js';
import { drivesOf } from '../../clients/fly/src/run-drives.js';
import { type PageOptions } from '../support/browser.js';
import { describeWith } from '../support/requirements.js';
import { expectText, readPicture } from './page-reading.js';
import { axeFindings, hashOf, serve, type Served } from './served-page.js';

const LOOM = { stimulus: 'loom', duration_ms: 100, intensity: 1, seed: 42 };
/** Slow-down with which a fly moves in real time at the usual speed of playback, 1/50. */
const SLOW_DOWN = 50;
/** Far marks on the ground are faint; a wing is not. */
const MAX_OF_GROUND = 24;

describeWith(['chromium'], 'the fly on the page', () => {
  const served = serve('default');

  async function open(experiment: object, options?: PageOptions) {
    const opened = await served.open(`/#${hashOf(experiment)}`, options);
    await opened.page.locator('#results').waitFor();
    await opened.page.locator('#fly-canvas[data-draw-calls]').waitFor();
    return opened;
  }

  it('follows the drives of its frames at each moment, forwards and back', async () => {
    const { page, problems } = await open(LOOM);
    const run = await (await served.service.post(LOOM)).json();
    const model = await (await served.service.get('/api/v1/model')).json();
    const choreography = new Choreography(drivesOf(run, model), SLOW_DOWN);
    const pictures = new Map<number, string>();
    const told = new Set<string>();
    for (const timeMs of [0, 10, 20, 60, 20, 0]) {
      const behaviour = behaviourOf(choreography.at(timeMs));
      told.add(behaviour);
      const picture = await pictureAt(page, timeMs);
      expect(await page.locator('#fly figcaption').innerText()).toMatch(
        new RegExp(`^engineered\\s+The fly ${behaviour}\\.$`),
      );
      expect(await page.locator('#fly-canvas').getAttribute('aria-label')).toContain(`it ${behaviour}.`);
      expect(pictures.get(timeMs) ?? picture).toBe(picture);
      pictures.set(timeMs, picture);
    }
    expect(told.size).toBeGreaterThan(2);
    expect(new Set(pictures.values()).size).toBe(pictures.size);
    // Body, wings, shadow and the marks on the ground: at the start nothing is near.
    expect(await page.locator('#fly-canvas').getAttribute('data-draw-calls')).toBe('4');
    expect(problems).toEqual([]);
    await page.close();
  });

  it.each([
    ['song', 768],
    ['loom', 768],
    ['loom', 360],
  ])('keeps raised and beating wings in the picture: %s, %d px wide', async (stimulus, width) => {
    const { page } = await open({ ...LOOM, stimulus }, { width, height: 1024 });
    for (const timeMs of [20, 40, 60, 80, 100]) {
      await page.locator('#time').fill(String(timeMs));
      await drawn(page);
      expect(await edgeColours(page)).toBeLessThan(MAX_OF_GROUND);
    }
    await page.close();
  });

  it('turns with the arrow keys', async () => {
    const { page } = await open({ ...LOOM, stimulus: 'touch' });
    await page.locator('#time').fill('50');
    // The focus is seen in the picture, too.
    await page.locator('#fly-canvas').press('Shift');
    const before = await settled(page);
    await page.locator('#fly-canvas').press('ArrowRight');
    expect(await settled(page)).not.toBe(before);
    await page.close();
  });

  it.each([360, 1440])('stands in an inset that changes places with the brain, %d px wide', async (width) => {
    const { page, problems } = await open({ ...LOOM, stimulus: 'sugar' }, { width, height: 740 });
    const boxes = () =>
      Promise.all(
        ['#canvas-frame', '#fly'].map(async (selector) => (await page.locator(selector).boundingBox())!),
      );
    const [brain, fly] = await boxes();
    expect(fly!.x + fly!.width).toBeLessThanOrEqual(brain!.x + brain!.width);
    expect(fly!.y + fly!.height).toBeLessThanOrEqual(brain!.y + 0.6 * brain!.height);
    expect(fly!.width).toBeLessThan(0.4 * brain!.width);
    expect(brain!.width).toBeGreaterThan(0.7 * width);
    await page.getByRole('button', { name: 'Show the fly large' }).click();
    expect(await boxes()).toEqual([fly, brain]);
    expect(await axeFindings(page, '#stage')).toEqual([]);
    await page.getByRole('button', { name: 'Show the brain large' }).click();
    expect(await boxes()).toEqual([brain, fly]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(await axeFindings(page, '#stage')).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('is saved beside the brain as a video, whole or ended earlier', async () => {
    const { page, problems } = await open(LOOM);
    const button = page.locator('#save-clip:enabled');
    const saved = page.waitForEvent('download');
    await button.click();
    await expectText(page, '#save-clip', /^Recording: \d s$/);
    const [views, brain, fly] = await Promise.all(
      ['#views', '#brain', '#fly-canvas'].map(async (each) => (await page.locator(each).boundingBox())!),
    );
    const whole = await saved;
    expect(whole.suggestedFilename()).toMatch(/^fly\.(mp4|webm)$/);
    await expectText(page, '#live-note', /^Saved as fly\.(mp4|webm)\.$/);
    // The views are as high as the video without its line of text, 672 of 720 pixels, or as wide.
    const scale = Math.min(1280 / views!.width, 672 / views!.height);
    const inVideo = (box: { x: number; y: number; width: number; height: number }) => ({
      x: 640 + scale * (box.x + box.width / 2 - views!.x - views!.width / 2),
      y: scale * (box.y + box.height / 2 - views!.y),
      size: scale * 0.4 * Math.min(box.width, box.height),
    });
    const seen = await playedVideo(served, await whole.path(), [brain!, fly!].map(inVideo));
    expect(seen.size).toEqual([1280, 720]);
    expect(seen.durationS).toBeGreaterThan(0);
    for (const colours of seen.colours) expect(colours).toBeGreaterThan(20);

    const ended = page.waitForEvent('download');
    await button.click();
    // A recording that ends before its first frame is encoded has no picture.
    await expectText(page, '#save-clip', /^Recording: [1-3] s$/);
    await button.click();
    expect((await stat(await (await ended).path())).size).toBeGreaterThan(0);
    await expectText(page, '#save-clip', /^Save a video of 6 s$/);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('comes back after the browser took its graphics away', async () => {
    const { page } = await open({ ...LOOM, stimulus: 'touch' });
    const before = await pictureAt(page, 50);
    await page.evaluate(`new Promise((restored) => {
      const canvas = document.getElementById('fly-canvas');
      canvas.addEventListener('webglcontextrestored', restored);
      const loss = canvas.getContext('webgl2').getExtension('WEBGL_lose_context');
      canvas.addEventListener('webglcontextlost', () => setTimeout(() => loss.restoreContext()));
      loss.loseContext();
    })`);
    await expect(pictureAt(page, 50)).resolves.toBe(before);
    await page.close();
  });
});

/**
 * Plays a video in a page of its own, and pauses it after a moment.
 * @param squares around their centres, in pixels of the video
 */
async function playedVideo(
  { browser }: Served,
  path: string,
  squares: { x: number; y: number; size: number }[],
): Promise<{ size: number[]; durationS: number; colours: number[] }> {
  const page = await browser.newPage();
  const base64 = (await readFile(path)).toString('base64');
  const seen = await page.evaluate(
    async ([base64, squares]) => {
      const video = document.createElement('video');
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      video.muted = true;
      video.src = URL.createObjectURL(new Blob([bytes]));
      await video.play();
      while (video.currentTime < 1 && !video.ended) await new Promise((next) => setTimeout(next, 50));
      video.pause();
      const context = new OffscreenCanvas(video.videoWidth, video.videoHeight).getContext('2d')!;
      context.drawImage(video, 0, 0);
      /** Number of colours that differ clearly. */
      const coloursOf = ({ x, y, size }: (typeof squares)[number]): number => {
        const { data } = context.getImageData(x - size / 2, y - size / 2, size, size);
        const found = new Set<number>();
        for (let at = 0; at < data.length; at += 4)
          found.add(((data[at]! >> 4) << 8) | ((data[at + 1]! >> 4) << 4) | (data[at + 2]! >> 4));
        return found.size;
      };
      return {
        size: [video.videoWidth, video.videoHeight],
        durationS: video.duration,
        colours: squares.map(coloursOf),
      };
    },
    [base64, squares] as const,
  );
  await page.close();
  return seen;
}

/** Largest difference of a colour channel along the upper edge of the picture, 0 to 255; 0 if it has one colour. */
function edgeColours(page: Page): Promise<number> {
  return readPicture(page, '#fly-canvas', ({ data, width }) => {
    // The corners are round.
    const [row, corner] = [2, 12];
    const edge = data.slice(4 * (row * width + corner), 4 * ((row + 1) * width - corner));
    return Math.max(...edge.map((value, at) => Math.abs(value - edge[at % 4]!)));
  });
}

/** The picture of the fly at a moment of the run. */
async function pictureAt(page: Page, timeMs: number): Promise<string> {
  await page.locator('#time').fill(String(timeMs));
  return settled(page);
}

/** Waits for two animation frames: in the first the page draws the changes. */
async function drawn(page: Page): Promise<void> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

/** The digest of the picture once it is drawn. */
async function settled(page: Page): Promise<string> {
  await drawn(page);
  // The caption stands on the picture, in one line or in two.
  const showCaption = (visibility: string) =>
    page.evaluate(`document.querySelector('#fly figcaption').style.visibility = '${visibility}'`);
  await showCaption('hidden');
  const picture = await page.locator('#fly-canvas').screenshot();
  await showCaption('');
  return createHash('sha256').update(picture).digest('hex');
}

/**
 * npm run screenshots: takes the pictures of the page that the documents show, anew, in Debian's Chromium. The
 * service is started for it, with the connectome that ships.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { withDefaultService } from './default-service.mjs';

const FOLDER = 'docs/images';
/** Moment of the run that is shown: the giant fibre has begun to fire. */
const MOMENT_MS = '38';
const PICTURES = [
  { file: 'page-wide.jpg', width: 1440, height: 900, colorScheme: 'dark', top: 'body' },
  { file: 'page-phone.jpg', width: 390, height: 844, colorScheme: 'light', top: '#stage' },
];
/** The picture that links to the pages show: brain and fly, in the size that such pictures have. */
const PREVIEW = { file: 'clients/pages/preview.jpg', width: 1200, height: 630 };
const HASH = '#stimulus=loom&duration_ms=100&intensity=1&seed=42';
/** Pictures of the brain at rest, which stand in its place until it is there. */
const POSTER = { width: 640, height: 320, quality: 30 };
/** A dose curve of the sugar circuit. */
const DOSES = {
  inputs: { sugar: { node_set: '@sugar', rate_hz: 100 } },
  reports: { MN9: { node_set: '@MN9', group_by: ['side'] } },
  sweep: [{ set: 'inputs.sugar.rate_hz', values: [10, 25, 50, 75, 100, 150, 200] }],
  trials: 10,
};
const LABORATORY = {
  file: 'laboratory.jpg',
  // Wide enough for the result to stand beside the document.
  width: 2000,
  height: 1000,
  colorScheme: 'dark',
  hash: `#document=${encodeURIComponent(JSON.stringify(DOSES))}`,
};
/** Time for the brain to be drawn at its final size. */
const SETTLE_MS = 1500;
const MARGIN_PX = 12;

await withDefaultService(async (url) => {
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  });
  mkdirSync(FOLDER, { recursive: true });
  {
    const { file, width, height, colorScheme, hash } = LABORATORY;
    const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' });
    await page.goto(`${url}/laboratory${hash}`);
    await page.locator('#run:enabled').click();
    await page.locator('#progress').waitFor({ state: 'hidden' });
    await page.evaluate(`
      document.activeElement.blur();
      scrollTo({ top: 0, behavior: 'instant' });
    `);
    await page.screenshot({ path: join(FOLDER, file), type: 'jpeg', quality: 80 });
    console.log(join(FOLDER, file));
    await page.close();
  }
  for (const { file, width, height, colorScheme, top } of PICTURES) {
    const page = await browser.newPage({
      viewport: { width, height },
      colorScheme,
      reducedMotion: 'reduce',
    });
    await page.goto(url + HASH);
    await page.locator('main:not(.arriving) #results').waitFor();
    await page.locator('#time').fill(MOMENT_MS);
    await page.waitForTimeout(SETTLE_MS);
    await page.evaluate(`
      document.activeElement.blur();
      scrollTo({ top: document.querySelector('${top}').getBoundingClientRect().top - ${MARGIN_PX}, behavior: 'instant' });
    `);
    await page.screenshot({ path: join(FOLDER, file), type: 'jpeg', quality: 80 });
    console.log(join(FOLDER, file));
    await page.close();
  }
  for (const colorScheme of ['dark', 'light']) {
    const { quality, ...viewport } = POSTER;
    const page = await browser.newPage({ viewport, colorScheme, reducedMotion: 'reduce' });
    // Without a run the brain is at rest.
    await page.route('**/runs/**', (route) => route.abort());
    await page.goto(url);
    await page.locator('main:not(.arriving)').waitFor();
    await page.evaluate(`
      document.querySelectorAll('#views > :not(#canvas-frame), #canvas-frame > :not(canvas)')
        .forEach((each) => (each.style.display = 'none'));
      Object.assign(document.querySelector('#canvas-frame').style, { position: 'fixed', zIndex: 9 });
    `);
    await page.waitForTimeout(SETTLE_MS);
    const path = `clients/pages/poster-${colorScheme}.jpg`;
    await page.screenshot({ path, type: 'jpeg', quality });
    console.log(path);
    await page.close();
  }
  const page = await browser.newPage({ viewport: PREVIEW, colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.goto(url + HASH);
  await page.locator('main:not(.arriving) #results').waitFor();
  await page.locator('#time').fill(MOMENT_MS);
  await page.evaluate(`
    document.querySelectorAll('header, main > :not(#stage), #stage > :not(#views), #views > :not(#canvas-frame, #fly), #canvas-frame > :not(canvas)')
      .forEach((each) => (each.style.display = 'none'));
    Object.assign(document.querySelector('#stage').style, { position: 'fixed', inset: '0', borderRadius: '0', border: '0' });
    document.querySelector('#views').style.height = '${PREVIEW.height}px';
  `);
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: PREVIEW.file, type: 'jpeg', quality: 80 });
  console.log(PREVIEW.file);
  await browser.close();
});

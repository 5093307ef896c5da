/**
 * npm run bench:page -- URL: what the page costs a browser, measured in Debian's Chromium against a running service: bytes
 * of the first load, time until the form works and until the brain is drawn, and what an animation frame costs the page's
 * thread while a run plays: its processor time, which other processes do not lengthen. WebGL is computed by the CPU here,
 * so the frame rate means nothing elsewhere.
 */
import { chromium } from 'playwright-core';
import { runCommand, UsageError } from '../dist/cli/command.js';

const ROUNDS = 5;
const PLAYED_MS = 3000;

const COMMAND = {
  name: 'bench:page',
  summary: 'Measures what the page costs a browser, in Chromium against a running service.',
  options: {},
  positionals: {
    name: 'URL',
    help: 'Of the service, such as http://localhost:8080.',
    minimum: 1,
    maximum: 1,
  },
  run: measurePage,
};

await runCommand(COMMAND);

async function measurePage(_options, [url]) {
  if (!URL.canParse(url)) throw new UsageError(`expected the URL of a service, found "${url}"`);
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  });
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'commit' });
    await page.locator('#stimulus-options label').first().waitFor();
    const formMs = await page.evaluate('performance.now()');
    await page.locator('#brain[data-draw-calls]').waitFor();
    const brainMs = await page.evaluate('performance.now()');
    await page.locator('#brain[data-frame-script-ms]').waitFor();
    // The first frames compile shaders and fill buffers; these are of a run that plays.
    await browser.startTracing(page, { categories: ['devtools.timeline'] });
    await page.waitForTimeout(PLAYED_MS);
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
    const frames = traceEvents
      .filter(({ name }) => name === 'FireAnimationFrame')
      .map(({ tdur }) => tdur / 1000);
    const [bytes, drawCalls] = await page.evaluate(`[
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
      ['#brain', '#fly-canvas']
        .reduce((sum, canvas) => sum + Number(document.querySelector(canvas).dataset.drawCalls), 0),
    ]`);
    rounds.push({ bytes, formMs, brainMs, frameMs: median(frames), drawCalls });
    await context.close();
  }
  await browser.close();
  for (const name of ['bytes', 'formMs', 'brainMs', 'frameMs', 'drawCalls']) {
    const values = rounds.map((each) => each[name]);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    console.log(`${name.padEnd(10)} median ${round3(median(values))}, ${round3(least)} to ${round3(most)}`);
  }
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

function round3(value) {
  return Math.round(1000 * value) / 1000;
}

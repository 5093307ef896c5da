/**
 * npm run bench:page -- URL: what the page costs a browser, measured in Debian's Chromium against a running service: bytes
 * of the first load, time until the form works and until the brain is drawn, and script time of a frame, of brain and
 * fly together, while a run plays. WebGL is computed by the CPU here, so only the script times, not the frame rate, mean
 * anything elsewhere.
 */
import { chromium } from 'playwright-core';

const ROUNDS = 5;
const PLAYED_MS = 3000;
const url = process.argv[2];
if (url === undefined || !URL.canParse(url)) {
  console.error(`bench:page: expected the URL of a service, found ${url ?? 'none'}`);
  process.exit(2);
}

const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
const rounds = [];
for (let round = 0; round < ROUNDS; round++) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator('#run:enabled').waitFor();
  const formMs = await page.evaluate('performance.now()');
  await page.locator('#brain[data-draw-calls]').waitFor();
  const brainMs = await page.evaluate('performance.now()');
  await page.locator('#brain[data-frame-script-ms]').waitFor();
  // The first frames compile shaders and fill buffers; these are of a run that plays.
  await page.waitForTimeout(PLAYED_MS);
  const [bytes, scriptMs, drawCalls] = await page.evaluate(`[
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
    ...['frameScriptMs', 'drawCalls'].map((name) =>
      Number(document.querySelector('#brain').dataset[name]) + Number(document.querySelector('#fly-canvas').dataset[name])),
  ]`);
  rounds.push({ bytes, formMs, brainMs, scriptMs, drawCalls });
  await context.close();
}
await browser.close();
for (const name of ['bytes', 'formMs', 'brainMs', 'scriptMs', 'drawCalls']) {
  const values = rounds.map((each) => each[name]).sort((a, b) => a - b);
  console.log(
    `${name.padEnd(10)} median ${round3(values[ROUNDS >> 1])}, ${round3(values[0])} to ${round3(values.at(-1))}`,
  );
}

function round3(value) {
  return Math.round(1000 * value) / 1000;
}

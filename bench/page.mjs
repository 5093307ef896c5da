/**
 * npm run bench:page -- URL measures the page in Debian's Chromium against a running service. It reports the bytes of
 * the first load and the time until the form works, the fly plays a run, and the brain is drawn (first part, and all).
 * It also reports the processor time of an animation frame while a run plays, which does not depend on other processes.
 * WebGL runs on the CPU here, so the frame rate is not representative. --slow measures a phone: 1.4 Mbit/s, 150 ms a
 * request, a quarter of the processor.
 */
import { chromium } from 'playwright-core';
import { runCommand, UsageError } from '../dist/tools/cli/command.js';

const ROUNDS = 5;
const PLAYED_MS = 3000;
const FIRST_FRAMES = 10;
const KBIT_PER_S = 1400;
const SLOW = {
  network: {
    offline: false,
    latency: 150,
    downloadThroughput: (1000 * KBIT_PER_S) / 8,
    uploadThroughput: (1000 * KBIT_PER_S) / 8,
  },
  processorShare: 4,
};
/** Moments that are noted: when these selectors match for the first time. */
const MOMENTS = {
  formMs: '#stimulus-options label',
  playingMs: '#play.playing',
  flyMs: '#fly-canvas[data-draw-calls]',
  brainMs: '#canvas-frame.drawn',
  liveMs: '#live-start:enabled',
  wholeBrainMs: 'main:not(.arriving)',
};
/** Runs in the page, after each frame until there are all moments, in ms since the page was asked for. */
const NOTE_MOMENTS = `
  const moments = {};
  const look = () => {
    for (const [name, selector] of Object.entries(${JSON.stringify(MOMENTS)})) {
      if (!(name in moments) && document.querySelector(selector)) moments[name] = performance.now();
    }
    if (Object.keys(moments).length < ${Object.keys(MOMENTS).length}) requestAnimationFrame(() => setTimeout(look));
    else document.documentElement.dataset.moments = JSON.stringify(moments);
  };
  look();
`;

const COMMAND = {
  name: 'bench:page',
  summary: 'Measures the cost of the page for a browser, in Chromium against a running service.',
  options: {
    slow: {
      help: 'At 1.4 Mbit/s, with 150 ms before each answer and a quarter of the processor.',
    },
  },
  positionals: {
    usage: 'URL',
    help: 'Of the service, such as http://localhost:8080.',
  },
  run: measurePage,
};

await runCommand(COMMAND);

async function measurePage({ slow = false }, [url]) {
  if (!URL.canParse(url)) throw new UsageError(`expected the URL of a service, found "${url}"`);
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  });
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    if (slow) await slowDown(page);
    await page.addInitScript({ path: 'test/support/watched-page.js' });
    await page.addInitScript(NOTE_MOMENTS);
    await page.goto(url, { waitUntil: 'commit' });
    await page.locator('html[data-moments]').waitFor();
    const moments = JSON.parse(await page.locator('html').getAttribute('data-moments'));
    // The first frames compile shaders and fill buffers; those after them are of a run that plays.
    await page.waitForFunction(`document.querySelector('#brain').dataset.frames > ${FIRST_FRAMES}`);
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
    rounds.push({ bytes, ...moments, frameMs: median(frames), drawCalls });
    await context.close();
  }
  await browser.close();
  for (const name of Object.keys(rounds[0])) {
    const values = rounds.map((each) => each[name]);
    console.log(`${name.padEnd(12)} median ${round3(median(values))}: ${values.map(round3).join(', ')}`);
  }
}

async function slowDown(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', SLOW.network);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOW.processorShare });
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

function round3(value) {
  return Math.round(1000 * value) / 1000;
}

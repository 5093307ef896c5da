/**
 * npm run bench:tab measures the brain in a tab of Debian's Chromium, on a site that npm run site writes: bytes, opening,
 * runs, live steps, experiments and memory. Times are those of the page, from the call to the answer. Chromium slows only
 * the thread of the page (setCPUThrottlingRate refuses workers), so the worker computes at full speed in both columns: for
 * a slow phone, expect at most four times the first one.
 */
import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { cpus, loadavg, tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runCommand } from '../dist/tools/cli/command.js';
import { median, printRows, rounded, wholeNumber } from './measure.mjs';

const SLOWDOWN = 4;
const RUNS = 20;
const STEPS = 200;
const TYPES = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.json': 'application/json' };
/** An empty page, so that only the brain is measured. */
const PAGE = '/fly/empty';

/** Functions of the page. Each returns milliseconds. */
const IN_PAGE = `
  const timed = async (work) => {
    const begin = performance.now();
    await work();
    return performance.now() - begin;
  };
  const open = (options) => timed(async () => {
    globalThis.brain?.close();
    const { openBrain } = await import('/fly/brain.js');
    globalThis.brain = await openBrain(options);
  });
  const untilStored = async () => {
    const cache = await caches.open('brain');
    while ((await cache.keys()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const firstStep = (document) => timed(async () => {
    await open();
    const session = await brain.session(document);
    await session.step({ t_ms: 0, duration_ms: 20 }, { drive: true });
  });
  const runs = async (stimulus, count, first) => {
    const times = [];
    for (let at = 0; at < count; at++)
      times.push(await timed(() => brain.run({ stimulus, duration_ms: 100, seed: first + at })));
    return times;
  };
  const steps = async (document, count) => {
    const session = await brain.session(document);
    const times = [];
    for (let at = 0; at < count; at++)
      times.push(await timed(() => session.step({ t_ms: 20 * at, duration_ms: 20 }, { drive: true })));
    await session.end();
    return times;
  };
  const experiment = (document) => timed(() => brain.experiment(document));
  const abort = async (document) => {
    const stop = new AbortController();
    await new Promise((resolve) => {
      const onEvent = (line) => 'progress' in line && resolve();
      brain.experiment(document, { signal: stop.signal, onEvent }).catch(() => undefined);
    });
    stop.abort();
    return timed(() => brain.run({ stimulus: 'none', duration_ms: 50 }));
  };
  Object.assign(globalThis, { open, untilStored, firstStep, runs, steps, experiment, abort });
`;

const exampleOf = (name) =>
  JSON.parse(readFileSync(new URL(`../examples/${name}.json`, import.meta.url), 'utf8'));
const SHUFFLED = { ...exampleOf('shiu2024-shuffled'), controls: { shuffle: 'weights', count: 20 } };
const LIVE = { inputs: { sugar: { node_set: '@sugar', rate_hz: 100 } } };
const LONG = { ...LIVE, trials: 4, duration_ms: 600_000 };

await runCommand({
  name: 'bench:tab',
  summary: 'Measures the brain in a tab of Chromium, with the page at full speed and at a quarter of it.',
  options: {
    connectome: { value: 'FILE', default: 'data/default.connectome', help: 'The brain of the site.' },
    rounds: { value: 'N', default: '5', help: 'How often the brain is opened, and each experiment run.' },
    json: { help: 'Prints JSON.' },
  },
  run: measureTab,
});

async function measureTab({ connectome, rounds, json = false }) {
  const count = wholeNumber('rounds', rounds, 100);
  const folder = mkdtempSync(join(tmpdir(), 'bench-tab-'));
  const server = await serve(folder);
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--js-flags=--expose-gc'],
  });
  try {
    const site = ['scripts/site.mjs', '--out', folder, '--connectome', connectome];
    execFileSync(process.execPath, site, { stdio: ['ignore', 'ignore', 'inherit'] });
    const slowed = `page slowed ${SLOWDOWN}x`;
    const columns = [];
    for (const slowdown of [1, SLOWDOWN])
      columns.push(await measurePage(browser, server.url, slowdown, count));
    const rows = [
      ...bytesOf(server.sent),
      ...columns[0].map(([what, value], at) => ({
        what,
        'full speed': rounded(value, 2),
        [slowed]: rounded(columns[1][at][1], 2),
      })),
      busyness(),
    ];
    const empty = { what: '', 'full speed': '', [slowed]: '' };
    printRows(json ? rows : rows.map((row) => ({ ...empty, ...row })), json);
  } finally {
    await browser.close();
    server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** @returns pairs of a name and a median */
async function measurePage(browser, url, slowdown, rounds) {
  const opened = { cold: [], stored: [], stepped: [] };
  const memory = { before: [], after: [] };
  let page;
  let before;
  for (let round = 0; round < rounds; round++) {
    await page?.context().close();
    const context = await browser.newContext();
    page = await pageOf(context, url, slowdown);
    before = await memoryMb(browser);
    opened.cold.push(await page.evaluate('open()'));
    await page.evaluate('untilStored()');
    opened.stored.push(await page.evaluate('open()'));
    memory.before.push((await memoryMb(browser)) - before);
    await collectGarbage(page);
    memory.after.push((await memoryMb(browser)) - before);
    opened.stepped.push(await page.evaluate(`firstStep(${JSON.stringify(LIVE)})`));
  }
  const pairs = [
    ['open, from the host (ms)', median(opened.cold)],
    ['open, stored (ms)', median(opened.stored)],
    ['open, stored, and a first step (ms)', median(opened.stepped)],
  ];
  const stimuli = await page.evaluate('brain.model().then(({ stimuli }) => stimuli.map(({ id }) => id))');
  for (const stimulus of stimuli) await page.evaluate(`runs('${stimulus}', 5, 1)`);
  for (const stimulus of stimuli) {
    pairs.push([
      `${stimulus}, 100 ms (ms)`,
      median(await page.evaluate(`runs('${stimulus}', ${RUNS}, 100)`)),
    ]);
  }
  pairs.push([
    'live step of 20 ms (ms)',
    median(await page.evaluate(`steps(${JSON.stringify(LIVE)}, ${STEPS})`)),
  ]);
  for (const workers of [1, 2]) {
    await page.evaluate(`open({ workers: ${workers} })`);
    for (const [name, document] of [
      ['Fig. 1D', exampleOf('shiu2024-fig1d')],
      ['20 shuffled controls', SHUFFLED],
    ]) {
      const times = [];
      for (let round = 0; round < rounds; round++) {
        times.push(await page.evaluate(`experiment(${JSON.stringify(document)})`));
      }
      pairs.push([`${name}, ${workers === 1 ? 'one worker' : 'two workers'} (ms)`, median(times)]);
    }
    if (workers === 1) pairs.push(['memory after experiments (MB)', (await memoryMb(browser)) - before]);
    const aborts = [];
    for (let round = 0; round < rounds; round++)
      aborts.push(await page.evaluate(`abort(${JSON.stringify(LONG)})`));
    pairs.push([`abort, then a run, ${workers === 1 ? 'one worker' : 'two workers'} (ms)`, median(aborts)]);
  }
  await page.context().close();
  return [
    ...pairs,
    ['memory after opening (MB)', median(memory.before)],
    ['memory after opening, without garbage (MB)', median(memory.after)],
  ];
}

async function collectGarbage(page) {
  for (const thread of [page, ...page.workers()]) await thread.evaluate('gc()');
  // Memory of buffers is freed beside the thread.
  await page.waitForTimeout(500);
}

async function pageOf(context, url, slowdown) {
  const page = await context.newPage();
  await page.goto(url + PAGE);
  if (slowdown > 1) {
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  }
  await page.evaluate(IN_PAGE);
  return page;
}

/** Memory of all renderers. Pages that processes share are divided among them. */
async function memoryMb(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const kilobytes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))[1]));
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1000;
}

/** A static host that compresses text and WebAssembly with gzip, and notes how many bytes it sends. */
async function serve(folder) {
  const sent = [];
  const server = createServer((request, response) => {
    if (request.url === PAGE) {
      response.setHeader('Content-Type', 'text/html');
      // The icon keeps the browser from asking for one.
      response.end('<!doctype html><title>Empty</title><link rel="icon" href="data:,">');
      return;
    }
    const path = request.url.replace('/fly/', '');
    const type = TYPES[extname(path)];
    const file = readFileSync(join(folder, path));
    const bytes = type === undefined ? file : gzipSync(file);
    response.setHeader('Content-Type', type ?? 'application/octet-stream');
    if (type !== undefined) response.setHeader('Content-Encoding', 'gzip');
    response.end(bytes);
    sent.push([path, bytes.length]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => server.close();
  return { url: `http://127.0.0.1:${server.address().port}`, sent, stop };
}

/** Bytes of the first visit. */
function bytesOf(sent) {
  const visit = new Map(sent);
  const sizeOf = (extension) =>
    [...visit].reduce((sum, [path, bytes]) => sum + (path.endsWith(extension) ? bytes : 0), 0);
  return [
    ['JavaScript (bytes sent)', sizeOf('.js')],
    ['WebAssembly (bytes sent)', sizeOf('.wasm')],
    ['brain (bytes sent)', sizeOf('.gz')],
  ].map(([what, bytes]) => ({ what, 'full speed': bytes }));
}

/** Programs that wanted a core during the last minute; compare times only if it is small. */
function busyness() {
  return { what: `load of the machine, ${cpus().length} cores`, 'full speed': rounded(loadavg()[0], 1) };
}

import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Debian's browser without windows, and its Chromium, whose windows take as long as many pages. */
const EXECUTABLES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/**
 * Features of the address bar, switched off: each page has a window of its own, and each window would load two hidden
 * pages of suggestions, in a process that takes as long as the page under test.
 */
const ADDRESS_BAR_FEATURES = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'];
/** Features that Playwright turns off and tests rely on, repeated since Chromium takes the last of several lists. */
const PLAYWRIGHT_FEATURES = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

/**
 * Pages then draw ten times a second at most. With WebGL computed by the CPU, a page that draws as often as it can takes two
 * cores, and no test looks at single frames.
 */
const FEW_FRAMES = `{
  const [request, cancel] = [requestAnimationFrame.bind(window), cancelAnimationFrame.bind(window)];
  const waiting = new Map();
  let drawnMs = 0;
  window.requestAnimationFrame = (draw) => {
    const wait = (ms) => {
      if (ms !== drawnMs && ms - drawnMs < 100) return waiting.set(id, request(wait));
      waiting.delete(id);
      drawnMs = ms;
      draw(ms);
    };
    const id = request(wait);
    waiting.set(id, id);
    return id;
  };
  window.cancelAnimationFrame = (id) => {
    cancel(waiting.get(id) ?? id);
    waiting.delete(id);
  };
}`;

/**
 * Scenes then have a sixteenth of the pixels, and each is computed once. With WebGL computed by the CPU, pixels take more time
 * than all else in a page.
 */
const FEW_PIXELS = `{
  Object.defineProperty(window, 'devicePixelRatio', { value: 0.25 });
  const getContext = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, options) {
    return getContext.call(this, kind, kind.startsWith('webgl') ? { ...options, antialias: false } : options);
  };
}`;

/**
 * Pages then draw the first 8,192 of 139,255 points. With WebGL computed by the CPU, each point takes as long whether a
 * pixel shows it or not, and a moving brain takes a core.
 */
const FEW_POINTS = `{
  const { drawArrays } = WebGL2RenderingContext.prototype;
  WebGL2RenderingContext.prototype.drawArrays = function (mode, first, count) {
    return drawArrays.call(this, mode, first, mode === this.POINTS ? Math.min(count, 8192) : count);
  };
}`;

/** How long a page may take for anything; on a slow machine it computes long. */
const WAIT_MS = 60_000;

/** Notes draw calls, frames, and a brain in the tab as attributes, for which tests wait. */
const WATCH = 'test/support/watched-page.js';

/** Pages then ask the service for runs, and load no brain into the tab. */
const SAVE_DATA = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })";

/**
 * Debian's Chromium, or its part without windows, headless, with WebGL computed by the CPU and all the rest without it, and silent on the network.
 * @param computesHere true if pages may compute in the tab; most tests are about the service behind a page
 * @param isSharp true for tests that look at colours of small parts of a scene
 */
export async function launchChromium({ computesHere = false, isSharp = false } = {}): Promise<Browser> {
  const browser = await launch();
  const newContext = browser.newContext.bind(browser);
  // Pages without a context of their own come from here too.
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(WAIT_MS);
    await context.addInitScript({ path: WATCH });
    await context.addInitScript(FEW_FRAMES);
    if (!isSharp) {
      await context.addInitScript(FEW_PIXELS);
      await context.addInitScript(FEW_POINTS);
    }
    if (!computesHere) await context.addInitScript(SAVE_DATA);
    return context;
  };
  return browser;
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: EXECUTABLES.find((path) => existsSync(path))!,
    args: [
      '--no-sandbox',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${[...ADDRESS_BAR_FEATURES, ...PLAYWRIGHT_FEATURES].join(',')}`,
      '--disable-gpu-compositing',
      '--use-gl=angle',
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
    ],
  });
}

/** A page and its problems: errors in its console and requests to other hosts. */
export interface WatchedPage {
  readonly page: Page;
  readonly problems: string[];
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  /** With a zoom of 2, a window has half as many CSS pixels, each twice as large. */
  readonly zoom?: number;
  readonly colorScheme?: 'dark' | 'light';
  /** Reduced by default: with WebGL computed by the CPU, playing takes a core and a half. */
  readonly reducedMotion?: 'reduce' | 'no-preference';
}

export async function openPage(
  browser: Browser,
  service: { readonly url: string },
  path = '/',
  { width = 1280, height = 900, zoom = 1, colorScheme = 'dark', reducedMotion = 'reduce' }: PageOptions = {},
): Promise<WatchedPage> {
  const viewport = { width: width / zoom, height: height / zoom };
  const page = await browser.newPage({ viewport, deviceScaleFactor: zoom, colorScheme, reducedMotion });
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    // The browser itself reports every failed answer here; the tests ask for some of those.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      problems.push(message.text());
    }
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(service.url) && !url.startsWith('data:')) problems.push(`request to ${url}`);
  });
  if (path !== 'about:blank') await page.goto(service.url + path);
  return { page, problems };
}

import { type Browser, chromium, type Page } from 'playwright-core';

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

/** Debian's Chromium, headless, with WebGL computed by the CPU and all the rest without it, and silent on the network. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
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

/** A page, and what it should not have done: errors in its console and requests to other hosts. */
export interface WatchedPage {
  readonly page: Page;
  readonly problems: string[];
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'dark' | 'light';
  /** Reduced by default: with WebGL computed by the CPU, playing takes a core and a half. */
  readonly reducedMotion?: 'reduce' | 'no-preference';
}

export async function openPage(
  browser: Browser,
  service: { readonly url: string },
  path = '/',
  { width = 1280, height = 900, colorScheme = 'dark', reducedMotion = 'reduce' }: PageOptions = {},
): Promise<WatchedPage> {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion });
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

/** Parts that tests of the page share: a browser, a service behind it, the run that most of them look at, and axe. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium, openPage, type PageOptions, type WatchedPage } from '../support/browser.js';
import { connectomeFile } from '../support/connectomes.js';
import { startReadyService, type Service } from '../support/service.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

// A browser's frames and timers are not the tests' to command: a test that fails runs once more, its failure is shown.
jest.retryTimes(1, { logErrorsBeforeRetry: true });

export const LOOM = { stimulus: 'loom', duration_ms: 200, intensity: 1.5, seed: 7 };
export const LOOM_HASH = `#${hashOf(LOOM)}`;

/** The part of a link that stands for a run; of the run that it is compared with, with the prefix `kept.`. */
export function hashOf(experiment: object, prefix = ''): string {
  return new URLSearchParams(
    Object.entries(experiment).map(([name, value]) => [prefix + name, String(value)]),
  ).toString();
}

export interface Served {
  readonly browser: Browser;
  readonly service: Service;
  /** Opens a path of the service in a new page. */
  open(path?: string, options?: PageOptions): Promise<WatchedPage>;
}

/**
 * Starts both before the tests of a describe block and ends them after these; until then neither is there.
 * @param brain the small one of most tests, or that which ships
 * @param look as launchChromium takes it
 */
export function serve(
  brain: 'small' | 'default' = 'small',
  look: { readonly isSharp?: boolean } = {},
): Served {
  return serveFile(async () => (brain === 'small' ? smallConnectomeFile() : connectomeFile(brain)), look);
}

/** @param made returns the path of the connectome, when it is there */
export function serveFile(made: () => Promise<string>, look: { readonly isSharp?: boolean } = {}): Served {
  let browser: Browser;
  let service: Service;
  beforeAll(async () => {
    const CONNECTOME_FILE = await made();
    [browser, service] = await Promise.all([launchChromium(look), startReadyService({ CONNECTOME_FILE })]);
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });
  return {
    get browser() {
      return browser;
    },
    get service() {
      return service;
    },
    open: (path, options) => openPage(browser, service, path, options),
  };
}

/** A phone: small, touched, without movement that nobody asked for. */
export function phoneContext({ browser }: Served): Promise<BrowserContext> {
  return browser.newContext({
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
    reducedMotion: 'reduce',
  });
}

export interface AxeFinding {
  readonly id: string;
  /** The elements, as HTML. */
  readonly nodes: readonly string[];
}

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Without elements that stick to an edge: one covers other targets at some places of the scroll, and scrolling uncovers them.
 * @param selector the part of the page that is checked
 */
export async function axeFindings(page: Page, selector = 'html'): Promise<AxeFinding[]> {
  await page.evaluate(AXE);
  return page.evaluate(
    // The size of targets belongs to WCAG 2.2 AA, and axe leaves it out by default.
    `(async () => {
      const sticky = [...document.querySelectorAll('*')].filter((element) => getComputedStyle(element).position === 'sticky');
      for (const { style } of sticky) style.position = 'static';
      // A control that grows because the pointer is above it would be too small for half a second.
      const still = new CSSStyleSheet();
      still.replaceSync('* { transition: none !important; }');
      document.adoptedStyleSheets.push(still);
      const { violations } = await axe.run('${selector}', { rules: { 'target-size': { enabled: true } } });
      document.adoptedStyleSheets.pop();
      for (const { style } of sticky) style.position = '';
      return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => html + failureSummary) }));
    })()`,
  );
}

/** Actions on the page, and readings of it, for its tests. */
import type { Page } from 'playwright-core';

/** Waits until an element shows a text. @throws with the text that it shows instead, and the last note of a live fly */
export async function expectText(page: Page, selector: string, pattern: RegExp): Promise<void> {
  try {
    await page.waitForFunction(
      ([css, source, flags]) =>
        new RegExp(source!, flags).test(document.querySelector<HTMLElement>(css!)?.innerText ?? ''),
      [selector, pattern.source, pattern.flags] as const,
    );
  } catch (error) {
    const textsOf = (css: string) =>
      page
        .locator(css)
        .allInnerTexts()
        .catch(() => []);
    const [[text], [note]] = await Promise.all([textsOf(selector), textsOf('#live-note')]);
    const noted = note ? ` The note: "${note}"` : '';
    throw new Error(`${selector} shows "${text}", not ${pattern}.${noted}`, { cause: error });
  }
}

/** Unfolds the settings, in which runs are computed on request. */
export async function openSettings(page: Page): Promise<void> {
  await page.locator('#settings').evaluate((settings: HTMLDetailsElement) => (settings.open = true));
}

/** Opens a link to the page in the tab that shows it. */
export async function follow(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => (location.hash = to), hash);
}

/** Waits for the whole brain, and a drawn frame. */
export async function untilBrain(page: Page): Promise<void> {
  await page.locator('main:not(.arriving)').waitFor();
  await page.waitForFunction(() => document.querySelector<HTMLElement>('#brain')!.dataset['drawCalls']);
}

/** Names of the visible headings and controls, those of them that the window cuts off, and the width of the page. */
export async function readNames(page: Page) {
  const all = await page
    .locator('h1, h2, h3, a, button, input, select, textarea, summary, legend')
    .evaluateAll((elements) =>
      elements
        .filter((each) => each.checkVisibility({ visibilityProperty: true }))
        .map((each) => {
          const { left, right } = each.getBoundingClientRect();
          const name = each.getAttribute('aria-label') ?? each.textContent!.trim();
          return { name: name || each.id, isCut: left < 0 || right > innerWidth };
        }),
    );
  return {
    names: all.map(({ name }) => name),
    cut: all.filter(({ isCut }) => isCut).map(({ name }) => name),
    width: await page.evaluate(() => document.documentElement.scrollWidth),
  };
}

/** Everything on the page that a run decides. */
export async function shownNumbers(page: Page): Promise<string[]> {
  return page.locator('#summary, #channels, #drives, #types, #identity').allTextContents();
}

/**
 * Picture of the brain, to compare pages of one size. Taken at the top of the page, since scrolling changes its edges.
 */
export async function brainOf(page: Page): Promise<string> {
  await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
  return (await page.locator('#brain').screenshot()).toString('base64');
}

/** Number of spikes in the raster of the page. */
export async function spikesInRaster(page: Page): Promise<number> {
  const strokes = await page
    .locator('#raster .spikes')
    .evaluateAll((paths) => paths.map((path) => path.getAttribute('d')!));
  return strokes.join('').split('M').length - 1;
}

/** The end of the scale of each channel in the plot of rates, by its label, in Hz. */
export async function scalesOfRates(page: Page): Promise<ReadonlyMap<string, number>> {
  await page.locator('#rates svg').waitFor();
  const rows = await page.locator('#rates .channel title').allTextContents();
  const texts = await page.locator('#rates text').allTextContents();
  const labels = rows.map((row) => row.split(':')[0]!);
  return new Map(labels.map((label) => [label, Number.parseFloat(texts[texts.indexOf(label) + 1]!)]));
}

/** Number of pixels of an element, as it is seen, with more than half of full brightness. */
export async function brightPixels(page: Page, selector: string): Promise<number> {
  const { bright } = await coloursOf(page, selector);
  return bright;
}

/** Pixels of an element as it is seen. Vivid ones are counted by hue, in steps of 10 degrees. */
export interface Colours {
  /** Red is more than half of full brightness. */
  readonly bright: number;
  /** No colour, and nearly full brightness. */
  readonly white: number;
  readonly vividByHue: readonly number[];
}

/**
 * Reads an element as it is seen.
 * @param read runs in the page, so it uses nothing but its argument
 */
export async function readPicture<T>(
  page: Page,
  selector: string,
  read: (picture: ImageData) => T,
): Promise<T> {
  const png = (await page.locator(selector).screenshot()).toString('base64');
  return page.evaluate(`(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${png}';
    await image.decode();
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    return (${read.toString()})(context.getImageData(0, 0, image.width, image.height));
  })()`);
}

export function coloursOf(page: Page, selector: string): Promise<Colours> {
  return readPicture(page, selector, ({ data }) => {
    const vividByHue = new Array<number>(36).fill(0);
    let bright = 0;
    let white = 0;
    for (let at = 0; at < data.length; at += 4) {
      const [red, green, blue] = [data[at]!, data[at + 1]!, data[at + 2]!];
      if (red > 127) bright++;
      const highest = Math.max(red, green, blue);
      const range = highest - Math.min(red, green, blue);
      if (highest > 215 && range < 30) white++;
      if (highest < 150 || range < 0.35 * highest) continue;
      const sextant =
        highest === red
          ? (green - blue) / range
          : highest === green
            ? 2 + (blue - red) / range
            : 4 + (red - green) / range;
      vividByHue[Math.floor(((60 * sextant + 360) % 360) / 10)]!++;
    }
    return { bright, white, vividByHue };
  });
}

/** Only the drawing of the brain, without the words and keys on it. */
export async function brainColours(page: Page): Promise<Colours> {
  const show = (visibility: string) =>
    page.evaluate((to) => {
      document
        .querySelectorAll<HTMLElement>('#canvas-frame > :not(canvas), #views > :not(#canvas-frame)')
        .forEach((each) => (each.style.visibility = to));
    }, visibility);
  await show('hidden');
  const colours = await coloursOf(page, '#brain');
  await show('');
  return colours;
}

/** Reads the drawing of the brain until it is as wanted, at most 50 times, because a page draws later than it answers. */
export async function untilBrainIs(page: Page, isWanted: (colours: Colours) => boolean): Promise<Colours> {
  let colours = await brainColours(page);
  for (let tries = 1; tries < 50 && !isWanted(colours); tries++) colours = await brainColours(page);
  return colours;
}

/** Number of vivid pixels whose hue lies between two, in degrees. */
export function between({ vividByHue }: Colours, from: number, to: number): number {
  return vividByHue.slice(from / 10, to / 10).reduce((sum, count) => sum + count, 0);
}

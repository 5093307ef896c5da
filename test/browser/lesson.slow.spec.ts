/** The lesson: five figures that compute, each with a slider. */
import type { Page } from 'playwright-core';
import { describeWith } from '../support/requirements.js';
import { expectText } from './page-reading.js';
import { axeFindings, serve } from './served-page.js';

describeWith(['chromium'], 'the lesson', () => {
  const served = serve('default');

  async function figure(page: Page, name: string) {
    const section = page.locator(`[data-figure=${name}]`);
    await section.scrollIntoViewIfNeeded();
    await section.locator('svg').waitFor();
    return section;
  }

  /** The highest rate that the points of a figure say. */
  async function highestHz(page: Page, name: string): Promise<number> {
    const section = await figure(page, name);
    const titles = await section.locator('title').allTextContents();
    const rates = titles.map((title) => Number(/: ([\d.]+)/.exec(title)?.[1])).filter((hz) => hz >= 0);
    expect(rates.length).toBeGreaterThan(3);
    return Math.max(...rates);
  }

  /** Moves a slider by key, and waits until the figure follows. */
  async function slide(page: Page, name: string, key: string): Promise<void> {
    const section = await figure(page, name);
    await section.locator('svg').evaluate((svg) => svg.classList.add('before'));
    await section.getByRole('slider').press(key);
    await section.locator('svg:not(.before)').waitFor();
  }

  it('shows the effect of each slider, by keys', async () => {
    const { page, problems } = await served.open('/lesson');
    const sugarHz = await highestHz(page, 'sugar');
    expect(sugarHz).toBeGreaterThan(20);
    await slide(page, 'sugar', 'Home');
    expect(await highestHz(page, 'sugar')).toBeLessThan(sugarHz);

    const slider = page.getByRole('slider', { name: 'Highest rate of the sugar neurons:', exact: true });
    expect(await slider.getAttribute('aria-valuetext')).toBe('40 Hz');

    await slide(page, 'bitter', 'Home');
    const without = await highestHz(page, 'bitter');
    await slide(page, 'bitter', 'End');
    expect(await highestHz(page, 'bitter')).toBeLessThan(0.7 * without);

    const screen = await figure(page, 'lesion');
    const types = () => screen.locator('svg title').count();
    const few = await types();
    await slide(page, 'lesion', 'End');
    expect(await types()).toBeGreaterThan(few);

    // The first brain is shuffled, number 0 is not.
    expect(await highestHz(page, 'shuffled')).toBeLessThan(0.2 * without);
    await slide(page, 'shuffled', 'Home');
    expect(await highestHz(page, 'shuffled')).toBe(without);

    await figure(page, 'tired');
    const link = page.locator('[data-figure=tired] a');
    const document = JSON.parse(
      decodeURIComponent((await link.getAttribute('href'))!.slice('laboratory#document='.length)),
    );
    expect(document.duration_ms).toBe(1500);
    await link.click();
    await expectText(page, '#cost', /brain seconds/);
    expect(problems).toEqual([]);
    await page.close();
  });

  it.each([
    [360, 'light'],
    [768, 'dark'],
    [1440, 'light'],
    [2560, 'dark'],
  ] as const)('fits %d px, %s, and axe finds nothing', async (width, colorScheme) => {
    const { page, problems } = await served.open('/lesson', { width, colorScheme });
    for (const name of ['sugar', 'bitter', 'lesion', 'shuffled', 'tired']) await figure(page, name);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect(await axeFindings(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });
});

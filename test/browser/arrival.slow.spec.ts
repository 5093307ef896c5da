/** Arrival at the page of the default brain: a run that plays, a gallery, few bytes. */
import { Choreography } from '../../clients/fly/src/choreography.js';
import { behaviourOf } from '../../clients/fly/src/behaviour.js';
import { drivesOf } from '../../clients/fly/src/run-drives.js';
import { sentenceOn } from '../../clients/pages/why.js';
import { describeWith } from '../support/requirements.js';
import { expectText, untilBrain } from './page-reading.js';
import { axeFindings, serve } from './served-page.js';

const FIRST_LOAD_BYTES = 1_200_000;
/** The brain at rest, and above it what is lit. */
const DRAW_CALLS = 2;

describeWith(['chromium'], 'arriving at the page of the default brain', () => {
  const served = serve('default');

  it('plays a recorded run, which spends no request, and says why the fly did it', async () => {
    const { page, problems } = await served.open('/', { reducedMotion: 'no-preference' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.method()));
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await expectText(page, '#key', /^Recorded: Looming object/);
    await expectText(page, '#recorded', /spends none of your runs/);
    const { drive, channels } = await (await served.service.post({ stimulus: 'loom' })).json();
    await expectText(
      page,
      '#why',
      new RegExp(
        `would take off \\(escape ${drive.escape.toFixed(2)}\\), because Escape fires at ${channels.escape} Hz`,
      ),
    );
    expect(asked).not.toContain('POST');
    expect(problems).toEqual([]);
    await page.close();
  });

  it('shows six experiments with the numbers of the service, and runs them', async () => {
    const { page } = await served.open();
    const entries = page.locator('#gallery article');
    await entries.nth(5).waitFor();
    expect(await entries.count()).toBe(6);
    await expectText(page, '#gallery-source', /^Recorded with this model/);
    const sugar = await (await served.service.post({ stimulus: 'sugar' })).json();
    const text = await entries.first().innerText();
    expect(text).toContain(`Proboscis ${sugar.channels.proboscis} Hz`);
    expect(text).toContain(`${sugar.responding_neurons} neurons responded`);
    expect(
      await entries.first().locator('a[href="https://doi.org/10.1016/j.neuron.2008.12.033"]').count(),
    ).toBe(1);
    await page.getByRole('link', { name: 'Run it: Heat repels' }).click();
    await expectText(page, '#key', /^Heat, 100 ms/);
    expect(await page.locator('#recorded').isVisible()).toBe(false);
    // Back leads to what was there on arrival.
    await page.goBack();
    await expectText(page, '#key', /^Recorded: Looming object/);
    await page.close();
  });

  it('loads little, draws with few calls, and has no finding of axe', async () => {
    const { page } = await served.open();
    await expectText(page, '#key', /^Recorded/);
    await page.waitForFunction(() => document.querySelector<HTMLElement>('#brain')!.dataset['drawCalls']);
    const bytes = await page.evaluate(() =>
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce(
        (sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize,
        0,
      ),
    );
    // The atlas alone is some 0.8 MB, so less would mean that it was not counted.
    expect(bytes).toBeGreaterThan(800_000);
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES);
    expect(await page.locator('#brain').getAttribute('data-draw-calls')).toBe(String(DRAW_CALLS));
    expect(await axeFindings(page)).toEqual([]);
    await page.close();
  });

  it('names both sides of the brain where both are seen, and the nearer one from the side', async () => {
    const { page } = await served.open('/', { width: 360, height: 740 });
    await untilBrain(page);
    const namesFrom = async (viewpoint: string) => {
      await page.getByRole('button', { name: viewpoint, exact: true }).click();
      await page.waitForTimeout(100);
      const labels = await page.locator('.side-label:visible').all();
      const boxes = await Promise.all(labels.map(async (label) => (await label.boundingBox())!));
      const [one, other] = boxes.sort((a, b) => a.x - b.x);
      if (other !== undefined) expect(one!.x + one!.width).toBeLessThan(other.x);
      const moment = (await page.locator('#shown-moment').boundingBox())!;
      for (const { y, height } of boxes) expect(y + height).toBeLessThanOrEqual(moment.y);
      return page.locator('.side-label:visible').allInnerTexts();
    };
    // The fly's left is on the right of somebody who looks it in the face, and the side view is from there.
    expect(await namesFrom('Side')).toEqual(['fly’s left']);
    for (const viewpoint of ['Top', 'Front']) {
      expect(await namesFrom(viewpoint)).toEqual(['fly’s left', 'fly’s right']);
    }
    await page.close();
  });

  it.each([360, 720, 1440])('stands still while it loads, %d px wide', async (width) => {
    const { page } = await served.open('about:blank', { width, height: 900 });
    await page.addInitScript(() => {
      const totals = window as unknown as { layoutShift: number };
      totals.layoutShift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          totals.layoutShift += (entry as unknown as { value: number }).value;
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.goto(served.service.url);
    await expectText(page, '#key', /^Recorded/);
    await untilBrain(page);
    await page.locator('#about').scrollIntoViewIfNeeded();
    expect(
      await page.evaluate(() => (window as unknown as { layoutShift: number }).layoutShift),
    ).toBeLessThan(0.1);
    await page.close();
  });

  it('says of each stimulus what the drawn fly does', async () => {
    const model = await (await served.service.get('/api/v1/model')).json();
    for (const { id: stimulus } of model.stimuli) {
      const run = await (await served.service.post({ stimulus, duration_ms: 200 })).json();
      const choreography = new Choreography(drivesOf(run, model));
      const times = Array.from({ length: run.duration_ms + 1 }, (_, timeMs) => timeMs);
      const acts = new Set(times.map((timeMs) => behaviourOf(choreography.at(timeMs))));
      const sentence = sentenceOn(run, model);
      expect({ stimulus, takesOff: sentence.includes('take off') }).toEqual({
        stimulus,
        takesOff: acts.has('takes off'),
      });
      // A fly whose head is touched grooms it; that motor neurons of the proboscis fire as well does not show.
      if (stimulus === 'touch') expect(acts).toContain('grooms its antennae');
      if (stimulus === 'touch') expect(acts).not.toContain('extends its proboscis');
      if (stimulus === 'sugar') expect(acts).toContain('extends its proboscis');
    }
  });

  it('shows links with a picture under an absolute address', async () => {
    const html = await (await served.service.get('/')).text();
    const [, image] = /<meta property="og:image" content="([^"]+)"/.exec(html)!;
    expect(image).toMatch(new RegExp(`^${served.service.url}/assets/`));
    const answer = await fetch(image!);
    expect(answer.headers.get('content-type')).toBe('image/jpeg');
    const bytes = new Uint8Array(await answer.arrayBuffer());
    expect([...bytes.subarray(0, 2)]).toEqual([0xff, 0xd8]);
  });
});

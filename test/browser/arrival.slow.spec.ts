/** Arrival at the page of the default brain: a run that plays, a gallery, few bytes. */
import type { Page } from 'playwright-core';
import { Choreography } from '../../clients/fly/src/choreography.js';
import { behaviourOf } from '../../clients/fly/src/behaviour.js';
import { drivesOf } from '../../clients/fly/src/run-drives.js';
import { verdictOn } from '../../clients/pages/verdict.js';
import { describeWith } from '../support/requirements.js';
import { brainColours, expectText, readNames, untilBrain, untilBrainIs } from './page-reading.js';
import { axeFindings, phoneContext, serve } from './served-page.js';

const FIRST_LOAD_BYTES = 950_000;
/** Bytes before the brain is seen: a second of a connection of 1.4 Mbit/s. */
const FIRST_PICTURE_BYTES = 175_000;
/** The brain at rest, and the lit neurons above it. */
const DRAW_CALLS = 2;

describeWith(['chromium'], 'arriving at the page of the default brain', () => {
  const served = serve('default');

  it('plays a run that the service keeps before the brain is there, and describes the fly', async () => {
    const { page, problems } = await served.open('about:blank', { reducedMotion: 'no-preference' });
    // Only this page may load the brain into its tab.
    await page.addInitScript('navigator.connection.saveData = false');
    let see!: (state: { isArriving: boolean; isDrawn: boolean }) => void;
    const seenFirst = new Promise<{ isArriving: boolean; isDrawn: boolean }>((resolve) => (see = resolve));
    await page.route(/\/(tab|brain)\/[^/]+$/, async (route) => {
      see(
        await page.evaluate(() => ({
          isArriving: document.querySelector('main')!.classList.contains('arriving'),
          isDrawn: document.querySelector('#canvas-frame')!.classList.contains('drawn'),
        })),
      );
      await route.abort();
    });
    const posts = postsOf(page);
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/atlas/*.bin', async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(served.service.url);
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await expectText(page, '#key', /^Looming object/);
    await expectText(page, '#recorded', /spends none of your runs/);
    const { channels } = await (await served.service.post({ stimulus: 'loom' })).json();
    await expectText(
      page,
      '#why summary',
      new RegExp(`^It takes off: the giant fibre fires at ${channels.escape} Hz\\.`),
    );
    await page.locator('#why summary').click();
    await expectText(page, '#course', /then takes off/);
    // Until the brain is there, its picture and a bar are.
    await page.locator('#brain-progress').waitFor();
    expect(
      await page.locator('#canvas-frame').evaluate((frame) => getComputedStyle(frame).backgroundImage),
    ).toMatch(/poster-dark.*jpg/);
    release();
    await page.locator('#canvas-frame.drawn').waitFor();
    await page.locator('#brain-progress').waitFor({ state: 'hidden' });
    expect(await seenFirst).toEqual({ isArriving: false, isDrawn: true });
    expect(posts).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('draws the brain of the first part of its atlas, which plays the run, and then of all', async () => {
    const { page, problems } = await served.open('about:blank', { reducedMotion: 'no-preference' });
    const model = await (await served.service.get('/api/v1/model')).json();
    const path = model.atlas_url.replace('.json', '.bin');
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    // Neither the rest of the atlas nor the library that draws the fly is waited for.
    for (const late of [`**${path}`, '**/fly-view-*.js']) {
      await page.route(late, async (route) => {
        await released;
        await route.continue();
      });
    }
    await page.goto(served.service.url);
    await page.locator('#canvas-frame.drawn').waitFor();
    expect(await bytesOf(page)).toBeLessThan(FIRST_PICTURE_BYTES);
    await page.locator('#time:enabled').fill('38');
    expect((await brainColours(page)).bright).toBeGreaterThan(300);
    expect(await page.locator('#brain-progress').isVisible()).toBe(true);
    expect(await page.locator('.side-label:visible').count()).toBe(0);
    release();
    await untilBrain(page);
    expect(await page.locator('#brain-progress').isVisible()).toBe(false);
    expect(await page.locator('#raster-panel').isVisible()).toBe(true);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('plays the recorded run of each stimulus by one tap, without a request for a run', async () => {
    const context = await phoneContext(served);
    const page = await context.newPage();
    const posts = postsOf(page);
    await page.goto(served.service.url);
    const chips = page.locator('#stimulus-options label');
    await expectText(page, '#key', /^Looming object/);
    expect(await chips.count()).toBe(11);
    for (const chip of await chips.all()) {
      await chip.tap();
      await expectText(page, '#key', new RegExp(`^${await chip.innerText()}, 100 ms, intensity 1, seed 42`));
    }
    expect(posts).toEqual([]);
    await page.goBack();
    await expectText(page, '#key', /^Bitter/);
    await context.close();
  });

  it('shows the way of a run through the brain, and the fly without a part of it', async () => {
    const { page, problems } = await served.open();
    await expectText(page, '#why summary', /^It takes off/);
    await untilBrain(page);
    const before = (await brainColours(page)).white;
    await page.locator('#why summary').click();
    const stations = page.locator('#path li');
    await stations.first().waitFor();
    await expectText(
      page,
      '#path li:first-child',
      /^Sense: LC4, LPLC2\s+314 neurons, \d+ Hz, first spike at/,
    );
    await expectText(page, '#path li:last-child', /^Decides: DNp01\s+2 neurons/);
    await stations.last().getByRole('button').click();
    expect(await stations.last().getByRole('button').getAttribute('aria-pressed')).toBe('true');
    const ringed = await untilBrainIs(page, ({ white }) => white > before + 60);
    expect(ringed.white).toBeGreaterThan(before + 60);
    expect(await axeFindings(page, '#stage')).toEqual([]);
    await page.getByRole('button', { name: 'Silence it and see: LC4, LPLC2' }).click();
    await expectText(
      page,
      '#silenced',
      /Before: It takes off.*Without LC4, LPLC2: It stands still.*→ 0 Hz\./s,
    );
    const laboratory = page.getByRole('link', { name: 'Open in the laboratory' });
    expect(await laboratory.getAttribute('href')).toMatch(/^laboratory#document=.*%40stimulus%2Floom/);

    await page.locator('#time').fill('38');
    await expectText(page, '#fly .act', /^The intact fly (takes off|flies|evades in flight)\.$/);
    await expectText(page, '#fly-2 .act', /^The fly without LC4, LPLC2 stands\.$/);
    expect(await page.locator('#fly-2 canvas').getAttribute('aria-label')).toContain('it stands');
    for (const width of [360, 768, 1440, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      const views = (await page.locator('#views').boundingBox())!;
      const boxes = await Promise.all(
        ['#canvas-frame', '#fly', '#fly-2'].map(async (each) => (await page.locator(each).boundingBox())!),
      );
      const area = boxes.reduce((sum, box) => sum + box.width * box.height, 0);
      expect(area / (views.width * views.height)).toBeCloseTo(1, 1);
      expect(boxes[1]!.y).toBe(boxes[2]!.y);
      expect(boxes[1]!.x + boxes[1]!.width).toBeCloseTo(boxes[2]!.x, 0);
      expect(boxes[1]!.width).toBeCloseTo(boxes[2]!.width, 0);
      expect(await axeFindings(page, '#stage')).toEqual([]);
    }
    await page.getByRole('button', { name: 'Show one fly' }).press('Enter');
    await page.locator('#fly-2').waitFor({ state: 'hidden' });
    await expectText(page, '#fly figcaption', /The fly \w/);
    expect(await page.locator('#silenced').innerText()).toContain('Without LC4, LPLC2');
    expect(problems).toEqual([]);
    await page.close();
  });

  it('takes a dare, whose link replays it, and says what is wrong with a broken link', async () => {
    const { page, problems } = await served.open();
    await untilBrain(page);
    await page.getByRole('combobox', { name: 'Silence' }).fill('PVLP122');
    await page.getByRole('button', { name: 'Take the dare' }).click();
    await expectText(
      page,
      '#dare-outcome',
      /silence must be a cell type .*such as .*PVLP122a.*got "PVLP122"\./,
    );
    for (const [type, reason] of [
      ['LB3', 'whose neurons the stimulus excites'],
      ['CB0701', 'whose neurons the deed is read from'],
    ]) {
      await page.getByRole('combobox', { name: 'Silence' }).fill(type!);
      await page.getByRole('button', { name: 'Take the dare' }).click();
      await expectText(page, '#dare-outcome', new RegExp(`silence must not be ${type}, ${reason}`));
    }
    await page.getByRole('combobox', { name: 'Silence' }).fill('CB0553');
    await page.getByRole('button', { name: 'Take the dare' }).click();
    await expectText(page, '#dare-outcome', /Intact: It extends.*Without CB0553: It extends.*Lost/s);
    await page.getByRole('combobox', { name: 'and' }).fill('CB0393');
    await page.getByRole('button', { name: 'Take the dare' }).click();
    await expectText(
      page,
      '#dare-outcome',
      /Without CB0553 and CB0393: .*Won: it no longer extends its proboscis.*Experiment [0-9a-f]{32}/s,
    );
    const verdict = (await page.locator('#dare-outcome b').textContent())!;
    const link = (await page.locator('#dare-link').textContent())!;
    expect(await axeFindings(page, '#dare')).toEqual([]);

    await page.goto(link);
    await expectText(page, '#dare-outcome', /The same bytes as in the link: experiment [0-9a-f]{32}\./);
    expect(await page.locator('#dare-outcome b').textContent()).toBe(verdict);
    expect(await page.locator('#dare-link').textContent()).toBe(link);
    await expectText(page, '#key', /^Loom/);
    await page.getByRole('radio', { name: 'Heat' }).check();
    await expectText(page, '#key', /^Heat/);
    await page.goBack();
    await expectText(page, '#key', /^Loom/);
    expect(page.url()).toBe(link);
    const other = '0'.repeat(32);
    await page.goto(link.replace(/id=.*/, `id=${other}`));
    await expectText(page, '#dare-outcome', new RegExp(`Another model: the link has experiment ${other}`));
    await page.goto(`${served.service.url}/?dare=%3Cimg%20src=x%3E&silence=LC6&id=${other}`);
    await expectText(page, '#dare-outcome', /dare must be one of sugar, loom, .*, got "<img src=x>"\./);
    expect(await page.locator('#dare img').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('names a relay only if it fires before its target, and of cues the neurons that are read', async () => {
    const { page, problems } = await served.open();
    await untilBrain(page);
    await page.locator('#why summary').click();
    for (const stimulus of ['Sugar', 'Touch', 'Food odour', 'Heat']) {
      await page.locator('#path').evaluate((path) => path.replaceChildren());
      await page.locator('#stimulus-options').getByText(stimulus, { exact: true }).click();
      await page.locator('#path li').first().waitFor();
      const stations = await page.locator('#path li').allInnerTexts();
      const firstMs = stations.map((text) => Number(/first spike at ([\d.]+) ms/.exec(text)?.[1]));
      if (stations.length === 3) {
        expect(stations[1]).toMatch(/^Relay/);
        expect(firstMs[1]).toBeLessThan(firstMs[2]!);
      } else expect(stations).toHaveLength(2);
      const isCue = /Food|Heat/.test(stimulus);
      expect(stations.at(-1)).toMatch(isCue ? /^Read out at/ : /^Decides/);
      await expectText(page, '#why summary', isCue ? /^The drawn fly .*engineered/s : /^It /);
    }
    expect(problems).toEqual([]);
    await page.close();
  });

  it('names the wiring at every width, and opens the page on it', async () => {
    for (const width of [360, 768, 1440, 2560]) {
      const { page } = await served.open('/', { width });
      const badge = page.getByRole('button', { name: 'synthetic wiring: what is real here?' });
      await badge.click();
      await expectText(page, '#real', /139.255 neurons.*engineered/s);
      expect(await axeFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await page.locator('#real').isVisible()).toBe(false);
      await page.close();
    }
  });

  it('shows six experiments with the numbers of the service, and plays them', async () => {
    const { page } = await served.open();
    const entries = page.locator('#gallery article');
    await entries.nth(5).waitFor();
    expect(await entries.count()).toBe(6);
    await page.locator('#gallery').scrollIntoViewIfNeeded();
    const sugar = await (await served.service.post({ stimulus: 'sugar' })).json();
    await expectText(page, '#gallery article', new RegExp(`Proboscis ${sugar.channels.proboscis} Hz`));
    // Walking is silent, so it is the drawn fly that approaches the smell.
    const food = await (await served.service.post({ stimulus: 'food' })).json();
    expect(food.channels.walk).toBe(0);
    await expectText(
      page,
      '#gallery article:nth-of-type(4)',
      /The drawn fly approaches a smell: .*engineered/s,
    );
    const text = await entries.first().innerText();
    expect(text).toContain(`${sugar.responding_neurons} neurons responded`);
    expect(
      await entries.first().locator('a[href="https://doi.org/10.1016/j.neuron.2008.12.033"]').count(),
    ).toBe(1);
    await page.getByRole('link', { name: 'Play it: Heat repels' }).click();
    await expectText(page, '#key', /^Heat, 100 ms/);
    // Back leads to the run on arrival.
    await page.goBack();
    await expectText(page, '#key', /^Looming object/);
    await page.close();
  });

  it('loads little, draws with few calls, and has no finding of axe', async () => {
    const { page } = await served.open();
    await expectText(page, '#key', /^Looming object/);
    await untilBrain(page);
    const bytes = await bytesOf(page);
    // The atlas has about 0.56 MB, so a smaller number would mean that it was not counted.
    expect(bytes).toBeGreaterThan(560_000);
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES);
    expect(await page.locator('#brain').getAttribute('data-draw-calls')).toBe(String(DRAW_CALLS));
    expect(await axeFindings(page)).toEqual([]);
    await page.close();
  });

  it('names both sides of the brain if both are seen, and the nearer one from the side', async () => {
    const { page } = await served.open('/', { width: 360, height: 740 });
    await untilBrain(page);
    /** Turns by this many steps of 0.12 radians from the front. */
    const namesFrom = async (key: string, steps: number) => {
      for (const each of ['Home', ...new Array<string>(steps).fill(key)])
        await page.locator('#brain').press(each);
      await page.waitForTimeout(100);
      const labels = await page.locator('.side-label:visible').all();
      const boxes = await Promise.all(labels.map(async (label) => (await label.boundingBox())!));
      const [one, other] = boxes.sort((a, b) => a.x - b.x);
      if (other !== undefined) expect(one!.x + one!.width).toBeLessThan(other.x);
      const others = await Promise.all(
        ['#corner', '#fly'].map(async (each) => (await page.locator(each).boundingBox())!),
      );
      for (const { y } of boxes)
        for (const other of others) expect(y).toBeGreaterThan(other.y + other.height);
      return page.locator('.side-label:visible').allInnerTexts();
    };
    // If the fly is large, text over it is legible.
    await page.getByRole('button', { name: 'Show the fly large' }).click();
    const [badge, moment] = await Promise.all(
      ['#fly .badge', '#shown-moment'].map(async (each) => (await page.locator(each).boundingBox())!),
    );
    expect(moment!.y).toBeGreaterThanOrEqual(badge!.y + badge!.height);
    await page.getByRole('button', { name: 'Show the brain large' }).click();
    // The fly's left is on the right of somebody who looks it in the face, and the side view is from there.
    expect(await namesFrom('ArrowLeft', 13)).toEqual(['fly’s left']);
    for (const key of ['ArrowUp', 'Home']) {
      expect(await namesFrom(key, 12)).toEqual(['fly’s left', 'fly’s right']);
    }
    await page.close();
  });

  it.each([
    [360, 900],
    [720, 900],
    [768, 1024],
    [1440, 900],
  ])('stands still while it loads, %d x %d', async (width, height) => {
    const { page } = await served.open('about:blank', { width, height });
    await page.addInitScript(() => {
      const totals = window as unknown as { layoutShift: number };
      totals.layoutShift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          totals.layoutShift += (entry as unknown as { value: number }).value;
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.goto(served.service.url);
    await expectText(page, '#key', /^Looming object/);
    await untilBrain(page);
    await page.locator('#about').scrollIntoViewIfNeeded();
    expect(
      await page.evaluate(() => (window as unknown as { layoutShift: number }).layoutShift),
    ).toBeLessThan(0.1);
    await page.close();
  });

  it('shows the same at a zoom of 200 %, without scrolling sideways', async () => {
    const [usual, zoomed] = await Promise.all(
      [1, 2].map(async (zoom) => {
        const { page } = await served.open('/', { zoom });
        await untilBrain(page);
        await expectText(page, '#why summary', /^It takes off/);
        const read = await readNames(page);
        await page.close();
        return read;
      }),
    );
    expect(usual!.names.length).toBeGreaterThan(50);
    expect(zoomed).toEqual({ ...usual, width: 640, cut: [] });
  });

  it('shows the brain in full screen', async () => {
    const { page, problems } = await served.open();
    await untilBrain(page);
    const { bright } = await brainColours(page);
    await page.getByRole('button', { name: 'Full screen' }).click();
    await page.waitForFunction(() => document.fullscreenElement?.id === 'stage');
    const brain = await page.locator('#brain').evaluate((canvas) => {
      const { left, top, right, bottom } = canvas.getBoundingClientRect();
      return {
        left,
        top,
        right: innerWidth - right,
        isHigh: bottom > innerHeight / 2 && bottom < innerHeight,
      };
    });
    // Around it is only the border of the stage.
    expect(brain).toEqual({ left: 1, top: 1, right: 1, isHigh: true });
    expect((await brainColours(page)).bright).toBeGreaterThan(bright / 2);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('describes the drawn fly for each stimulus', async () => {
    const model = await (await served.service.get('/api/v1/model')).json();
    for (const { id: stimulus } of model.stimuli) {
      const run = await (await served.service.post({ stimulus, duration_ms: 200 })).json();
      const choreography = new Choreography(drivesOf(run, model));
      const times = Array.from({ length: run.duration_ms + 1 }, (_, timeMs) => timeMs);
      const acts = new Set(times.map((timeMs) => behaviourOf(choreography.at(timeMs))));
      const { behaviour, course, channel, sentence } = verdictOn(run, model);
      expect({ stimulus, acts: [...acts] }).toEqual({ stimulus, acts: [...new Set(course)] });
      expect(acts).toContain(behaviour);
      expect(behaviour === 'takes off').toBe(acts.has('takes off'));
      if (channel !== undefined) expect(sentence).toContain(`${run.channels[channel.id]} Hz`);
      // A fly whose head is touched grooms it; that motor neurons of the proboscis fire as well does not show.
      if (stimulus === 'touch') expect(acts).toContain('grooms its antennae');
      if (stimulus === 'touch') expect(acts).not.toContain('extends its proboscis');
      if (stimulus === 'sugar') expect(acts).toContain('extends its proboscis');
    }
  });

  it('asks for the first part of the brain in its head, and names it as it is served', async () => {
    const html = await (await served.service.get('/')).text();
    const { atlas_url } = await (await served.service.get('/api/v1/model')).json();
    const path = atlas_url.replace('.json', '-start.bin');
    expect(html).toContain(`<link rel="preload" href=".${path}" as="fetch" crossorigin />`);
    const start = Buffer.from(await (await served.service.get(path)).arrayBuffer());
    const whole = Buffer.from(
      await (await served.service.get(atlas_url.replace('.json', '.bin'))).arrayBuffer(),
    );
    expect(start.equals(whole.subarray(0, start.length))).toBe(true);
    expect(start.length).toBeLessThan(0.4 * whole.length);
    const { page } = await served.open();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.reload();
    await untilBrain(page);
    expect(asked.filter((url) => url.endsWith(path))).toHaveLength(1);
    await page.close();
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

/** Bytes that a page has loaded so far, as they were sent. */
async function bytesOf(page: Page): Promise<number> {
  return page.evaluate(() =>
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce(
      (sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize,
      0,
    ),
  );
}

/** Methods of the requests of a page that ask for a run. */
function postsOf(page: Page): string[] {
  const posts: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') posts.push(request.url());
  });
  return posts;
}

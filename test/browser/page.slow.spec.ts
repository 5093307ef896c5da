import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Request } from 'playwright-core';
import { encodeConnectome } from '../../src/engine/connectome/format.js';
import { openPage, type PageOptions, type WatchedPage } from '../support/browser.js';
import { type Gateway, startGateway, type Way } from '../support/gateway.js';
import {
  brainColours,
  expectText,
  follow,
  openSettings,
  scalesOfRates,
  shownNumbers,
  spikesInRaster,
  untilBrain,
  untilBrainIs,
} from './page-reading.js';
import { describeWith } from '../support/requirements.js';
import { startReadyService, startService } from '../support/service.js';
import { smallConnectome } from '../support/small-connectome.js';
import { axeFindings, LOOM, LOOM_HASH, serve } from './served-page.js';

/** A page whose settings are unfolded. */
async function opened(opening: Promise<WatchedPage>): Promise<WatchedPage> {
  const watched = await opening;
  await openSettings(watched.page);
  return watched;
}

const MOVING: PageOptions = { reducedMotion: 'no-preference' };
const RUN_PATH = '/api/v1/run';

describeWith(['chromium'], 'the page', () => {
  const served = serve();

  const open = (path?: string, options?: PageOptions) => opened(served.open(path, options));

  it('runs an experiment by clicks and shows the answer', async () => {
    const { page, problems } = await open('/', MOVING);
    await page.getByText('Nothing', { exact: true }).click();
    await expectText(page, '#key', /^Nothing/);
    await expectText(page, '#why', /^It stands still: no neuron fires\./);
    // Silent rows are folded until they are asked for.
    const rows = page.locator('#channels tr[data-of]');
    expect(await page.locator('#channels tr[data-of]:visible').count()).toBe(0);
    await page.locator('#channels + .unfold').click();
    expect(await page.locator('#channels tr[data-of]:visible').count()).toBe(await rows.count());
    await page.locator('#time').fill('100');
    await untilBrain(page);
    const { bright: dark } = await brainColours(page);
    await page.getByText('200 ms', { exact: true }).click();
    await page.locator('#intensity').fill('1.5');
    await page.locator('#seed').fill('7');
    // A changed setting is run, by the tap as by the button.
    await page.locator('#stimulus-options').getByText('Stimulus loom', { exact: true }).click();
    await expectText(page, '#key', /Stimulus loom, 200 ms, intensity 1.5, seed 7/);
    await page.locator('#time').fill('200');
    await expectText(page, '#shown-moment', /Whole run/);

    const answer = await (await served.service.post(LOOM)).json();
    expect(await page.locator('#identity').innerText()).toContain(answer.id);
    expect(await page.locator('#summary').innerText()).toContain(`${answer.spikes.responding_neurons}`);
    for (const [id, rate] of Object.entries(answer.channels)) {
      const row = page.locator('#channels tr', { has: page.getByText(`Channel ${id}`, { exact: true }) });
      expect(await row.locator('td').last().innerText()).toBe(String(rate));
    }
    const { channels, drives } = await (await served.service.get('/api/v1/model')).json();
    const loud = channels.filter(({ id }: { id: string }) => answer.channels[id] > 0);
    const names = loud.map(({ label }: { label: string }) => label);
    const scales = await scalesOfRates(page);
    expect([...scales.keys()]).toEqual(names);
    for (const { id, label } of loud) {
      const rates = answer.frames.map((frame: { channels: Record<string, number> }) => frame.channels[id]!);
      expect(scales.get(label)).toBeCloseTo(Math.max(...rates), 0);
    }
    const { id: loudest, formula } = drives.find(({ id }: { id: string }) => answer.drive[id] > 0);
    await page.locator('#drives').getByRole('button', { name: loudest, exact: true }).click();
    expect(await page.locator('#drives .explanation:visible').innerText()).toContain(formula);
    for (const [id, value] of Object.entries(answer.drive)) {
      const row = page.locator('#drives tr', { has: page.getByText(id, { exact: true }) });
      expect(await row.locator('td').last().innerText()).toBe(String(Number((value as number).toFixed(2))));
    }
    // A bar of a drive from 0 to 1 has its whole width for that; only turn's starts in the middle.
    const barOf = (id: string) =>
      page.locator('#drives tr', { has: page.getByText(id, { exact: true }) }).evaluate((row) => {
        const { style } = row.querySelector('i')!;
        const percent = (property: string) => Number.parseFloat(style.getPropertyValue(property));
        return { from: percent('--from'), length: percent('--length') };
      });
    const turn = await barOf('turn');
    expect([turn.from, turn.from + turn.length]).toContain(50);
    const escape = await barOf('escape');
    expect(escape.from).toBe(0);
    expect(escape.length).toBeCloseTo(100 * answer.drive.escape, 5);
    for (const heading of ['Descending neurons', 'Motor neurons', 'Upstream neurons']) {
      await page.locator('#channels').getByText(heading, { exact: true }).waitFor();
    }
    const types = page.locator('#types tbody tr');
    expect(await types.count()).toBe(answer.top_types.length);
    expect(await types.first().innerText()).toContain(answer.top_types[0].type);

    expect(await spikesInRaster(page)).toBe(answer.spikes.total);
    const lit = await untilBrainIs(page, ({ bright }) => bright > dark + 100);
    expect(lit.bright).toBeGreaterThan(dark + 100);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('reopens the same experiments from its link', async () => {
    const first = await open(`${LOOM_HASH}`);
    await expectText(first.page, '#key', /seed 7/);
    await first.page.getByRole('button', { name: 'Keep for comparison' }).click();
    await first.page.locator('#stimulus-options').getByText('Stimulus food', { exact: true }).click();
    await first.page.getByRole('button', { name: 'Run experiment' }).click();
    await expectText(
      first.page,
      '#key',
      /^Stimulus food.*Kept: Stimulus loom, 200 ms, intensity 1.5, seed 7/s,
    );
    const link = await first.page.locator('#link').innerText();
    const shown = await shownNumbers(first.page);

    const second = await open(new URL(link).hash);
    await expectText(second.page, '#key', /Kept: Stimulus loom/);
    // Types that only one of the answers names are counted when the atlas is there.
    await second.page.locator('#raster svg').waitFor();
    expect(await shownNumbers(second.page)).toEqual(shown);
    expect([...first.problems, ...second.problems]).toEqual([]);
    await first.page.close();
    await second.page.close();
  });

  it('follows links that change the kept run, also if they change nothing else', async () => {
    const { page, problems } = await open(LOOM_HASH);
    await expectText(page, '#key', /Stimulus loom/);
    await follow(page, `${LOOM_HASH}&kept.stimulus=food`);
    await expectText(page, '#key', /^Stimulus loom.*Kept: Stimulus food/s);
    expect(await page.locator('#link').innerText()).toContain('kept.stimulus=food');
    await follow(page, LOOM_HASH);
    await page.locator('#drop').waitFor({ state: 'hidden' });
    expect(await page.locator('#key').innerText()).not.toContain('Kept');
    expect(problems).toEqual([]);
    await page.close();
  });

  it('repeats the very intensity of a link, also one between the steps of the range', async () => {
    const { page } = await open(LOOM_HASH.replace('1.5', '0.33'));
    const intensities: number[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') intensities.push(request.postDataJSON().intensity);
    });
    await expectText(page, '#key', /intensity 0\.33,/);
    expect(await page.locator('#intensity-shown').innerText()).toBe('0.33');
    expect(await page.locator('#intensity').getAttribute('aria-valuetext')).toBe('0.33');
    await page.getByRole('button', { name: 'Next seed' }).click();
    await expectText(page, '#key', /intensity 0\.33, seed 8/);
    await page.locator('#intensity').press('ArrowRight');
    expect(await page.locator('#intensity-shown').innerText()).toBe('0.4');
    await page.getByRole('button', { name: 'Run experiment' }).click();
    await expectText(page, '#key', /intensity 0\.4,/);
    expect(intensities.slice(-2)).toEqual([0.33, 0.4]);
    await page.close();
  });

  it('plays, pauses and scrubs', async () => {
    const { page } = await open(LOOM_HASH, MOVING);
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    const early = Number(await page.locator('#time').inputValue());
    await page.waitForFunction(
      (from) => Number(document.querySelector<HTMLInputElement>('#time')!.value) > from + 2,
      early,
    );
    await page.waitForFunction(
      () => document.querySelector<HTMLElement>('#brain')!.dataset['drawCalls'] === '2',
    );
    await page.locator('#brain').press(' ');
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    await page.locator('#time').fill('42.5');
    await expectText(page, '#shown-moment', /^42\.5 ms of 200 ms$/);
    await page.close();
  });

  it('does not move by itself if less motion is asked for, and gives its run as a curl command', async () => {
    const { page } = await open(LOOM_HASH);
    await expectText(page, '#shown-moment', /Whole run/);
    expect(await page.getByRole('button', { name: 'Play', exact: true }).isEnabled()).toBe(true);
    const curl = await page.locator('#curl').innerText();
    expect(curl).toContain(`${served.service.url}/api/v1/run`);
    expect(JSON.parse(/-d '(.*)'/.exec(curl)![1]!)).toEqual(LOOM);
    await page.close();
  });

  it('works by keyboard only', async () => {
    const { page } = await open();
    await page.locator('#run:enabled').waitFor();
    await page.locator('input[value=loom]').focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('input[name=stimulus]:checked').getAttribute('value')).toBe('food');
    // An arrow key only chooses.
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press(' ');
    await expectText(page, '#key', /Stimulus food/);
    await page.goBack();
    await expectText(page, '#key', /Stimulus loom/);
    await page.goForward();
    await expectText(page, '#key', /Stimulus food/);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press(' ');
    await expectText(page, '#key', /Stimulus loom/);
    expect(await page.locator('#recorded').isVisible()).toBe(true);
    await page.keyboard.press('Enter');
    await page.locator('#recorded').waitFor({ state: 'hidden' });
    const type = page.locator('#types button').first();
    await type.press('Enter');
    expect(await type.getAttribute('aria-pressed')).toBe('true');
    // The focus goes with the reader to the card, which stays when its partners come.
    await page.locator('#card .card-partners').waitFor();
    const card = page.locator('#card:focus');
    expect(await card.getAttribute('aria-label')).toMatch(/: neurons that are pointed out$/);
    expect((await card.boundingBox())!.y).toBeLessThan(900);
    // The card is hidden: the next Tab goes on from the brain.
    await page.getByRole('button', { name: 'Close the card' }).press('Enter');
    expect(await page.evaluate(() => document.activeElement!.id)).toBe('brain');
    await page.locator('#next-seed').focus();
    for (const seed of [43, 44]) {
      await page.keyboard.press('Enter');
      await expectText(page, '#key', new RegExp(`seed ${seed}`));
    }
    await page.close();
  });

  it('offers to try again when the service cannot be reached', async () => {
    const { page } = await open();
    await page.locator('#run:enabled').waitFor();
    await page.route('**/api/v1/run*', (route) => route.abort());
    await page.locator('#run').press('Enter');
    await expectText(page, '#alert', /No connection/);
    await page.locator('#alert').getByRole('button', { name: 'Close' }).press('Enter');
    expect(await page.locator('#alert').isVisible()).toBe(false);
    // The focus is where it was before the notice.
    await page.locator('#run:focus').press('Enter');
    await expectText(page, '#alert', /No connection/);
    await page.unroute('**/api/v1/run*');
    await page.locator('#alert').getByRole('button', { name: 'Try again' }).press('Enter');
    await page.locator('#recorded').waitFor({ state: 'hidden' });
    expect(await page.locator('#alert').isVisible()).toBe(false);
    await page.locator('#run:focus').waitFor();
    await page.close();
  });

  it('keeps the chip of the run on the page if another run does not arrive', async () => {
    const { page } = await open(LOOM_HASH);
    await expectText(page, '#key', /^Stimulus loom/);
    await page.route('**/api/v1/run*', (route) => route.abort());
    await page.locator('#stimulus-options').getByText('Stimulus food', { exact: true }).click();
    await expectText(page, '#alert', /No connection/);
    expect(await page.locator('input[name=stimulus]:checked').getAttribute('value')).toBe('loom');
    await page.unroute('**/api/v1/run*');
    await page.locator('#alert').getByRole('button', { name: 'Try again' }).click();
    await expectText(page, '#key', /^Stimulus food/);
    expect(await page.locator('input[name=stimulus]:checked').getAttribute('value')).toBe('food');
    await page.close();
  });

  it('names the remedy without its script or without JavaScript', async () => {
    for (const path of ['/', '/laboratory']) {
      const { page } = await served.open('about:blank');
      await page.route('**/assets/*.js', (route) => route.abort());
      await page.goto(served.service.url + path);
      const says = () => page.locator('#unstarted').evaluate((each) => getComputedStyle(each).visibility);
      expect(await says()).toBe('hidden');
      await page.evaluate(() => document.getAnimations().forEach((each) => each.finish()));
      expect(await says()).toBe('visible');
      await page.close();
      const context = await served.browser.newContext({ javaScriptEnabled: false });
      const plain = await context.newPage();
      await plain.goto(served.service.url + path);
      expect(await plain.locator('noscript').innerText()).toContain('This page needs JavaScript.');
      await context.close();
    }
  });

  it('shows runs as numbers without WebGL, and offers nothing that needs it', async () => {
    const { page, problems } = await served.open('about:blank');
    await page.addInitScript(() => {
      const of = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string) {
        return kind.startsWith('webgl') ? null : of.call(this, kind);
      } as typeof of;
    });
    await page.goto(served.service.url + LOOM_HASH);
    await expectText(page, '#brain-status', /no WebGL 2/);
    await expectText(page, '#key', /^Stimulus loom/);
    await page.locator('#raster-panel').waitFor();
    for (const hidden of ['#fly', '#live', '#turning', '#swap']) {
      expect(await page.locator(hidden).isVisible()).toBe(false);
    }
    expect(await axeFindings(page)).toEqual([]);
    expect(problems.filter((text) => !/WebGL/.test(text))).toEqual([]);
    await page.close();
  });

  it('takes its notice back when the connection is there again', async () => {
    const { page } = await open();
    await page.locator('#run:enabled').waitFor();
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Run experiment' }).click();
    await expectText(page, '#alert', /No connection/);
    await page.context().setOffline(false);
    await page.locator('#alert').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Run experiment' }).click();
    await page.locator('#recorded').waitFor({ state: 'hidden' });
    await page.close();
  });

  it('counts down when there were too many runs', async () => {
    const limited = await startReadyService({ RATE_LIMIT: '1' });
    const { page } = await opened(openPage(served.browser, limited, LOOM_HASH));
    await page.locator('#results').waitFor();
    await page.getByRole('button', { name: 'Run experiment' }).click();
    await expectText(page, '#alert', /Too many runs.*Try again in \d+ s/s);
    const button = page.locator('#alert button');
    expect(await button.isDisabled()).toBe(true);
    for (const id of ['#run', '#next-seed']) expect(await page.isDisabled(id)).toBe(true);
    const before = await button.innerText();
    const spoken = await page.locator('#alert').ariaSnapshot();
    expect(spoken).toContain('button "Try again"');
    await page.waitForFunction(
      (text) => document.querySelector('#alert button')!.textContent !== text,
      before,
    );
    expect(await page.locator('#alert').ariaSnapshot()).toBe(spoken);
    await page.close();
    await limited.stop();
  });

  it('waits for a model that is not there yet, then works', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'late-connectome-')), 'late.connectome');
    const late = await startService({ CONNECTOME_FILE: file });
    const { page } = await opened(openPage(served.browser, late));
    await expectText(page, '#alert', /currently unavailable.*Try again in \d+ s/s);
    expect(await page.locator('#run').isDisabled()).toBe(true);
    await page.locator('#alert button').focus();
    await page.evaluate(() => {
      const count = () => (document.body.dataset['said'] = 'again');
      for (const id of ['alert', 'status'])
        new MutationObserver(count).observe(document.getElementById(id)!, { childList: true });
    });
    const answered = () => page.waitForResponse('**/api/v1/model');
    await answered();
    await Promise.all([answered(), page.locator('#alert button:focus').press('Enter')]);
    await expectText(page, '#alert:not(:empty)', /currently unavailable.*Try again in \d+ s/s);
    // A screen reader reads the same failure once.
    expect(await page.locator('body').getAttribute('data-said')).toBeNull();
    writeFileSync(file, encodeConnectome(smallConnectome()));
    await page.locator('#run:enabled').waitFor();
    expect(await page.locator('#alert').isVisible()).toBe(false);
    await page.locator('#brain:focus').waitFor();
    await page.close();
    await late.stop();
  });

  it('names a network that is not FlyWire, and claims nothing else of it', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'other-network-')), 'other.connectome');
    const content = smallConnectome();
    const identity = { name: 'Mine', dataset: 'My network', release: null, wiring: 'custom' } as const;
    writeFileSync(file, encodeConnectome({ ...content, metadata: { ...content.metadata, ...identity } }));
    const other = await startReadyService({ CONNECTOME_FILE: file });
    const { page } = await opened(openPage(served.browser, other));
    await page.locator('#run:enabled').waitFor();
    await expectText(page, '#model-line', /connections, wiring as it was compiled\. My network\.$/);
    const about = (await page.locator('#about-measured').textContent())!;
    expect(about).toContain(
      'Neurons, cell types and transmitters: My network. Their connections are those that',
    );
    expect(await page.locator('#licence').textContent()).toBe(
      'Brain: My network, and what is derived from it, licence not stated. Software: Apache-2.0. Please cite:',
    );
    expect(await page.locator('#citations').textContent()).toMatch(/^Shiu et al\. 2024 /);
    const text = (await page.locator('body').textContent())!;
    expect(text).not.toMatch(/flywire|fafb|783|139.255/i);
    await page.close();
    await other.stop();
  });

  describe('behind a proxy', () => {
    let gateway: Gateway;

    beforeEach(async () => {
      gateway = await startGateway(served.service);
    });
    afterEach(() => gateway.stop());

    const openThere = (path?: string) => opened(openPage(served.browser, gateway, path));

    /**
     * Lets requests to `path` wait until the returned function is called; the first `count` of them.
     * @param onFirst called when the first one has come
     */
    function hold(path: string, count = Infinity, onFirst: () => void = () => undefined): () => void {
      let release!: () => void;
      const released = new Promise<void>((resolve) => (release = resolve));
      let seen = 0;
      gateway.wayOf = async (asked) => {
        if (asked.split('?')[0] === path && ++seen <= count) {
          if (seen === 1) onFirst();
          await released;
        }
        return served.service;
      };
      return release;
    }

    it('asks again, after a pause, while the replicas have different models', async () => {
      const file = join(mkdtempSync(join(tmpdir(), 'next-connectome-')), 'next.connectome');
      const content = smallConnectome();
      writeFileSync(
        file,
        encodeConnectome({ ...content, metadata: { ...content.metadata, name: 'The next one' } }),
      );
      const moved = await startReadyService({ CONNECTOME_FILE: file });
      gateway.wayOf = (path) => (path === '/api/v1/model' ? moved : served.service);
      const { page } = await openThere();
      await expectText(page, '#brain-alert', /There is no atlas.*Try again in \d+ s/s);
      gateway.wayOf = () => moved;
      await page.locator('#legend li').first().waitFor({ state: 'attached' });
      expect(await page.locator('#brain-alert').isVisible()).toBe(false);
      await page.close();
      await moved.stop();
    });

    it('asks again, after a pause, if the answer is from no service', async () => {
      const met: readonly [string, string, Way][] = [
        ['/api/v1/model', '#alert', { status: 502, html: '<h1>Bad Gateway</h1>' }],
        ['/api/v1/model', '#alert', { status: 200, html: '<h1>Log in</h1>' }],
        ['/atlas/', '#brain-alert', { status: 200, html: '<h1>Log in</h1>' }],
      ];
      // The cases run at once, as most of their time is waiting.
      await Promise.all(
        met.map(async ([path, alert, way]) => {
          const there = await startGateway(served.service);
          there.wayOf = (asked) => (asked.startsWith(path) ? way : served.service);
          const { page } = await openPage(served.browser, there);
          await expectText(page, alert, /Unexpected answer.*Try again in \d+ s/s);
          there.wayOf = () => served.service;
          await page.locator('#legend li').first().waitFor({ state: 'attached' });
          expect(await page.locator(alert).isVisible()).toBe(false);
          await page.close();
          await there.stop();
        }),
      );
    });

    it('offers a run again that was answered with anything but a word on the request', async () => {
      const { page } = await openThere();
      await page.locator('#run:enabled').waitFor();
      const run = page.getByRole('button', { name: 'Run experiment' });
      for (const status of [404, 408, 500, 502, 504]) {
        gateway.wayOf = () => ({ status, html: '' });
        await run.click();
        await expectText(page, '#alert', new RegExp(`Unexpected answer.*${status}`, 's'));
      }
      gateway.wayOf = () => served.service;
      // Another notice may have the same button, for another request that the proxy has refused.
      await page.locator('#alert').getByRole('button', { name: 'Try again' }).click();
      await page.locator('#recorded').waitFor({ state: 'hidden' });
      await page.close();
    });

    it('shows the run that was asked for last, whichever answer comes last', async () => {
      let release!: () => void;
      // The second run may not overtake the first one on its way.
      const isHeld = new Promise<void>((resolve) => (release = hold(RUN_PATH, 1, resolve)));
      const { page } = await openThere(LOOM_HASH);
      const isLate = (request: Request) => request.postDataJSON()?.stimulus === 'loom';
      // Chromium may call an answer aborted that the page has read and dropped.
      const late = Promise.race([
        page.waitForEvent('requestfinished', isLate),
        page.waitForEvent('requestfailed', isLate),
      ]);
      await expectText(page, '#status', /Simulating/);
      await isHeld;
      await follow(page, '#stimulus=food');
      await expectText(page, '#key', /^Stimulus food/);
      release();
      expect(await (await late).response()).not.toBeNull();
      // Whatever the page makes of the late answer, it has made before another one comes.
      await page.evaluate(async (path) => (await fetch(path)).text(), '/api/v1/model');
      expect(await page.locator('#key').innerText()).toMatch(/^Stimulus food/);
      expect(new URL(page.url()).hash).toContain('stimulus=food');
      await page.close();
    });

    it('drops a run that is under way when a link asks for the run on the page', async () => {
      const { page } = await openThere(LOOM_HASH);
      await expectText(page, '#key', /^Stimulus loom/);
      const release = hold(RUN_PATH);
      await page.getByRole('button', { name: 'Next seed' }).click();
      await expectText(page, '#status', /Simulating/);
      await follow(page, `${LOOM_HASH}&`);
      await page.locator('#run:enabled').waitFor();
      expect(await page.locator('#status').innerText()).toBe('');
      expect(await page.locator('#seed').inputValue()).toBe('7');
      release();
      await page.close();
    });

    it('takes no run before the model is there, nor while another one is under way', async () => {
      const runs: unknown[] = [];
      const [run, nextSeed] = ['#run', '#next-seed'] as const;
      const giveModel = hold('/api/v1/model');
      const { page } = await openThere();
      page.on('request', (request) => {
        if (request.method() === 'POST') runs.push(request.postDataJSON());
      });
      await expectText(page, '#status', /Waiting for the model/);
      expect(await Promise.all([run, nextSeed].map((id) => page.isDisabled(id)))).toEqual([true, true]);
      giveModel();
      await page.locator(`${run}:enabled`).waitFor();

      const giveRun = hold(RUN_PATH);
      await page.click(nextSeed);
      await expectText(page, '#status', /Simulating/);
      expect(await Promise.all([run, nextSeed].map((id) => page.isDisabled(id)))).toEqual([true, true]);
      giveRun();
      await expectText(page, '#key', /seed 43/);
      expect(await Promise.all([run, nextSeed].map((id) => page.isDisabled(id)))).toEqual([false, false]);
      expect(runs).toEqual([expect.objectContaining({ duration_ms: 100, seed: 43 })]);
      await page.close();
    });
  });

  it.each([
    ['very wide and dark', { width: 2560, height: 1440, colorScheme: 'dark' }],
    ['wide and dark', { width: 1440, colorScheme: 'dark' }],
    ['wide and light', { width: 1440, colorScheme: 'light' }],
    ['as wide as a tablet, dark', { width: 768, height: 1024, colorScheme: 'dark' }],
    ['as wide as a phone, dark', { width: 390, height: 844, colorScheme: 'dark' }],
    ['as wide as a small phone, light', { width: 360, height: 740, colorScheme: 'light' }],
  ] as const)('has no finding of axe and fits its width: %s', async (_, options) => {
    const { page } = await open(`${LOOM_HASH}&kept.stimulus=food`, options);
    await page.locator('#results').waitFor();
    await page.locator('#run').scrollIntoViewIfNeeded();
    // Pressing the button, which lies below the brain, scrolls to the brain.
    await page.locator('#run').click();
    await page.waitForFunction(
      () => document.querySelector('#stage')!.getBoundingClientRect().top < innerHeight / 2,
    );
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(options.width);
    expect(await axeFindings(page)).toEqual([]);
    await page.close();
  });

  it('shows states and series also if the system forces its colours', async () => {
    const { page } = await served.open('about:blank');
    await page.emulateMedia({ forcedColors: 'active' });
    await page.goto(`${served.service.url}${LOOM_HASH}&kept.stimulus=food`);
    await page.locator('#channels .kept-bar').first().waitFor();
    const backgrounds = (...parts: [selector: string, pseudo?: string][]) =>
      page.evaluate(
        (each) =>
          each.map(
            ([selector, pseudo]) =>
              getComputedStyle(document.querySelector(selector)!, pseudo).backgroundColor,
          ),
        parts,
      );
    const bars = '#channels tr:not(.silent) .track';
    const [chosen, mark] = ['.mark:has(input:checked)', '.mark:has(input:not(:checked))'];
    for (const differing of [
      await backgrounds([bars], [`${bars} i`], [`${bars} .kept-bar`]),
      await backgrounds(['body'], ['#key .swatch'], ['#key > :last-child .swatch']),
      await backgrounds([mark], [mark, '::before']),
      await backgrounds([chosen], [chosen, '::before']),
      await backgrounds([mark], [chosen]),
    ])
      expect(new Set(differing).size).toBe(differing.length);
    await page.close();
  });

  it.each(['/', '/lesson'])(
    'keeps the order of sizes of text in a browser with larger text: %s',
    async (path) => {
      const { page } = await served.open(path, { width: 768 });
      const sizesPx = () =>
        page.evaluate(() =>
          ['body', '.hint'].map((each) =>
            Number.parseFloat(getComputedStyle(document.querySelector(each)!).fontSize),
          ),
        );
      const usual = await sizesPx();
      expect(usual[0]).toBe(15);
      const browser = await page.context().newCDPSession(page);
      await browser.send('Page.setFontSizes', { fontSizes: { standard: 24 } });
      expect(await sizesPx()).toEqual(usual.map((px) => 1.5 * px));
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(768);
      await page.close();
    },
  );

  it('serves nothing but the built page beside the API', async () => {
    const page = await served.service.get('/');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const html = await page.text();
    const assets = [...html.matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    expect(assets.length).toBeGreaterThanOrEqual(3);
    for (const path of assets) {
      const asset = await served.service.get(path);
      expect(asset.status).toBe(200);
      expect(asset.headers.get('cache-control')).toContain('immutable');
    }
    expect((await served.service.get('/assets/..%2f..%2fmain.js')).status).toBe(404);
    expect((await served.service.get('/assets/other.js')).status).toBe(404);
  });

  it.each([
    ['dark', 360],
    ['light', 1440],
  ] as const)('shows the API at /docs, all of it opened, %s, %d px', async (colorScheme, width) => {
    const { page, problems } = await served.open('/docs', { colorScheme, width });
    await page.getByRole('link', { name: 'POST /api/v2/experiments', exact: true }).click();
    expect(await page.locator('h3:target').innerText()).toBe('POST /api/v2/experiments');
    // A link opens the schema that it leads to.
    await page.locator('h3:target ~ p a', { hasText: /^Experiment$/ }).click();
    expect(await page.locator('.schemas details[open] > summary').allInnerTexts()).toEqual(['Experiment']);
    await page.evaluate(() => {
      for (const each of document.querySelectorAll('details')) each.open = true;
    });
    const fits = () => document.documentElement.scrollWidth <= document.documentElement.clientWidth;
    expect(await page.evaluate(fits)).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'The brain' }).click();
    await page.waitForURL(`${served.service.url}/`);
    expect(problems).toEqual([]);
    await page.close();
  });
});

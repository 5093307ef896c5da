/** The live fly on the page: acts by pointer, key and finger, silences, its experiment, and no session to be had. */
import type { Page } from 'playwright-core';
import { openPage, type PageOptions } from '../support/browser.js';
import { startGateway } from '../support/gateway.js';
import { describeWith } from '../support/requirements.js';
import { startReadyService } from '../support/service.js';
import { brainColours, expectText, untilBrain } from './page-reading.js';
import { axeFindings, phoneContext, serve } from './served-page.js';

const SESSIONS = '/api/v2/sessions';
const CYCLES = 4;
/** Bytes of code and data, as they are sent, when a live fly begins. */
const LIVE_BYTES = 200_000;

describeWith(['chromium'], 'a live fly', () => {
  const served = serve('default');

  /** Requests of a page for sessions from now on, such as "POST /api/v2/sessions". */
  function askedOf(page: Page): string[] {
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith(SESSIONS)) asked.push(`${request.method()} ${pathname}`);
    });
    return asked;
  }

  async function begin(options?: PageOptions) {
    const opened = await served.open('/', options);
    const { page } = opened;
    const asked = askedOf(page);
    await page.locator('#brain[data-draw-calls]').waitFor();
    await page.locator('#fly-canvas[data-draw-calls]').waitFor();
    await page.locator('#live-start').click();
    await page.locator('#live-panel').waitFor();
    return { ...opened, asked, button: (name: string) => page.getByRole('button', { name, exact: true }) };
  }

  const behaves = (page: Page, how: RegExp) => expectText(page, '#fly-behaviour', how);

  it('is loaded by the first press, and not before', async () => {
    const { page } = await served.open();
    await page.locator('#fly-canvas[data-draw-calls]').waitFor();
    const loaded = () =>
      page.evaluate(
        () => performance.getEntriesByType('resource').filter(({ name }) => name.includes('/live-')).length,
      );
    await untilBrain(page);
    expect(await loaded()).toBe(0);
    const since = await page.evaluate(() => performance.now());
    await page.locator('#live-start').click();
    await page.locator('#live-panel').waitFor();
    expect(await loaded()).toBeGreaterThan(0);
    // The brain lights up if the ids are there, by which a session names neurons.
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => name.endsWith('-ids.txt')),
    );
    const bytes = await page.evaluate(
      (after) =>
        (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
          // The brain of the tab is not loaded for the live fly.
          .filter(({ name, startTime }) => startTime > after && !/\/(tab|brain)\//.test(name))
          .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
      since,
    );
    expect(bytes).toBeLessThan(LIVE_BYTES);
    await page.close();
  });

  it('extends its proboscis while sugar is held to its mouth; its neurons light up; back to recorded runs', async () => {
    const { page, problems, asked, button } = await begin();
    const { bright: atRest } = await brainColours(page);
    await button('Give sugar').hover();
    await page.mouse.down();
    await behaves(page, /extends its proboscis/);
    expect(await button('Give sugar').getAttribute('aria-pressed')).toBe('true');
    while ((await brainColours(page)).bright < atRest + 100);
    // The bars beside it are those of its last steps.
    await expectText(page, '#results h2', /^The live fly/);
    const proboscis = page.locator('#channels tr[data-of=proboscis] td').last();
    await page.waitForFunction(
      () =>
        Number(document.querySelector('#channels tr[data-of=proboscis]')!.lastElementChild!.textContent) > 10,
    );
    expect(await page.locator('#raster-panel').isVisible()).toBe(false);
    await page.mouse.up();
    await behaves(page, /stands|walks|turns/);
    expect(await button('Give sugar').getAttribute('aria-pressed')).toBe('false');
    expect(asked.filter((each) => each === `POST ${SESSIONS}`)).toHaveLength(1);

    const ended = page.waitForRequest((request) => request.method() === 'DELETE');
    await button('Back to recorded runs').click();
    await ended;
    await page.locator('#playback').waitFor();
    expect(await page.locator('#live-panel').isHidden()).toBe(true);
    // The recorded run is of a looming object.
    await expectText(page, '#results h2', /^This run/);
    expect(await proboscis.innerText()).toBe('0');
    expect(problems).toEqual([]);
    await page.close();
  });

  it('begins with the first thing that is done to it, on arrival', async () => {
    const { page, problems } = await served.open();
    const asked = askedOf(page);
    const acts = page.locator('.hold:visible');
    const { stimuli } = await (await served.service.get('/api/v1/model')).json();
    // One row: each stimulus has its button, and beside it the mark that plays its recorded run.
    expect(await acts.count()).toBe(stimuli.length);
    expect(await page.locator('.hold + .mark').allInnerTexts()).toEqual(
      stimuli.map(({ label }: { label: string }) => label),
    );
    const below = (await page.locator('#canvas-frame').boundingBox())!;
    expect((await acts.first().boundingBox())!.y - below.y - below.height).toBeLessThan(60);
    await page.getByRole('button', { name: 'Give sugar' }).hover();
    expect(asked).toEqual([]);
    await page.mouse.down();
    await behaves(page, /extends its proboscis/);
    await page.mouse.up();
    // The mark goes back from the live fly to a recorded run.
    await page.getByRole('radio', { name: 'Heat' }).check();
    await expectText(page, '#key', /^Heat/);
    expect(await page.locator('#live-panel').isHidden()).toBe(true);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('lets a finger that moves on scroll the page, and takes one that stays or taps', async () => {
    const context = await phoneContext(served);
    const page = await context.newPage();
    await page.goto(served.service.url);
    const touch = page.locator('.hold[data-act=touch]:enabled');
    const { x, y } = (await touch.boundingBox())!;
    const devtools = await context.newCDPSession(page);
    const finger = (type: 'touchStart' | 'touchMove' | 'touchEnd', dy: number) =>
      devtools.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: type === 'touchEnd' ? [] : [{ x: x + 20, y: y + 20 + dy }],
      });
    await finger('touchStart', 0);
    for (const dy of [-30, -60, -90, -120]) await finger('touchMove', dy);
    await finger('touchEnd', 0);
    await page.waitForFunction(() => scrollY > 20);
    await page.waitForTimeout(300);
    expect(await page.locator('#live-panel').isHidden()).toBe(true);
    await touch.tap();
    await behaves(page, /grooms/);
    // On a phone it is large while it is live.
    const [brain, fly] = await Promise.all(
      ['#canvas-frame', '#fly'].map(async (each) => (await page.locator(each).boundingBox())!.width),
    );
    expect(fly!).toBeGreaterThan(2 * brain!);
    await page.getByRole('button', { name: 'Back to recorded runs' }).tap();
    await page.getByRole('button', { name: 'Show the fly large' }).waitFor();
    await context.close();
  });

  it('leaves nothing behind, however often it is begun and ended', async () => {
    const { page, problems, asked, button } = await begin();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Performance.enable');
    const listeners: number[] = [];
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      if (cycle > 0) await button('Try a live fly').click();
      await button('Touch it').evaluate((each: HTMLElement) => each.click());
      await behaves(page, /grooms/);
      const ended = page.waitForResponse((response) => response.request().method() === 'DELETE');
      await button('Back to recorded runs').click();
      expect((await ended).ok()).toBe(true);
      await devtools.send('HeapProfiler.collectGarbage');
      const { metrics } = await devtools.send('Performance.getMetrics');
      listeners.push(metrics.find(({ name }) => name === 'JSEventListeners')!.value);
    }
    // One more a cycle would be a leak.
    expect(listeners.at(-1)).toBeLessThan(listeners[0]! + CYCLES - 1);
    expect(await page.locator('canvas').count()).toBeLessThanOrEqual(4);
    const ended = asked.filter((each) => each.startsWith('DELETE'));
    expect(asked.filter((each) => each === `POST ${SESSIONS}`)).toHaveLength(CYCLES);
    expect(new Set(ended).size).toBe(CYCLES);
    for (const each of ended) {
      expect((await served.service.get(each.replace('DELETE ', ''))).status).toBe(404);
    }
    expect(problems).toEqual([]);
    await page.close();
  });

  it('takes off from an approaching object, by key; silent neurons are part of the experiment that opens', async () => {
    const { page, problems, button } = await begin();
    const experiment = button('This is the experiment you did');
    const boxAtRest = await experiment.boundingBox();
    await button('Approach it').focus();
    await page.keyboard.down('Enter');
    await behaves(page, /takes off|evades in flight|flies/);
    await expectText(page, '#seam li:nth-child(2)', /(Hz.*){5}/s);
    // A control that moves while the fly acts is missed.
    expect(await experiment.boundingBox()).toEqual(boxAtRest);
    await page.keyboard.up('Enter');

    const silence = page.getByLabel(/Silence cell types/);
    await silence.fill('LC4, lplc');
    await page.locator('#live-types option[value="LC4, LPLC2"]').waitFor({ state: 'attached' });
    await silence.fill('Nobody');
    await silence.blur();
    await expectText(page, '#live-note', /no cell type called Nobody/);
    await silence.fill('LC4, LPLC2');
    await silence.blur();
    await expectText(page, '#live-note', /From now on silent: LC4, LPLC2/);
    await behaves(page, /stands|walks|turns/);
    await button('Touch it').focus();
    await page.keyboard.down(' ');
    await behaves(page, /grooms/);
    await page.keyboard.up(' ');

    await experiment.click();
    await page.waitForURL('**/laboratory#document=*');
    const document = JSON.parse(decodeURIComponent(new URL(page.url()).hash.slice('#document='.length)));
    expect(Object.keys(document.inputs).sort()).toEqual(['loom', 'touch']);
    expect(Math.max(...document.inputs.loom.rate_hz.values)).toBe(150);
    expect(document.silence.flatMap(({ node_set: set }: { node_set: string[] }) => set)).toEqual([
      'LC4',
      'LPLC2',
    ]);
    expect(Object.keys(document.reports)).toEqual(expect.arrayContaining(['escape', 'groom']));
    await page.locator('#document').waitFor();
    const answer = await (await served.service.post(document, '/api/v2/experiments')).json();
    expect(answer.conditions[0].spikes.mean).toBeGreaterThan(1000);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('shows the seam: the act, the neurons that answer, and the formula that moves the body; cut wires do nothing', async () => {
    const { page, problems, asked, button } = await begin();
    const { channels, drives, stimuli } = await (await served.service.get('/api/v1/model')).json();
    const named = (all: { id: string }[], id: string) => all.find((each) => each.id === id) as never;
    const sugar: { label: string; neuron_count: number } = named(stimuli, 'sugar');
    const { label }: { label: string } = named(channels, 'proboscis');
    const { formula }: { formula: string } = named(drives, 'proboscis');
    const boxes = page.locator('#seam li');
    await button('Give sugar').hover();
    await page.mouse.down();
    await expectText(
      page,
      '#seam li:nth-child(1)',
      new RegExp(`${sugar.label}: 150 Hz into ${sugar.neuron_count} neurons`),
    );
    await expectText(page, '#seam li:nth-child(2)', / Hz sensory.* Hz /s);
    await expectText(page, '#seam li:nth-child(3)', new RegExp(`proboscis = .*${label} [1-9]`, 's'));
    // All numbers are of one step: the formula gives the drive that stands beside it.
    const [, rate, drive] = new RegExp(`${label} ([\\d.]+) Hz.* = ([\\d.]+)$`, 's').exec(
      (await boxes.nth(2).innerText()).trim(),
    )!;
    const scaleHz = Number(/channels\.proboscis \/ (\d+)/.exec(formula)![1]);
    expect(Math.abs(Number(drive) - (1 - Math.exp(-Number(rate) / scaleHz)))).toBeLessThan(0.0051);
    await expectText(page, '#seam li:nth-child(4)', /extends its proboscis/);
    await page.mouse.up();

    await page.getByRole('switch', { name: 'Cut the wires' }).check();
    await expectText(page, '#live-note', /leads to a random neuron/);
    await behaves(page, /stands/);
    await button('Give sugar').hover();
    await page.mouse.down();
    await expectText(page, '#seam li:nth-child(2)', / Hz sensory/);
    await expectText(page, '#seam li:nth-child(3)', new RegExp(`${label} 0 Hz.* = 0$`, 's'));
    await page.waitForTimeout(500);
    expect(await page.locator('#fly-behaviour').innerText()).not.toContain('proboscis');
    await page.mouse.up();
    expect(asked.filter((each) => each === `POST ${SESSIONS}`)).toHaveLength(2);
    expect(await axeFindings(page, '#stage')).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it.each([360, 1440])('says at %d px what is engineered, and shows it on a live fly', async (width) => {
    const { page, problems } = await served.open('/', { width });
    await page.locator('#live-start:enabled').waitFor();
    const badge = page.getByRole('button', { name: 'engineered' });
    expect((await badge.boundingBox())!.height).toBeGreaterThanOrEqual(24);
    await badge.focus();
    await page.keyboard.press('Enter');
    await expectText(page, '#engineered', /a formula turns the rates of a few neurons.*cut the wires/s);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show it on a live fly' }).click();
    await page.locator('#seam li').nth(3).waitFor();
    expect(await page.locator('#engineered').isVisible()).toBe(false);
    expect(problems).toEqual([]);
    await page.close();
  });

  it.each([
    [360, 740, 'light'],
    [1440, 900, 'dark'],
  ] as const)('fits a window of %d x %d, %s, and axe finds nothing', async (width, height, colorScheme) => {
    const { page, problems, button } = await begin({ width, height, colorScheme });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    for (const box of await page
      .locator('.hold')
      .evaluateAll((all) => all.map((each) => each.clientHeight))) {
      expect(box).toBeGreaterThanOrEqual(40);
    }
    // No name touches the mark beside it, which is large enough for a finger (WCAG 2.5.8).
    const marks = await page.locator('.hold + .mark').evaluateAll((all) =>
      all.map((mark) => {
        const name = document.createRange();
        name.selectNodeContents(mark.previousElementSibling!);
        const { left, width } = mark.getBoundingClientRect();
        return { name: name.toString(), room: left - name.getBoundingClientRect().right, width };
      }),
    );
    expect(marks.filter(({ room, width: own }) => room < 4 || own < 24)).toEqual([]);
    // A program that presses, such as a screen reader, taps.
    await button('Touch it').evaluate((each: HTMLElement) => each.click());
    await behaves(page, /grooms/);
    expect(await axeFindings(page, '#stage')).toEqual([]);

    // The same object approaches a fly without the neurons that see it, and an intact one.
    const silence = page.getByLabel(/Silence cell types/);
    await silence.fill('LC4, LPLC2');
    await silence.blur();
    await page.getByRole('switch', { name: 'beside an intact fly' }).check();
    await expectText(page, '#live-note', /Two brains/);
    await button('Approach it').focus();
    await page.keyboard.down('Enter');
    await expectText(page, '#fly .act', /^The intact fly (takes off|evades in flight|flies)\.$/);
    // After a touch it may go on to groom or to extend its proboscis, but it does not fly.
    await expectText(page, '#fly-2 .act', /^The fly without LC4, LPLC2 (?!takes off|evades|flies|lands)/);
    await page.keyboard.up('Enter');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(await axeFindings(page, '#stage')).toEqual([]);
    await button('Show one fly').click();
    await page.locator('#fly-2').waitFor({ state: 'hidden' });
    await expectText(page, '#live-note', /^The fly without LC4, LPLC2 goes on\.$/);
    expect(await page.locator('#live-panel').isVisible()).toBe(true);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('shows drives, but neither rates nor other numbers, before the names of neurons are there', async () => {
    const gateway = await startGateway(served.service);
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    gateway.wayOf = async (path) => {
      if (/^\/atlas\/.*(?<!-start)\.bin$/.test(path)) await released;
      return served.service;
    };
    const { page, problems } = await openPage(served.browser, gateway);
    await page.locator('#live-start:enabled').click();
    await page.getByLabel('Silence cell types').fill('LC4');
    await page.keyboard.press('Enter');
    await expectText(page, '#live-note', /have not arrived yet/);
    await page.getByRole('button', { name: 'Give sugar', exact: true }).hover();
    await page.mouse.down();
    const above = (least: number, table: string) =>
      page.waitForFunction(
        ([value, name]) =>
          Number(document.querySelector(`#${name} tr[data-of=proboscis]`)!.lastElementChild!.textContent) >
          Number(value),
        [String(least), table],
      );
    await above(0.1, 'drives');
    const rates = await page.locator('#channels tr[data-of] td:last-child').allTextContents();
    expect(new Set(rates)).toEqual(new Set(['–']));
    release();
    await above(10, 'channels');
    await expectText(page, '#live-note', /From now on silent: LC4/);
    await page.mouse.up();
    expect(problems).toEqual([]);
    await page.close();
    await gateway.stop();
  });

  it('says which fly goes on if there is no session for a second one', async () => {
    const limited = await startReadyService({}, { limits: { sessionsPerClient: 1 } });
    const { page, problems } = await openPage(served.browser, limited, '/');
    await untilBrain(page);
    await page.locator('#fly-canvas[data-draw-calls]').waitFor();
    await page.locator('#live-start:enabled').click();
    const silence = page.getByLabel(/Silence cell types/);
    await silence.fill('S_loom');
    await silence.blur();
    await expectText(page, '#live-note', /From now on silent: S_loom/);
    await page.getByRole('switch', { name: 'beside an intact fly' }).check();
    const isStepWithout = page.waitForRequest((request) =>
      /"silence":\["S_loom"\]/.test(request.postData() ?? ''),
    );
    await page.locator('.hold[data-act=sugar]').focus();
    await page.keyboard.down('Enter');
    await expectText(page, '#live-note', /no room for a second brain .*\. The fly without S_loom goes on\./);
    await isStepWithout;
    await page.locator('#fly-2').waitFor({ state: 'hidden' });
    await page.keyboard.up('Enter');
    expect(problems).toEqual([]);
    await page.close();
    await limited.stop();
  });

  it('says so if no session can be had, and plays recorded runs', async () => {
    const limited = await startReadyService({}, { limits: { sessionsPerClient: 0 } });
    const { page, problems } = await openPage(served.browser, limited, '/');
    await page.locator('#live-start:enabled').click();
    await expectText(page, '#live-note', /There is no live brain at present/);
    await page.locator('#live-panel').waitFor({ state: 'hidden' });
    expect(await page.locator('#playback').isVisible()).toBe(true);
    expect(problems).toEqual([]);
    await page.close();
    await limited.stop();
  });
});

/** Starts the page: asks for the model and its atlas, then runs what the form or the address says. */
import { type CompactAtlas, decodeAtlas } from '../../src/connectome/atlas-binary.js';
import { describeModel, describePositions } from './about.js';
import { FlyView } from './body/fly-view.js';
import { CardPanel } from './cell-card.js';
import { byId, element } from './dom.js';
import { ExperimentForm } from './experiment-form.js';
import { showGallery } from './gallery.js';
import { Notices } from './notices.js';
import { Playback } from './playback.js';
import { GALLERY, isOf, OPENING, OPENING_URL } from './recordings/recordings.js';
import { Results } from './results.js';
import type { Live } from './live/live.js';
import type { Selection } from './selection.js';
import { asFailure, fetchAtlas, fetchJson, postRun, service } from './service/client.js';
import { describe, equal, type Experiment, fromHash, toHash } from './service/experiment.js';
import type { Model } from './service/client.js';
import type { FullRun } from './service/client.js';
import { type Run, runOf } from './service/run-result.js';
import { RunStore } from './service/run-store.js';
import { Stage } from './stage.js';
import { onThemeChange, readTheme } from './theme.js';

const RESIZE_PAUSE_MS = 150;
const FURTHER_SEEDS = 4;
/** Screens with room for the parts that are folded away on narrower ones. */
const ROOM_FOR_ALL = matchMedia('(min-width: 720px)');

const notices = new Notices('page');
const brainNotices = new Notices('brain');
const playback = new Playback();
const form = new ExperimentForm(async (experiment) => {
  if (await run(experiment)) bringIntoView(byId('stage'));
});
let store: RunStore | undefined;
let results: Results | undefined;
let stage: Stage | undefined;
let fly: FlyView | undefined;
let card: CardPanel | undefined;
let atlas: CompactAtlas | undefined;
/** Loaded when somebody first asks for it. */
let live: Promise<Live> | undefined;
/** The run that plays when somebody arrives. */
let opening: Run | undefined;
let current: Run | undefined;
let kept: Run | undefined;
/** Runs with further seeds, by the run that they repeat. */
const furtherSeeds = new WeakMap<Run, Run[]>();
/** The number of the last request for runs, by click or by address; answers to earlier ones are dropped. */
let lastRequest = 0;

byId<HTMLDetailsElement>('colours').open = ROOM_FOR_ALL.matches;
await start();

/** Asks again until the service has a model. */
async function start(): Promise<void> {
  notices.status('Waiting for the model …');
  let model: Model;
  try {
    model = await service.model();
  } catch (error) {
    notices.failure(asFailure(error), () => void start(), true);
    endArrival();
    return;
  }
  notices.status('');
  present(model);
  store = await RunStore.open(model);
  showRecent();
  // The form works by now: what is drawn may take its time.
  setTimeout(() => showFly(model));
  // The atlas is most of what the page loads; nothing but the brain and the raster waits for it.
  const arrival = loadAtlas(model);
  await runFromAddress();
  await arrival;
  endArrival();
  // A live fly needs whatever is drawn.
  byId<HTMLButtonElement>('live-start').disabled = false;
}

/** Shows what stands below the run: until it is there, it would move it down. */
function endArrival(): void {
  document.querySelector('main')!.classList.remove('arriving');
}

function present(model: Model): void {
  describeModel(model);
  form.offer(model);
  // The form says from the start what is about to play, so nothing moves when it does.
  if (isOf(model)) form.write(OPENING);
  showGallery(GALLERY, model);
  const shown = new Results(model, (stimulus) => form.labelOf(stimulus), {
    onSeek: (timeMs) => playback.seek(timeMs),
    onSelect: (selection) => select(selection),
  });
  results = shown;
  playback.onMoment(({ timeMs }) => shown.moveTo(timeMs));
  form.allowRuns(true);
  byId('keep').addEventListener('click', () => compareWith(current));
  byId('drop').addEventListener('click', () => compareWith(undefined));
  byId('repeat').addEventListener('click', () => void repeat());
  byId('forget').addEventListener('click', () => void store?.clear().then(showRecent));
  addEventListener('hashchange', () => void runFromAddress());
  listenForLive(model);
  onThemeChange(() => {
    stage?.setTheme(readTheme());
    shown.draw();
  });
  let pause: ReturnType<typeof setTimeout> | undefined;
  let width = innerWidth;
  addEventListener('resize', () => {
    // A phone that hides its address bar changes the height alone.
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(pause);
    pause = setTimeout(() => shown.draw(), RESIZE_PAUSE_MS);
  });
  listenForCopies();
}

/** Waits for the wish to play with a live fly; its code is loaded then. */
function listenForLive(model: Model): void {
  byId('live-start').addEventListener('click', () => {
    live ??= import('./live/live.js').then(
      ({ Live }) =>
        new Live({
          model,
          playback,
          view: () => ({ fly, stage, atlas }),
          onStop: showRuns,
        }),
    );
    live.then(
      (each) => each.toggle(),
      () => {
        live = undefined;
        byId('live-note').textContent = 'The live fly did not arrive; recorded runs play as before.';
      },
    );
  });
  const fullScreen = byId('full-screen');
  fullScreen.hidden = !document.fullscreenEnabled;
  fullScreen.addEventListener('click', () => {
    if (document.fullscreenElement === null) void byId('stage').requestFullscreen();
    else void document.exitFullscreen();
  });
}

function showFly(model: Model): void {
  try {
    fly = new FlyView(model, playback);
  } catch {
    // Without WebGL the brain is missing as well, and says so.
    byId('fly').hidden = true;
    return;
  }
  if (current !== undefined) fly.show(current.response);
}

async function loadAtlas(model: Model): Promise<void> {
  let loaded: CompactAtlas;
  brainNotices.status('Loading the brain …');
  try {
    loaded = decodeAtlas(await fetchAtlas(model.atlas_url));
  } catch (error) {
    brainNotices.failure(asFailure(error), () => void loadAtlasAgain(model), true);
    return;
  }
  brainNotices.status('');
  atlas = loaded;
  describePositions(loaded, model);
  results?.setAtlas(loaded);
  card = new CardPanel(model, loaded, {
    onSelect: select,
    onFilter: (isFiltered) => results?.filter(isFiltered),
  });
  try {
    stage = new Stage(loaded, playback, brainNotices, select);
    stage.setTheme(readTheme());
  } catch {
    brainNotices.status(
      'This browser does not support WebGL, so the brain is not drawn. Everything else works.',
    );
  }
  if (current !== undefined) {
    stage?.show(current, kept);
    card.show(current, kept);
  } else await playOpening(model);
}

/** While replicas differ the next answer may come from one with another model; then everything begins anew. */
async function loadAtlasAgain(before: Model): Promise<void> {
  try {
    const model = await service.model();
    if (model.id !== before.id) location.reload();
    else await loadAtlas(model);
  } catch (error) {
    brainNotices.failure(asFailure(error), () => void loadAtlasAgain(before), true);
  }
}

/** Plays the recorded run where it is one of this model and nothing else was asked for. */
async function playOpening(model: Model): Promise<void> {
  if (!isOf(model)) return;
  const request = lastRequest;
  try {
    opening = runOf(await fetchJson<FullRun>(OPENING_URL));
  } catch {
    // The page works without it.
    return;
  }
  if (request !== lastRequest || current !== undefined || live !== undefined) return;
  current = opening;
  form.write(opening.response);
  showRuns();
}

/** Shows the experiment in the address after `#`, unless it is on the page already. */
async function runFromAddress(): Promise<void> {
  const shared = fromHash(location.hash);
  if (shared.current === undefined) {
    // Back leads to the run shown on arrival; a link to a place on the page changes nothing.
    if (location.hash === '' && opening !== undefined) {
      [current, kept] = [opening, undefined];
      settle();
      form.write(opening.response);
      showRuns();
    }
    return;
  }
  form.write(shared.current);
  if (shared.kept !== undefined && !(kept && equal(kept.response, shared.kept))) {
    const answer = await ask(shared.kept, () => void runFromAddress(), true);
    if (answer === undefined) return;
    kept = answer;
  }
  if (shared.kept === undefined) kept = undefined;
  if (current && current !== opening && equal(current.response, shared.current)) {
    settle();
    showRuns();
    return;
  }
  const answer = await ask(shared.current, () => void runFromAddress(), true);
  if (answer === undefined) return;
  current = answer;
  showRuns();
  if (byId('gallery').getBoundingClientRect().top < innerHeight) bringIntoView(byId('stage'));
}

/** @returns whether there is an answer, and it is shown */
async function run(experiment: Experiment): Promise<boolean> {
  const answer = await ask(experiment, () => void run(experiment), false);
  if (answer === undefined) return false;
  current = answer;
  const hash = toHash(answer.response, kept?.response);
  // The entry lets Back show the run before this one.
  if (location.hash !== hash) history.pushState(null, '', hash);
  showRuns();
  return true;
}

/**
 * @param mayBeStored an answer that the browser has kept will do: the same experiment gives the same answer
 * @returns nothing when the service gave no answer; then the page says why and offers `retry`. Nothing, too, when
 * something else was asked for in the meantime, however the two answers arrive.
 */
async function ask(
  experiment: Experiment,
  retry: () => void,
  mayBeStored: boolean,
): Promise<Run | undefined> {
  const request = ++lastRequest;
  notices.clear();
  const stored = mayBeStored ? store?.find(experiment) : undefined;
  if (stored !== undefined) {
    settle();
    return runOf(stored);
  }
  notices.status('Simulating …');
  form.allowRuns(false);
  try {
    const response = await postRun(experiment);
    if (request !== lastRequest) return undefined;
    const answer = runOf(response);
    settle();
    void store?.add(response).then(showRecent);
    return answer;
  } catch (error) {
    if (request === lastRequest) fail(error, retry);
    return undefined;
  }
}

/** Runs the experiments that are shown with further seeds, for a mean and its spread. */
async function repeat(): Promise<void> {
  const request = ++lastRequest;
  form.allowRuns(false);
  byId<HTMLButtonElement>('repeat').disabled = true;
  const shown = [current, kept].filter((each) => each !== undefined);
  try {
    for (const each of shown) {
      const further = furtherSeeds.get(each) ?? [];
      while (further.length < FURTHER_SEEDS) {
        notices.status(`Repeating with further seeds: ${further.length} of ${FURTHER_SEEDS} …`);
        const { response } = each;
        const seed = (response.seed + further.length + 1) % 2 ** 32;
        const { stimulus, duration_ms, intensity } = response;
        further.push(runOf(await postRun({ stimulus, duration_ms, intensity, seed })));
        furtherSeeds.set(each, further);
        if (request !== lastRequest) return;
      }
    }
    settle();
  } catch (error) {
    if (request === lastRequest) fail(error, () => void repeat());
  } finally {
    byId<HTMLButtonElement>('repeat').disabled = false;
  }
  showResults();
}

/** Ends the wait for an answer. */
function settle(): void {
  lastRequest++;
  notices.clear();
  notices.status('');
  form.allowRuns(true);
}

/** Ends the run with a notice of its failure. */
function fail(error: unknown, retry: () => void): void {
  settle();
  const failure = asFailure(error);
  // Another run would be refused as well until there is room again.
  if (failure.kind === 'limited') form.allowRuns(false);
  notices.failure(failure, retry, false, () => form.allowRuns(true));
}

function compareWith(run: Run | undefined): void {
  kept = run;
  showRuns();
}

function showRuns(): void {
  live?.then((each) => each.stop()).catch(() => undefined);
  if (current === undefined) return;
  fly?.show(current.response);
  playback.show(current, kept);
  showResults();
  stage?.show(current, kept);
  card?.show(current, kept);
  const isOpening = current === opening && kept === undefined;
  const path = location.pathname + location.search;
  history.replaceState(null, '', isOpening ? path : toHash(current.response, kept?.response));
}

function showResults(): void {
  if (current === undefined) return;
  results?.show({
    run: current,
    kept,
    trials: [current, ...(furtherSeeds.get(current) ?? [])],
    keptTrials: kept && [kept, ...(furtherSeeds.get(kept) ?? [])],
    isRecorded: current === opening,
  });
}

/** Points neurons out everywhere on the page. */
function select(selection: Selection | undefined): void {
  stage?.mark(selection);
  results?.select(selection);
  card?.select(selection);
  if (selection !== undefined) bringIntoView(byId('stage'));
}

/** Scrolls there unless its upper half is seen already. */
function bringIntoView(target: HTMLElement): void {
  const { top } = target.getBoundingClientRect();
  if (top >= -1 && top < innerHeight / 2) return;
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  target.scrollIntoView({ behavior: isStill ? 'instant' : 'smooth' });
}

function showRecent(): void {
  const experiments = store?.experiments ?? [];
  byId('recent').hidden = experiments.length === 0;
  byId('recent-runs').replaceChildren(
    ...experiments.map((experiment) => {
      const text = describe(experiment, form.labelOf(experiment.stimulus));
      return element('li', {}, element('a', { href: toHash(experiment, undefined) }, text));
    }),
  );
}

function listenForCopies(): void {
  document.querySelectorAll<HTMLButtonElement>('[data-copy]').forEach((button) => {
    button.addEventListener('click', () => {
      const text = byId(button.dataset['copy']!).textContent ?? '';
      void navigator.clipboard.writeText(text).then(
        () => notices.status('Copied.'),
        () => notices.status('The browser did not allow copying.'),
      );
    });
  });
}

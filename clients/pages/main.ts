/** Starts the page: asks for the model and its atlas, then runs what the form or the address says. */
import type { CompactAtlas } from '../../src/connectome/atlas-binary.js';
import { describeModel, describePositions } from './about.js';
import type { FlyView } from './body/fly-view.js';
import { CardPanel } from './cell-card.js';
import { byId, element } from './dom.js';
import { ExperimentForm } from './experiment-form.js';
import { showGallery } from './gallery.js';
import { Notices } from './notices.js';
import { PathPanel } from './path-panel.js';
import { Playback } from './playback.js';
import { Results } from './results.js';
import { listenForHolds } from './live/hold-buttons.js';
import type { Live } from './live/live.js';
import type { Selection } from './selection.js';
import { asFailure, fetchAtlas, fetchAtlasStart, postRun, service } from './service/client.js';
import {
  DEFAULT_EXPERIMENT,
  describe,
  equal,
  type Experiment,
  fromHash,
  toHash,
} from './service/experiment.js';
import type { Model } from './service/client.js';
import { type Run, runOf } from './service/run-result.js';
import { RunStore } from './service/run-store.js';
import { StoredRuns } from './service/stored-runs.js';
import { Stage } from './stage.js';
import { onThemeChange, readTheme } from './theme.js';

const RESIZE_PAUSE_MS = 150;
/** The fly is built while nothing else is, but waits no longer than this. */
const LONGEST_WAIT_MS = 1000;
const FURTHER_SEEDS = 4;
const OPENING_STIMULUS = 'loom';
/** Nearly all of an atlas: position, type, and side; see atlas-binary.ts. */
const ATLAS_BYTES_PER_NEURON = 9;
/** Screens with room for the parts that are folded away on narrower ones. */
const ROOM_FOR_ALL = matchMedia('(min-width: 720px)');

const notices = new Notices('page');
const brainNotices = new Notices('brain');
const playback = new Playback();
const form = new ExperimentForm(
  (experiment) => void run(experiment, false),
  (experiment) => void run(experiment, true),
);
let stored: StoredRuns | undefined;
let store: RunStore | undefined;
let results: Results | undefined;
let stage: Stage | undefined;
let fly: FlyView | undefined;
let card: CardPanel | undefined;
let atlas: CompactAtlas | undefined;
/** Loaded when somebody first asks for it. */
let live: Promise<Live> | undefined;
let path: PathPanel | undefined;
/** The run that plays when somebody arrives. */
let opening: Run | undefined;
let current: Run | undefined;
let kept: Run | undefined;
/** Runs that the service keeps, which cost nothing. */
const free = new WeakSet<Run>();
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
  stored = new StoredRuns(model);
  present(model, stored);
  // The run that plays on arrival needs nothing that the browser has kept.
  const opened = fromHash(location.hash).current === undefined ? runFromAddress() : undefined;
  const drawn = loadViews(model, opened);
  store = await RunStore.open(model);
  showRecent();
  await Promise.all([opened ?? runFromAddress(), drawn]);
  endArrival();
}

/** Shows what stands below the run: until it is there, it would move it down. */
function endArrival(): void {
  document.querySelector('main')!.classList.remove('arriving');
}

function present(model: Model, stored: StoredRuns): void {
  describeModel(model);
  form.offer(model);
  // The form says from the start what is about to play, so nothing moves when it does.
  form.write(openingOf(model));
  showGallery(model, stored);
  const shown = new Results(model, (stimulus) => form.labelOf(stimulus), {
    onSeek: (timeMs) => playback.seek(timeMs),
    onSelect: (selection) => select(selection),
  });
  results = shown;
  playback.onMoment(({ timeMs }) => shown.moveTo(timeMs));
  form.allowRuns(true);
  byId('swap').addEventListener('click', () => {
    const isFlyLarge = byId('views').classList.toggle('fly-large');
    byId('swap').ariaLabel = isFlyLarge ? 'Show the brain large' : 'Show the fly large';
  });
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
  let settling: ReturnType<typeof setTimeout> | undefined;
  let width = innerWidth;
  addEventListener('resize', () => {
    // A phone that hides its address bar changes the height alone.
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(settling);
    settling = setTimeout(() => shown.draw(), RESIZE_PAUSE_MS);
  });
  listenForCopies();
}

/** Waits for the wish to play with a live fly; its code is loaded then. */
function listenForLive(model: Model): void {
  const call = (ask: (each: Live) => void): void => {
    live ??= import('./live/live.js').then(
      ({ Live }) => new Live({ model, playback, view: () => ({ fly, stage, atlas }), onStop: showRuns }),
    );
    live.then(ask, () => {
      live = undefined;
      byId('live-note').textContent = 'The live fly did not arrive; recorded runs play as before.';
    });
  };
  byId('live-start').addEventListener('click', () => call((each) => each.toggle()));
  const hand = {
    isAtIt: () => byId('stage').classList.contains('live'),
    hold: (stimulus: string) => call((each) => each.hold(stimulus)),
    letGo: (stimulus: string) => call((each) => each.letGo(stimulus)),
  };
  listenForHolds(hand, (stimulus) => model.stimuli.some(({ id }) => id === stimulus));
  const fullScreen = byId('full-screen');
  fullScreen.hidden = !document.fullscreenEnabled;
  fullScreen.addEventListener('click', () => {
    if (document.fullscreenElement === null) void byId('stage').requestFullscreen();
    else void document.exitFullscreen();
  });
}

/**
 * Loads what is drawn, the smallest first, so that a slow connection is not shared: the part of the atlas that shows a
 * brain, the fly, and all of the atlas, which is most of what the page loads.
 * @param opened ends when a run plays; building the fly would keep the page from beginning with it
 */
async function loadViews(model: Model, opened: Promise<void> | undefined): Promise<void> {
  byId('brain-progress').hidden = false;
  brainNotices.status('The brain arrives …');
  // Where it fails the whole atlas will as well, and says so.
  const start = await fetchAtlasStart(model.atlas_url).catch(() => undefined);
  const body = import('./body/fly-view.js');
  if (start !== undefined) showBrain(start);
  const patience = body.then(() => pause(LONGEST_WAIT_MS)).catch(() => undefined);
  await Promise.race([opened?.then(untilPainted), patience]);
  await body
    .then(({ FlyView }) => showFly(new FlyView(model, playback)))
    .catch(
      // Without WebGL the brain is missing as well, and says so.
      () => (byId('fly').hidden = true),
    );
  document
    .querySelectorAll<HTMLButtonElement>('#live-start, .hold')
    .forEach((button) => (button.disabled = false));
  await loadAtlas(model);
}

/** Ends after the next frame, or soon where there is none, as in a tab in the background. */
async function untilPainted(): Promise<void> {
  await Promise.race([new Promise(requestAnimationFrame), pause(LONGEST_WAIT_MS)]);
  await pause(0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function showFly(view: FlyView): void {
  fly = view;
  if (current !== undefined) fly.show(current.response);
}

async function loadAtlas(model: Model): Promise<void> {
  let loaded: CompactAtlas;
  const progress = byId<HTMLProgressElement>('brain-progress');
  progress.hidden = false;
  brainNotices.status('The brain arrives …');
  try {
    const bytes = model.neuron_count * ATLAS_BYTES_PER_NEURON;
    loaded = await fetchAtlas(
      model.atlas_url,
      (received) => (progress.value = Math.min(1, received / bytes)),
    );
    progress.hidden = true;
  } catch (error) {
    progress.hidden = true;
    brainNotices.failure(asFailure(error), () => void loadAtlasAgain(model), true);
    return;
  }
  brainNotices.status('');
  atlas = loaded;
  describePositions(loaded, model);
  showBrain(loaded);
  void live?.then((each) => each.seeBrain()).catch(() => undefined);
  path = new PathPanel(model, loaded, (neurons) => stage?.light(neurons));
  card = new CardPanel(model, loaded, {
    onSelect: select,
    onFilter: (isFiltered) => results?.filter(isFiltered),
  });
  if (current !== undefined) {
    card.show(current, kept);
    path.show(current);
  }
  await results?.setAtlas(loaded);
}

/** Draws the first part of the atlas, then all of it. */
function showBrain(atlas: CompactAtlas): void {
  if (stage !== undefined) {
    stage.setAtlas(atlas);
    return;
  }
  try {
    stage = new Stage(atlas, playback, brainNotices, select);
    stage.setTheme(readTheme());
  } catch {
    brainNotices.status(
      'This browser does not support WebGL, so the brain is not drawn. Everything else works.',
    );
  }
  if (current !== undefined) stage?.show(current, kept);
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

/** The experiment that plays when somebody arrives: a looming object, or the first stimulus that the model has. */
function openingOf({ stimuli }: Model): Experiment {
  const { id } = stimuli.find((each) => each.id === OPENING_STIMULUS) ?? stimuli[0] ?? { id: 'none' };
  return { ...DEFAULT_EXPERIMENT, stimulus: id };
}

/** Plays the stored run of the opening, unless something else was asked for by then. */
async function playOpening(): Promise<void> {
  const request = ++lastRequest;
  try {
    opening ??= await stored?.of(form.read().stimulus);
  } catch {
    // The page works without it.
    return;
  }
  if (opening === undefined || request !== lastRequest || !byId('live-panel').hidden) return;
  free.add(opening);
  [current, kept] = [opening, undefined];
  settle();
  form.write(opening.response);
  playRuns();
  // Its numbers take longer to write down than it takes to begin.
  await untilPainted();
  showResults();
}

/** Shows the experiment in the address after `#`, unless it is on the page already. */
async function runFromAddress(): Promise<void> {
  const shared = fromHash(location.hash);
  if (shared.current === undefined) {
    // Back leads to the run shown on arrival; a link to a place on the page changes nothing that is shown.
    if (location.hash === '' || current === undefined) await playOpening();
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

/** @param mayBeStored the reader has asked for a stimulus, not for a run to be computed */
async function run(experiment: Experiment, mayBeStored: boolean): Promise<void> {
  const answer = await ask(experiment, () => void run(experiment, mayBeStored), mayBeStored);
  if (answer === undefined) return;
  current = answer;
  const hash = toHash(answer.response, kept?.response);
  // The entry lets Back show the run before this one.
  if (location.hash !== hash) history.pushState(null, '', hash);
  showRuns();
  bringIntoView(byId('stage'));
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
  const known = mayBeStored ? await storedRun(experiment) : undefined;
  if (request !== lastRequest) return undefined;
  if (known !== undefined) {
    settle();
    return known;
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

/** The run of an experiment that the service keeps or this browser has kept; else it has to be computed. */
async function storedRun(experiment: Experiment): Promise<Run | undefined> {
  const known = store?.find(experiment);
  if (known !== undefined) return runOf(known);
  if (stored?.has(experiment) !== true) return undefined;
  try {
    const run = await stored.of(experiment.stimulus);
    free.add(run);
    return run;
  } catch {
    // Then it is run, and the page says what is wrong where that fails as well.
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
  playRuns();
  showResults();
}

function playRuns(): void {
  live?.then((each) => each.stop()).catch(() => undefined);
  if (current === undefined) return;
  fly?.show(current.response);
  playback.show(current, kept);
  stage?.show(current, kept);
  card?.show(current, kept);
  path?.show(current);
  const isOpening = current === opening && kept === undefined;
  const address = location.pathname + location.search;
  history.replaceState(null, '', isOpening ? address : toHash(current.response, kept?.response));
}

function showResults(): void {
  if (current === undefined) return;
  results?.show({
    run: current,
    kept,
    trials: [current, ...(furtherSeeds.get(current) ?? [])],
    keptTrials: kept && [kept, ...(furtherSeeds.get(kept) ?? [])],
    isStored: free.has(current),
  });
}

/** Points neurons out everywhere on the page. */
function select(selection: Selection | undefined): void {
  stage?.mark(selection);
  results?.select(selection);
  card?.select(selection);
  if (selection !== undefined) bringIntoView(byId('stage'));
}

/** Scrolls there unless its top is high in the window. */
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

/** Starts the page: loads the model and its atlas, then runs the experiment of the form or the address. */
import type { CompactAtlas } from '../../src/engine/connectome/atlas-binary.js';
import { describeModel, describePositions } from './about.js';
import { Twins } from './body/twins.js';
import { CardPanel } from './cell-card.js';
import { ClipButton } from './clip.js';
import { byId, passFocus } from './dom.js';
import { ExperimentForm } from './experiment-form.js';
import { showGallery } from './gallery.js';
import { Notices } from './notices.js';
import { PathPanel } from './path-panel.js';
import { Playback } from './playback.js';
import { FURTHER_SEEDS, Results } from './results.js';
import { isLive, listenForHolds } from './live/hold-buttons.js';
import type { Live } from './live/live.js';
import type { Selection } from './selection.js';
import { asFailure, fetchAtlas, fetchPart, postRun, service } from './service/client.js';
import { DEFAULT_EXPERIMENT, equal, type Experiment, fromHash, toHash } from './service/experiment.js';
import type { FullRun, Model } from './service/client.js';
import { type Run, runOf } from './service/run-result.js';
import { RunStore } from './service/run-store.js';
import { StoredRuns } from './service/stored-runs.js';
import { onLoading, openWhenIdle } from './service/transport.js';
import { Stage } from './stage.js';
import { onThemeChange, readTheme } from './theme.js';
import { onWidth, scrollBehavior } from './window.js';

const RESIZE_PAUSE_MS = 150;
/** The fly is built when the page is idle, but after this time at the latest. */
const MAX_WAIT_MS = 1000;
/** Time for which the first part of the atlas, and then the fly, has the connection for itself. */
const MAX_ALONE_MS = 5000;
/** The content below the run is shown after this time at the latest, also if something has not arrived. */
const MAX_ARRIVAL_MS = 10_000;
const OPENING_STIMULUS = 'loom';
/** Nearly all of an atlas: position, type, and side; see atlas-binary.ts. */
const ATLAS_BYTES_PER_NEURON = 9;
/** Screens that have room for parts that are collapsed on narrower ones. */
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
let flies: Twins | undefined;
let card: CardPanel | undefined;
let atlas: CompactAtlas | undefined;
/** Loaded on first use. */
let live: Promise<Live> | undefined;
/** True if the code of the live fly is loaded. */
let isLiveHere = false;
/** True while the page waits for a run that was asked for. */
let isAsking = false;
let path: PathPanel | undefined;
let selected: Selection | undefined;
/** The run that plays on arrival. */
let opening: Run | undefined;
let current: Run | undefined;
let kept: Run | undefined;
/** Runs that the service stores, which do not count against the rate limit. */
const free = new WeakSet<Run>();
/** Runs with further seeds, by the run that they repeat. */
const furtherSeeds = new WeakMap<Run, Run[]>();
/** The number of the last request for runs, by click or by address; answers to earlier ones are dropped. */
let lastRequest = 0;

byId('unstarted').remove();
onLoading((sentence) => notices.loading(sentence));
byId<HTMLDetailsElement>('colours').open = ROOM_FOR_ALL.matches;
notices.status('Waiting for the model …');
await start();

/** Repeats the request until the service has a model. */
async function start(): Promise<void> {
  let model: Model;
  try {
    model = await service.model();
  } catch (error) {
    notices.failure(asFailure(error), () => void start(), 'kept');
    endArrival();
    return;
  }
  notices.clear();
  notices.status('');
  stored = new StoredRuns(model);
  present(model, stored);
  // The run on arrival does not need the browser's stored runs.
  const opened = fromHash(location.hash).current === undefined ? runFromAddress() : undefined;
  const drawn = loadViews(model, opened);
  const storing = RunStore.open(model).then((runs) => (store = runs));
  // A browser may never answer about its database.
  await Promise.race([storing, pause(MAX_WAIT_MS)]);
  const arrived = Promise.all([opened ?? runFromAddress(), drawn]);
  await Promise.race([arrived, pause(MAX_ARRIVAL_MS)]);
  endArrival();
  void showDare(model, stored);
  // The brain for this tab does not share the connection with the atlas.
  await arrived;
  openWhenIdle(model.connectome_digest);
}

/** Without its script, the page has no dares. */
async function showDare(model: Model, stored: StoredRuns): Promise<void> {
  const loaded = await import('./dare.js').catch(() => undefined);
  if (loaded === undefined) return;
  const isAsked = new loaded.DarePanel(model, stored).replay(location.search);
  if (isAsked) bringIntoView(byId('dare'));
}

/** Shows the content below the run. Earlier, the arriving run would move it down. */
function endArrival(): void {
  document.querySelector('main')!.classList.remove('arriving');
}

function present(model: Model, stored: StoredRuns): void {
  describeModel(model);
  form.offer(model);
  // The form shows the opening experiment from the start, so that nothing moves when it plays.
  form.write(openingOf(model));
  showGallery(model, stored);
  const shown = new Results(model, (stimulus) => form.labelOf(stimulus), {
    onSeek: (timeMs) => playback.seek(timeMs),
    onSelect: (selection) => select(selection),
  });
  results = shown;
  playback.onMoment(({ timeMs }) => shown.moveTo(timeMs));
  form.allowRuns(true);
  byId('swap').addEventListener('click', () => showFlyLarge(!byId('views').classList.contains('fly-large')));
  byId('keep').addEventListener('click', () => compareWith(current));
  byId('drop').addEventListener('click', () => compareWith(undefined));
  byId('repeat').addEventListener('click', () => void repeat());
  // Back to the link of a dare changes more than the hash.
  addEventListener('popstate', () => void runFromAddress());
  listenForLive(model);
  new ClipButton(playback, () => [stage, ...(flies?.shown ?? [])].filter((view) => view !== undefined));
  onThemeChange(() => {
    stage?.setTheme(readTheme());
    shown.draw();
  });
  let settling: ReturnType<typeof setTimeout> | undefined;
  onWidth(() => {
    clearTimeout(settling);
    settling = setTimeout(() => shown.draw(), RESIZE_PAUSE_MS);
  });
  listenForCopies();
}

function showFlyLarge(isLarge: boolean): void {
  byId('views').classList.toggle('fly-large', isLarge);
  byId('swap').ariaLabel = isLarge ? 'Show the brain large' : 'Show the fly large';
}

/** Loads the code of the live fly when the user first asks for it. */
function listenForLive(model: Model): void {
  const call = (ask: (each: Live) => void): void => {
    // A run that comes while the code arrives would end the live fly.
    if (live === undefined) dropRun();
    live ??= import('./live/live.js').then(
      ({ Live }) =>
        new Live({
          model,
          playback,
          view: () => ({ flies, stage, atlas }),
          onLive(isOn) {
            if (!isOn) flies?.end();
            if (!ROOM_FOR_ALL.matches) showFlyLarge(isOn);
            if (isOn) {
              dropRun();
              path?.end();
              card?.show(undefined, undefined);
            } else if (current === undefined) void runFromAddress();
            else showRuns();
          },
          onStep: (bars) => results?.showLive(bars),
        }),
    );
    const answer = (each: Live): void => {
      isLiveHere = true;
      ask(each);
    };
    live.then(answer, () => {
      live = undefined;
      byId('live-note').textContent = 'The live fly did not arrive; recorded runs play as before.';
    });
  };
  byId('live-start').addEventListener('click', () => {
    // A second press while its code arrives ends nothing.
    const isHere = isLiveHere;
    if (!isHere) byId('live-note').textContent = 'The live fly arrives …';
    call((each) => (isHere ? each.toggle() : each.begin()));
  });
  byId('show-seam').addEventListener('click', () => {
    call((each) => each.begin());
    // Full screen has no room for the seam.
    if (document.fullscreenElement !== null) void document.exitFullscreen();
    bringIntoView(byId('stimuli'));
  });
  listenForHolds({
    hold: (stimulus) => call((each) => each.hold(stimulus)),
    letGo: (stimulus) => call((each) => each.letGo(stimulus)),
  });
  const fullScreen = byId('full-screen');
  fullScreen.hidden = !document.fullscreenEnabled;
  fullScreen.addEventListener('click', () => {
    if (document.fullscreenElement !== null) return void document.exitFullscreen();
    byId('stage')
      .requestFullscreen()
      .catch(() => notices.brief('The browser did not allow full screen.'));
  });
  // In full screen only the stage is visible.
  document.addEventListener('fullscreenchange', () =>
    (document.fullscreenElement ?? document.querySelector('main')!).append(byId('notices')),
  );
}

/**
 * Loads the drawn parts one after the other, so that they do not share a slow connection: the first part of the atlas, the
 * fly, what draws rates, and the whole atlas, which is most of the data.
 * @param opened resolves when a run plays; building the fly earlier would delay the run
 */
async function loadViews(model: Model, opened: Promise<void> | undefined): Promise<void> {
  byId('brain-progress').hidden = false;
  brainNotices.status('The brain arrives …');
  // If this fails, loading the whole atlas fails too and shows the failure.
  const start = fetchPart(model.atlas_url, '-start').catch(() => undefined);
  await Promise.race([start, pause(MAX_ALONE_MS)]);
  const body = import('./body/fly-view.js');
  void start.then((part) => {
    if (part !== undefined && atlas === undefined) showBrain(part);
  });
  const patience = body.then(() => pause(MAX_WAIT_MS)).catch(() => undefined);
  await Promise.race([opened?.then(untilPainted), patience]);
  const built = body
    .then(({ FlyView }) => {
      const build = (figure: HTMLElement) => new FlyView(model, playback, figure);
      flies = new Twins(build(byId('fly')), build, () => {
        if (isLive()) void live?.then((each) => each.showOne());
        else playRuns();
      });
      if (current !== undefined) flies.first.show(current.response);
    })
    .catch(
      // Without WebGL the brain is missing too and shows the failure.
      () => (byId('fly').hidden = true),
    )
    .then(() =>
      document
        .querySelectorAll<HTMLButtonElement>('#live-start, #save-clip, .hold')
        .forEach((button) => (button.disabled = false)),
    );
  await Promise.race([built, pause(MAX_ALONE_MS)]);
  void results?.loadRates();
  await loadAtlas(model);
}

/** Resolves after the next frame, or soon if there is none, as in a background tab. */
async function untilPainted(): Promise<void> {
  await Promise.race([new Promise(requestAnimationFrame), pause(MAX_WAIT_MS)]);
  await pause(0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function loadAtlas(model: Model): Promise<void> {
  let loaded: CompactAtlas;
  const progress = byId<HTMLProgressElement>('brain-progress');
  const bytes = model.neuron_count * ATLAS_BYTES_PER_NEURON;
  const onBytes = (received: number): number => (progress.value = Math.min(1, received / bytes));
  progress.hidden = false;
  try {
    loaded = await fetchAtlas(model.atlas_url, onBytes).finally(() => (progress.hidden = true));
  } catch (error) {
    brainNotices.failure(asFailure(error), () => void loadAtlasAgain(model), 'kept');
    return;
  }
  brainNotices.clear();
  brainNotices.status('');
  atlas = loaded;
  describePositions(loaded, model);
  showBrain(loaded);
  void live?.then((each) => each.seeBrain()).catch(() => undefined);
  const light = (neurons: readonly number[] | undefined): void =>
    neurons === undefined ? stage?.mark(selected) : stage?.light(neurons);
  path = new PathPanel(model, loaded, light, showTwins);
  card = new CardPanel(model, loaded, {
    onSelect: select,
    onFilter: (isFiltered) => results?.filter(isFiltered),
  });
  if (current !== undefined && !isLive()) {
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
    document.querySelector('main')!.classList.add('no-graphics');
    brainNotices.status(
      'This browser has no WebGL 2, so brain and fly are not drawn. Runs show their numbers.',
    );
  }
  if (current !== undefined) stage?.show(current, kept);
}

/** If replicas differ, the next answer may be from one with another model. Then the page reloads. */
async function loadAtlasAgain(before: Model): Promise<void> {
  try {
    const model = await service.model();
    if (model.id !== before.id) location.reload();
    else await loadAtlas(model);
  } catch (error) {
    brainNotices.failure(asFailure(error), () => void loadAtlasAgain(before), 'kept');
  }
}

/** The experiment that plays when somebody arrives: a looming object, or the first stimulus that the model has. */
function openingOf({ stimuli }: Model): Experiment {
  const { id } = stimuli.find((each) => each.id === OPENING_STIMULUS) ?? stimuli[0] ?? { id: 'none' };
  return { ...DEFAULT_EXPERIMENT, stimulus: id };
}

/** Plays the stored opening run, unless the user has asked for another run meanwhile. */
async function playOpening(): Promise<void> {
  const request = ++lastRequest;
  // The page works without it.
  opening ??= await stored?.of(form.read().stimulus).catch(() => undefined);
  if (request !== lastRequest) return;
  settle();
  if (opening === undefined || !byId('live-panel').hidden) return;
  free.add(opening);
  [current, kept] = [opening, undefined];
  form.write(opening.response);
  playRuns();
  // Showing the numbers takes longer than starting the run, so it comes later.
  await untilPainted();
  showResults();
}

/** Shows the experiment in the address after `#`, unless it is visible already. */
async function runFromAddress(): Promise<void> {
  const shared = fromHash(location.hash);
  if (shared.current === undefined) {
    // Back leads to the opening run; a link to an anchor on the page changes nothing.
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

/** @param mayBeStored true if the user chose a stimulus, so a stored run will do */
async function run(experiment: Experiment, mayBeStored: boolean): Promise<void> {
  const answer = await ask(experiment, () => void run(experiment, mayBeStored), mayBeStored);
  if (answer === undefined) return;
  current = answer;
  form.write(answer.response);
  const hash = toHash(answer.response, kept?.response);
  // The entry lets Back show the run before this one.
  if (location.hash !== hash) history.pushState(null, '', hash);
  showRuns();
  bringIntoView(byId('stage'));
}

/**
 * @param mayBeStored true if a stored answer will do: the same experiment gives the same answer
 * @returns undefined if the service gave no answer; the page then shows the reason and offers `retry`. Also undefined
 *   if there was a newer request, whatever the order of the answers.
 */
async function ask(
  experiment: Experiment,
  retry: () => void,
  mayBeStored: boolean,
): Promise<Run | undefined> {
  const request = ++lastRequest;
  isAsking = true;
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
    const response = await postRun(experiment, stored!.model);
    if (request !== lastRequest) return undefined;
    const answer = runOf(response);
    settle();
    void store?.add(response);
    return answer;
  } catch (error) {
    if (request !== lastRequest) return undefined;
    fail(error, retry);
    // The chip is that of the run on the page again.
    if (current !== undefined) form.write({ ...form.read(), stimulus: current.response.stimulus });
    return undefined;
  }
}

/** A run that the service or this browser has stored; undefined if it must be computed. */
async function storedRun(experiment: Experiment): Promise<Run | undefined> {
  const known = store?.find(experiment);
  if (known !== undefined) return runOf(known);
  if (stored?.has(experiment) !== true) return undefined;
  try {
    const run = await stored.of(experiment.stimulus);
    free.add(run);
    return run;
  } catch {
    // The experiment is then run, and a failure of that is shown.
    return undefined;
  }
}

/** Runs the visible experiments with further seeds, for a mean and standard deviation. */
async function repeat(): Promise<void> {
  const request = ++lastRequest;
  isAsking = true;
  form.allowRuns(false);
  byId<HTMLButtonElement>('repeat').disabled = true;
  passFocus(byId('repeat'), byId('trials-shown'));
  const shown = [current, kept].filter((each) => each !== undefined);
  try {
    for (const each of shown) {
      const further = furtherSeeds.get(each) ?? [];
      while (further.length < FURTHER_SEEDS) {
        notices.status(`Repeating with further seeds: ${further.length} of ${FURTHER_SEEDS} …`);
        const { response } = each;
        const seed = (response.seed + further.length + 1) % 2 ** 32;
        const { stimulus, duration_ms, intensity } = response;
        further.push(runOf(await postRun({ stimulus, duration_ms, intensity, seed }, stored!.model)));
        furtherSeeds.set(each, further);
        if (request !== lastRequest) return;
      }
    }
    settle();
  } catch (error) {
    if (request !== lastRequest) return;
    fail(error, () => void repeat());
  } finally {
    byId<HTMLButtonElement>('repeat').disabled = false;
  }
  showResults();
}

/** Ends the wait for an answer. */
function settle(): void {
  lastRequest++;
  isAsking = false;
  notices.clear();
  notices.status('');
  form.allowRuns(true);
}

/** Forgets the run that comes, for a live fly. The chip is that of the run on the page again. */
function dropRun(): void {
  lastRequest++;
  if (!isAsking) return;
  settle();
  if (current !== undefined) form.write({ ...form.read(), stimulus: current.response.stimulus });
}

/** Ends the run with a notice of its failure. */
function fail(error: unknown, retry: () => void): void {
  settle();
  const failure = asFailure(error);
  // The service would refuse another run until the limit allows it.
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
  flies?.end();
  flies?.first.show(current.response);
  playback.show(current, kept);
  stage?.show(current, kept);
  card?.show(current, kept);
  path?.show(current);
  const isOpening = current === opening && kept === undefined;
  // The address of a dare is that of the page that opens with it, and no other run has one.
  const address = isOpening ? location.search : toHash(current.response, kept?.response);
  history.replaceState(null, '', location.pathname + address);
}

/**
 * Plays two runs of one stimulus side by side.
 * @param names of the cell types that are silent in the second run
 * @returns false if there is no fly or no room for two, or if it has become live
 */
function showTwins(intact: FullRun, lesioned: FullRun, names: string): boolean {
  if (flies === undefined || current === undefined || isLive()) return false;
  if (!flies.show(intact, lesioned, names)) return false;
  playback.show(current, kept);
  bringIntoView(byId('stage'));
  return true;
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

/** Selects neurons everywhere on the page. */
function select(selection: Selection | undefined): void {
  selected = selection;
  stage?.mark(selection);
  results?.select(selection);
  card?.select(selection);
  if (selection === undefined) return;
  bringIntoView(byId('stage'));
  // A click in the brain leaves the focus there.
  if (!byId('stage').contains(document.activeElement)) byId('card').focus({ preventScroll: true });
}

/** Scrolls to an element unless its top is high in the window. */
function bringIntoView(target: HTMLElement): void {
  const { top } = target.getBoundingClientRect();
  if (top >= -1 && top < innerHeight / 2) return;
  target.scrollIntoView({ behavior: scrollBehavior() });
}

function listenForCopies(): void {
  document.querySelectorAll<HTMLButtonElement>('[data-copy]').forEach((button) => {
    button.addEventListener('click', () => notices.copy(byId(button.dataset['copy']!).textContent ?? ''));
  });
}

/** Starts the page: asks for the model and its atlas, then runs what the form or the address says. */
import { type CompactAtlas, decodeAtlas } from '../../connectome/atlas-binary.js';
import { byId, element, grouped } from './dom.js';
import { ExperimentForm } from './experiment-form.js';
import { Notices } from './notices.js';
import { Results } from './results.js';
import { asFailure, fetchAtlas, fetchModel, postRun } from './service/client.js';
import { equal, type Experiment, fromHash, toHash } from './service/experiment.js';
import type { Model } from '../../answers/v1/api/model.dto.js';
import { rasterOf, type Run } from './service/run-result.js';
import { Stage } from './stage.js';
import { onThemeChange, readTheme } from './theme.js';

const RESIZE_PAUSE_MS = 150;

const notices = new Notices();
const form = new ExperimentForm(async (experiment) => {
  if (await run(experiment)) bringIntoView();
});
let stage: Stage | undefined;
let results: Results | undefined;
let current: Run | undefined;
let kept: Run | undefined;
/** The number of the last request for runs, by click or by address; answers to earlier ones are dropped. */
let lastRequest = 0;

await start();

/** Asks again until the service has a model. */
async function start(): Promise<void> {
  notices.status('Waiting for the model …');
  let model: Model;
  try {
    model = await fetchModel();
    notices.status('Loading the atlas …');
    const atlas = decodeAtlas(await fetchAtlas(model.atlas_url));
    notices.status('');
    present(model, atlas);
  } catch (error) {
    notices.failure(asFailure(error), () => void start(), true);
    return;
  }
  await runFromAddress(model);
}

function present(model: Model, atlas: CompactAtlas): void {
  describeModel(model, atlas);
  form.offer(model);
  results = new Results(model, atlas, (stimulus) => form.labelOf(stimulus), {
    onSeek: (timeMs) => stage?.seek(timeMs),
    onMark: (type) => stage?.mark(type),
  });
  try {
    stage = new Stage(atlas, (timeMs) => results?.moveTo(timeMs));
    stage.setTheme(readTheme());
  } catch {
    byId('shown-moment').textContent =
      'This browser does not support WebGL, so the brain is not drawn. Everything else works.';
  }
  form.allowRuns(true);
  byId('keep').addEventListener('click', () => compareWith(current));
  byId('drop').addEventListener('click', () => compareWith(undefined));
  addEventListener('hashchange', () => void runFromAddress(model));
  onThemeChange(() => {
    stage?.setTheme(readTheme());
    redraw();
  });
  let pause: ReturnType<typeof setTimeout> | undefined;
  addEventListener('resize', () => {
    clearTimeout(pause);
    pause = setTimeout(redraw, RESIZE_PAUSE_MS);
  });
  listenForCopies();
}

/** Runs the experiment in the address after `#`, unless it is on the page already. */
async function runFromAddress(model: Model): Promise<void> {
  const shared = fromHash(location.hash);
  if (shared.current === undefined) return;
  form.write(shared.current);
  if (shared.kept !== undefined && !(kept && equal(kept.response, shared.kept))) {
    const answer = await ask(shared.kept, () => void runFromAddress(model));
    if (answer === undefined) return;
    kept = answer;
  }
  if (shared.kept === undefined) kept = undefined;
  if (current && equal(current.response, shared.current)) {
    settle();
    showRuns();
    return;
  }
  await run(shared.current);
}

/** @returns whether there is an answer, and it is shown */
async function run(experiment: Experiment): Promise<boolean> {
  const answer = await ask(experiment, () => void run(experiment));
  if (answer === undefined) return false;
  current = answer;
  showRuns();
  return true;
}

/** On a narrow screen the brain is below the Run button. */
function bringIntoView(): void {
  const stageElement = byId('stage');
  if (stageElement.getBoundingClientRect().top < innerHeight / 2) return;
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  stageElement.scrollIntoView({ behavior: isStill ? 'instant' : 'smooth' });
}

/**
 * @returns nothing when the service gave no answer; then the page says why and offers `retry`. Nothing, too, when
 * something else was asked for in the meantime, however the two answers arrive.
 */
async function ask(experiment: Experiment, retry: () => void): Promise<Run | undefined> {
  const request = ++lastRequest;
  notices.clear();
  notices.status('Simulating …');
  form.allowRuns(false);
  try {
    const response = await postRun(experiment);
    const answer = { response, raster: rasterOf(response) };
    if (request !== lastRequest) return undefined;
    settle();
    return answer;
  } catch (error) {
    if (request !== lastRequest) return undefined;
    settle();
    const failure = asFailure(error);
    // Another run would be refused as well until there is room again.
    if (failure.kind === 'limited') form.allowRuns(false);
    notices.failure(failure, retry, false, () => form.allowRuns(true));
    return undefined;
  }
}

/** Ends the wait for an answer. */
function settle(): void {
  lastRequest++;
  notices.clear();
  notices.status('');
  form.allowRuns(true);
}

function compareWith(run: Run | undefined): void {
  kept = run;
  showRuns();
}

function showRuns(): void {
  if (current === undefined) return;
  results?.show(current, kept, readTheme());
  stage?.show(current, kept);
  history.replaceState(null, '', toHash(current.response, kept?.response));
}

function redraw(): void {
  if (current !== undefined) results?.draw(current, kept, readTheme());
}

function describeModel(model: Model, atlas: CompactAtlas): void {
  const wiring =
    model.wiring === 'measured' ? 'measured wiring' : 'synthetic wiring, sampled from cell-type statistics';
  byId('model-line').textContent =
    `${grouped(model.neuron_count)} neurons, ${grouped(model.connection_count)} connections, ${wiring}. ` +
    `${model.dataset}, release ${model.release}.`;
  const measured = atlas.estimated.reduce((sum, estimated) => sum + 1 - estimated, 0);
  const positions =
    measured === 0
      ? 'Positions are sampled from the mean and spread of each cell type.'
      : `${grouped(measured)} cell bodies have measured positions; ${grouped(atlas.neuronCount - measured)} ` +
        'positions are estimated and drawn fainter.';
  byId('about-measured').textContent =
    `Neurons, cell types and transmitters: ${model.dataset}, release ${model.release}. ` +
    (model.wiring === 'measured'
      ? `Their ${grouped(model.synapse_count)} synapses are measured too. `
      : 'Individual connections are not measured: they are sampled from measured cell-type statistics. ') +
    positions;
  byId('formulas')
    .querySelector('dl')!
    .replaceChildren(
      ...model.drives.flatMap(({ id, formula, reason }) => [
        element('dt', {}, id),
        element('dd', {}, formula),
        element('dd', {}, reason),
      ]),
    );
  byId('limitations').replaceChildren(
    ...model.limitations.map((text) => Object.assign(document.createElement('li'), { textContent: text })),
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

/** Starts the laboratory: connects the address, the form, the text of the document and the results. */
import { describeModelLine } from '../about.js';
import { byId, counted, element, grouped, passFocus, pushButton } from '../dom.js';
import { FINAL, Notices } from '../notices.js';
import type { DryRun } from '../../../src/experiments/document/result.js';
import { isResponders } from '../../../src/experiments/kinds/axes/each.js';
import { preregistration } from '../../../src/experiments/figures/provenance.js';
import { randomKey, type ExperimentDocument } from '#client';
import { asFailure, service, type ServiceFailure } from '../service/client.js';
import { jobLines, requestLines } from '../service/open-experiments.js';
import { IS_SITE, onLoading, openWhenIdle, SERVICE_URL } from '../service/transport.js';
import { documentHash } from '../document-link.js';
import { scrollBehavior } from '../window.js';
import { documentIn, exampleHash, jobHash, experimentIn } from './address.js';
import { BrainMap } from './brain-map.js';
import { COMMAND_KINDS, type CommandKind, commandText } from './commands.js';
import { type Change, DocumentForm } from './document-form.js';
import { faultElement } from './faults.js';
import { DraftHistory } from './draft-history.js';
import { EXAMPLES, namedTruly, exampleFits, textOf } from './examples.js';
import {
  isMembers,
  type Json,
  keysOf,
  readableJson,
  valueAt,
  withMemberRenamed,
  type Members,
  withValueAt,
} from './json.js';
import { type LiveRun, Previews } from './previews.js';
import { NeuronSearch } from './neuron-search.js';
import { offerNames } from './names.js';
import { Opening } from './opening.js';
import { OutcomePanel } from './outcome-panel.js';
import { ownSetsOf } from './selectors.js';
import { brainSeconds } from './words.js';

const DRY_RUN_PAUSE_MS = 350;
/** Pause after which a change of the history is tried again if the browser refused it. */
const HISTORY_PAUSE_MS = 1000;
/** Lines of the text field; a longer document scrolls. */
const MAX_LINES = 36;
const FEWEST_LINES = 12;

const notices = new Notices('page', {
  limited: 'The brain seconds of this minute are spent.',
});
const run = byId<HTMLButtonElement>('run');
const stop = byId<HTMLButtonElement>('stop');
const asJob = byId<HTMLInputElement>('as-job');
const text = byId<HTMLTextAreaElement>('document');
const state = byId('document-state');
const outcome = new OutcomePanel(onHead, onEnd);
const form = new DocumentForm(change, showHeldFault);
const brainMap = new BrainMap();
const drafts = new DraftHistory();
const previews = new Previews(runPreview, (sentence) => (byId('live-state').textContent = sentence));
const opening = new Opening(
  (document, isAtRest) => {
    showDocument(document, 'address', opening);
    if (isAtRest) {
      drafts.endChange();
      runsWhenChecked = 'live';
    } else previews.preview(document, priced);
  },
  (document) => {
    showDocument(document, 'step');
    byId('new').focus();
  },
);
/** Document in the text field; undefined if the text is not a document. */
let shown: Members | undefined;
/** An error that is shown when the user leaves the current field. */
let held: ServiceFailure | undefined;
/** Set if the experiment runs after its check: live beside the form, or as if its button were pressed. */
let runsWhenChecked: 'live' | 'pressed' | undefined;
/** True while a job is sent, so that it begins once. */
let isSubmitting = false;
let commandKind: CommandKind = 'curl';
let priced: DryRun | undefined;
let isRefused = false;
/** The user's choice for documents that fit into one request. */
let wantsJob = false;
/** Id of the job whose results are shown. */
let job: string | undefined;
/** Digest of the connectome; undefined until the model is known. */
let digest: string | undefined;
/** The request for the model that is under way. */
let describing: Promise<void> | undefined;
let asked = new AbortController();
let pause: ReturnType<typeof setTimeout> | undefined;
let keeping: ReturnType<typeof setTimeout> | undefined;

// A tab computes no jobs.
asJob.closest('label')!.hidden = byId('as-job-hint').hidden = IS_SITE;
byId('unstarted').remove();
onLoading((sentence) => notices.loading(sentence));
new NeuronSearch((place, selector) => {
  // A button must not overwrite text that the user edited.
  const canAdd = byId('by-hand').hidden === true;
  if (canAdd) form.add(place, selector);
  else notices.brief('The form cannot show the document, so nothing was added.');
  return canAdd;
});
offerNames(() => ownSetsOf(form.document));
offerExamples();
offerCommands();
listen();
openAddress();
await describe();
await describeExamples();

function describe(): Promise<void> {
  describing ??= askForModel().finally(() => (describing = undefined));
  return describing;
}

/** Repeats the request until the service has a model. */
async function askForModel(): Promise<void> {
  try {
    const model = await service.model();
    describeModelLine(model);
    const gainMv = model.network.find(({ name }) => name === 'synapse_mv')!.value;
    form.setGain(gainMv);
    opening.setGain(gainMv);
    digest = model.connectome_digest;
    if (opening.isOpen && outcome.asked === undefined) {
      runsWhenChecked = 'live';
      return checkSoon(0);
    }
  } catch (error) {
    notices.failure(asFailure(error), () => void describe(), true);
    return;
  }
  if (priced === undefined && !isRefused) checkSoon(0);
  else openWhenIdle(digest);
}

function offerExamples(): void {
  byId('examples').append(
    ...EXAMPLES.map(({ id, title }) => element('li', {}, element('a', { href: exampleHash(id) }, title))),
  );
}

/** Marks the published experiments that this brain cannot run, before the user opens one. */
async function describeExamples(): Promise<void> {
  try {
    const items = byId('examples').querySelectorAll('li');
    (await exampleFits()).forEach(({ text, canRun }, at) => {
      if (text === '') return;
      items[at]!.append(element('p', { class: canRun ? 'hint' : 'hint lacking' }, text));
    });
  } catch {
    // The dry run of an opened example reports the same.
  }
}

function offerCommands(): void {
  byId('command-options').append(
    ...Object.entries(COMMAND_KINDS).map(([kind, label]) => {
      const attributes = { type: 'radio', name: 'command-kind', value: kind, checked: kind === commandKind };
      const radio = element('input', attributes);
      radio.addEventListener('change', () => {
        commandKind = kind as CommandKind;
        showCommand();
      });
      return element('label', {}, radio, label);
    }),
  );
}

function listen(): void {
  const bar = byId('run-bar');
  const measure = (): void => document.body.style.setProperty('--run-bar', `${bar.offsetHeight}px`);
  new ResizeObserver(measure).observe(bar);
  byId('draft').addEventListener('submit', (event) => {
    event.preventDefault();
    if (!run.disabled) void start();
  });
  addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey)) return;
    const key = event.key.toLowerCase();
    // Texts beside the form have an undo of their own.
    if ((key === 'z' || key === 'y') && !(event.target as Element).closest('#document, #find')) {
      event.preventDefault();
      goBack(key === 'y' || event.shiftKey);
    }
    if (key !== 'enter') return;
    event.preventDefault();
    if (!run.disabled) void start();
    else if (isRefused) {
      showHeldFault();
      form.faults.focus();
    }
  });
  byId('new').addEventListener('click', () => {
    outcome.clear();
    showDocument({}, 'step');
  });
  byId('undo').addEventListener('click', () => goBack(false));
  byId('redo').addEventListener('click', () => goBack(true));
  for (const event of ['change', 'focusout']) {
    byId('draft').addEventListener(event, () => drafts.endChange());
  }
  byId('show-other').addEventListener('click', () => {
    const { asked } = outcome;
    if (asked !== undefined) showDocument(asked, 'step');
  });
  byId('hold-against').addEventListener('click', () => {
    if (shown === undefined) return;
    showDocument(
      namedTruly({ ...shown, controls: shown['controls'] ?? { shuffle: 'targets', count: 20 } }),
      'step',
    );
    outcome.prefer('this wiring among controls');
    runsWhenChecked = 'pressed';
    checkSoon(0);
  });
  stop.addEventListener('click', () => void end());
  asJob.addEventListener('change', () => {
    wantsJob = asJob.checked;
    showCommand();
    checkSoon(0);
  });
  text.addEventListener('input', () => readText());
  // Reformat the text only after the user has left it.
  text.addEventListener('change', () => {
    drafts.endChange();
    if (shown !== undefined) showDocument(shown, 'form');
  });
  byId('go-on').addEventListener('click', goOn);
  byId('form-again').addEventListener('click', () => {
    showDocument(form.document, 'suggestion');
    byId('new').focus();
  });
  // Between two long documents the address stays the same.
  addEventListener('popstate', () => openAddress());
  byId('copy-command').addEventListener('click', () => notices.copy(byId('command').textContent ?? ''));
  byId('copy-link').addEventListener('click', () => {
    const hash = shown === undefined ? undefined : documentHash(shown);
    if (hash === undefined) notices.brief('This document is too long for a link.');
    else notices.copy(new URL(hash, location.href).href);
  });
}

/** Shows the document before the last change, or after it again. */
function goBack(isRedo: boolean): void {
  // The slider of the opening would not follow.
  if (opening.isOpen) return;
  const document = isRedo ? drafts.redo() : drafts.undo();
  if (document !== undefined) showDocument(document, 'suggestion');
}

function change(document: Members, how: Change): void {
  const control = globalThis.document.activeElement;
  showDocument(document, how === 'dragged' ? 'drag' : 'form', how === 'chosen' ? undefined : control);
  runsWhenChecked = how === 'settled' && byId<HTMLInputElement>('live').checked ? 'live' : undefined;
  if (how === 'dragged' && byId<HTMLInputElement>('live').checked && !asJob.checked && !outcome.isRunning)
    previews.preview(document, priced);
}

/**
 * Updates all parts that show the document, except the one where it was changed.
 * @param origin a `step` leaves the document before it in the history of the browser; a `drag` changes no history,
 *   because browsers limit the rate of these changes
 * @param control the control of the form that is typed in or dragged
 */
function showDocument(
  given: Members,
  origin: 'form' | 'drag' | 'text' | 'address' | 'suggestion' | 'step',
  control?: unknown,
): void {
  const document = origin === 'text' ? given : namedTruly(given);
  shown = document;
  runsWhenChecked = undefined;
  previews.drop();
  // Undo would bring back a document that is renamed, which would count as another change.
  drafts.take(namedTruly(document), origin === 'text' ? 'text' : control);
  if (origin !== 'text') {
    text.value = readableJson(document);
    text.rows = Math.min(MAX_LINES, Math.max(FEWEST_LINES, text.value.split('\n').length + 1));
  }
  setByHand(false);
  if (origin === 'form' || origin === 'drag') form.rename(document);
  else form.write(document);
  if (origin !== 'address' && origin !== 'drag') keepInHistory(document, origin === 'step');
  const [undo, redo] = [byId<HTMLButtonElement>('undo'), byId<HTMLButtonElement>('redo')];
  undo.disabled = !drafts.canUndo;
  redo.disabled = !drafts.canRedo;
  passFocus(undo, redo);
  passFocus(redo, undo);
  compareOutcome();
  showCommand();
  checkSoon(DRY_RUN_PAUSE_MS);
}

/** @param isStep true if the document before it stays in the history of the browser */
function keepInHistory(document: Members, isStep: boolean): void {
  const hash = documentHash(document);
  const state = hash === undefined ? { document } : null;
  // The id of a job stands only in the address.
  setAddress(state, hash ?? location.pathname, isStep || experimentIn(location.hash).job !== undefined);
}

function setAddress(state: object | null, address: string, isStep: boolean): void {
  clearTimeout(keeping);
  try {
    if (isStep) history.pushState(state, '', address);
    else history.replaceState(state, '', address);
  } catch {
    // Safari allows 100 changes in 10 s.
    keeping = setTimeout(() => setAddress(state, address, isStep), HISTORY_PAUSE_MS);
  }
}

/** Marks a result that is of another document. @param id that of the document, if the service has said it */
function compareOutcome(id?: string): void {
  const { asked } = outcome;
  const isSame = shown !== undefined && asked !== undefined && textOf(shown) === textOf(asked);
  outcome.setOther(!isSame && (id === undefined || id !== outcome.id));
}

function readText(): void {
  try {
    showDocument(documentIn(text.value) as Members, 'text');
  } catch (error) {
    const isText = error instanceof SyntaxError;
    state.textContent = `${isText ? 'This is no JSON: ' : ''}${(error as Error).message}`;
    forgetDocument();
  }
}

/** Disables runs until there is a document again. */
function forgetDocument(): void {
  shown = undefined;
  runsWhenChecked = undefined;
  compareOutcome();
  asked.abort();
  clearTimeout(pause);
  showCommand();
  byId('by-hand').hidden = false;
  form.allowChanges(false);
  forgetCheck();
  run.disabled = true;
}

function setByHand(isByHand: boolean): void {
  byId('by-hand').hidden = !isByHand;
  form.allowChanges(!isByHand);
  state.textContent = '';
}

function showCommand(): void {
  byId('command').textContent =
    isMembers(shown) && !isRefused ? commandText(commandKind, shown, SERVICE_URL, asJob.checked) : '';
}

/** Selects a job if the user wants one, or if the experiment is too large for one request. */
function setTooLarge(isSo: boolean): void {
  asJob.checked = isSo || wantsJob;
  asJob.disabled = isSo;
  showCommand();
}

/** Requests a dry run after the document has been unchanged for some time. */
function checkSoon(afterMs: number): void {
  clearTimeout(pause);
  asked.abort();
  isRefused = false;
  pause = setTimeout(() => void check(), afterMs);
  allowRun();
}

/** Checks the document, and shows its figure if that is wanted. Only after that, the brain is loaded into this tab. */
async function check(): Promise<void> {
  const { signal } = (asked = new AbortController());
  if (shown !== undefined) await checkShown(shown, signal);
  if (digest !== undefined && !signal.aborted) openWhenIdle(digest);
}

async function checkShown(checked: Members, signal: AbortSignal): Promise<void> {
  const document = checked as unknown as ExperimentDocument;
  try {
    const { answer, tooLarge } = await priceOf(document, signal);
    forgetCheck();
    priced = answer;
    compareOutcome(answer.id);
    setTooLarge(tooLarge !== undefined);
    form.showResolved(answer.resolved);
    brainMap.show(checked, answer.resolved);
    byId('cost').textContent = describeCost(answer);
    byId('preregister').hidden = false;
    byId('preregistration').textContent = preregistration(answer);
    byId('too-large').textContent =
      tooLarge === undefined ? '' : `Too large for one request, so it runs as a job. ${tooLarge}`;
  } catch (error) {
    if (signal.aborted) return;
    forgetCheck();
    setTooLarge(false);
    const failure = asFailure(error);
    // This brain has no such neurons.
    if (failure.kind === 'refused' && opening.isOpen) {
      opening.isOpen = false;
      showDocument(EXAMPLES[0]!.document, 'address');
      runsWhenChecked = 'live';
      return;
    }
    if (failure.kind === 'refused') showFault(failure, true);
    else byId('cost').textContent = `The cost is not known: ${failure.message}`;
  }
  allowRun();
  const wanted = runsWhenChecked;
  runsWhenChecked = undefined;
  if (wanted === undefined || priced === undefined || isRefused) return;
  if (wanted === 'pressed') await start();
  else if (opening.isOpen) await finish(checked);
  else if (!asJob.checked) previews.whole(checked, priced);
}

/** Computes the figure of the opening. */
async function finish(document: Members): Promise<void> {
  const failure = await runPreview({ document, asked: document, note: '' });
  if (failure !== undefined) notices.failure(failure, () => void finish(document));
}

/** Runs beside the form, without moving the focus or scrolling. */
async function runPreview({ document, asked, note }: LiveRun): Promise<ServiceFailure | undefined> {
  // A run whose button was pressed goes on, except if Back leads to the opening, which shows no other run.
  if (outcome.isRunning && !opening.isOpen) {
    byId('live-state').textContent = 'The figure follows the controls again after this run.';
    return undefined;
  }
  job = undefined;
  notices.clear();
  const lines = requestLines(document as unknown as ExperimentDocument);
  const following = outcome.followLive(lines, priced?.conditions.length ?? 1, asked, note);
  compareOutcome();
  allowRun();
  const failure = await following;
  describeIfUnknown();
  if (failure !== undefined) compareOutcome();
  return failure;
}

/** Asks for the model again after an experiment, which has cleared the notice that would have done so. */
function describeIfUnknown(): void {
  if (digest === undefined) void describe();
}

/**
 * The cost as one request, or as a job if the user wants one or if it is too large for one request.
 * @returns `tooLarge` is the service's message if it is too large for one request
 */
async function priceOf(
  document: ExperimentDocument,
  signal: AbortSignal,
): Promise<{ readonly answer: DryRun; readonly tooLarge?: string }> {
  const dryRun = async (asJob: boolean) => (await service.dryRun(document, { asJob, signal })) as DryRun;
  if (wantsJob) return { answer: await dryRun(true) };
  try {
    return { answer: await dryRun(false) };
  } catch (error) {
    if (!mayBeJob(asFailure(error))) throw error;
    return { answer: await dryRun(true), tooLarge: asFailure(error).message };
  }
}

/** Too many conditions are reported as INVALID_PARAMETER at /sweep. */
function mayBeJob({ place: { code, path } }: ServiceFailure): boolean {
  return code === 'TOO_EXPENSIVE' || (code === 'INVALID_PARAMETER' && path === '/sweep');
}

function forgetCheck(): void {
  priced = undefined;
  held = undefined;
  form.showResolved(undefined);
  form.faults.clear();
  byId('other-fault').replaceChildren();
  byId('cost').textContent = '';
  byId('preregister').hidden = true;
  byId('too-large').textContent = '';
}

function describeCost({ conditions, cost, experiment }: DryRun): string {
  // The number of responders is known only after the baseline, so this cost is an upper bound.
  const isBound = experiment.sweep?.some((axis) => 'each' in axis && isResponders(axis.each));
  const many = isBound
    ? 'As many conditions as there are responders'
    : counted(conditions.length, 'condition');
  return (
    `${many} of ${counted(experiment.trials, 'trial')}: ${isBound ? 'at most ' : ''}${brainSeconds(cost.brain_seconds)}, ` +
    `about ${grouped(Math.round(cost.input_events))} input events.` +
    (cost.spike_rows_at_most === undefined
      ? ''
      : ` At most ${grouped(cost.spike_rows_at_most)} rows of spikes.`) +
    (cost.membrane_rows === undefined ? '' : ` ${grouped(cost.membrane_rows)} rows of membrane potentials.`)
  );
}

/** @param mayWait true if the user may still be typing in the document */
function showFault(failure: ServiceFailure, mayWait = false): void {
  isRefused = true;
  showCommand();
  held = mayWait && form.isTyping ? failure : undefined;
  if (held !== undefined) return;
  const { message, place } = failure;
  const mend = (suggestion: string): void => {
    if (shown === undefined) return;
    showDocument(mended(shown, place.path ?? '', message, suggestion) as Members, 'suggestion');
  };
  const isAtField = byId('by-hand').hidden && form.faults.show(message, place, mend);
  byId('other-fault').replaceChildren(
    isAtField
      ? pushButton('Show what is refused', () => form.faults.focus())
      : faultElement(message, place, mend),
  );
}

function showHeldFault(): void {
  if (held !== undefined) showFault(held);
}

/** Replaces the value or member name in the message by the suggestion. */
function mended(document: Json, path: string, message: string, suggestion: string): Json {
  const value = valueAt(document, path);
  const name = keysOf(path).at(-1);
  const isOfValue = typeof value === 'string' && message.includes(JSON.stringify(value));
  const isOfMember = name !== undefined && message.includes(`got ${JSON.stringify(name)}`);
  if (isOfMember && !isOfValue) return withMemberRenamed(document, path, suggestion);
  const side = typeof value === 'string' ? (/:(left|right|center)$/.exec(value)?.[0] ?? '') : '';
  return withValueAt(document, path, suggestion.includes(':') ? suggestion : suggestion + side);
}

function allowRun(): void {
  run.disabled = isRefused || shown === undefined || outcome.isRunning || isSubmitting;
  stop.hidden = !outcome.isRunning;
}

/** Shows the experiment of the address, or the opening if it names none. */
function openAddress(): void {
  clearTimeout(keeping);
  const { document: long } = (history.state ?? {}) as { readonly document?: Members };
  opening.isOpen = long === undefined && location.hash.length <= 1;
  if (long !== undefined) return showDocument(long, 'address');
  if (opening.isOpen) {
    showDocument(opening.document, 'address');
    // On arrival it waits for the model.
    if (opening.isReady) runsWhenChecked = 'live';
    return;
  }
  const { document, job: named, damage } = experimentIn(location.hash);
  if (damage !== undefined) {
    text.value = '';
    state.textContent = `This link is damaged, so it opened no experiment: ${damage}`;
    forgetDocument();
    return;
  }
  // A job that was opened only by its id brings its own document.
  if (document !== undefined) showDocument(document as Members, 'address');
  if (named !== undefined) follow(named, document as Members | undefined);
}

async function start(): Promise<void> {
  if (shown === undefined) return;
  const document = shown as unknown as ExperimentDocument;
  previews.drop();
  runsWhenChecked = undefined;
  notices.clear();
  notices.status('');
  job = undefined;
  if (!asJob.checked) {
    present(() => outcome.follow(requestLines(document), priced?.conditions.length ?? 1, shown));
    return;
  }
  await submit(document, randomKey());
}

/** @param key idempotency key; the same on a retry, because the job may have begun without an answer */
async function submit(
  document: ExperimentDocument,
  key: string,
  hadFocus = globalThis.document.activeElement === run,
): Promise<void> {
  isSubmitting = true;
  allowRun();
  try {
    const { id: begun } = await service.submitExperiment(document, { key });
    isSubmitting = false;
    setAddress(null, jobHash(begun, document as unknown as Json), true);
    follow(begun, document as unknown as Members);
    // If the user has changed the document meanwhile, Back leads to the job.
    if (shown !== undefined && textOf(shown) !== textOf(document as unknown as Members))
      keepInHistory(shown, true);
  } catch (error) {
    isSubmitting = false;
    onEnd(asFailure(error), () => void submit(document, key, true));
    if (hadFocus && globalThis.document.activeElement === globalThis.document.body) run.focus();
  }
}

/**
 * Shows a job from this page or another one.
 * @param document of the job, if it is known
 */
function follow(named: string, document: Members | undefined): void {
  job = named;
  present(() => outcome.follow(jobLines(named), 1, document));
}

function present(begin: () => Promise<void>): void {
  void begin();
  stop.textContent = job === undefined ? 'Stop' : 'End the job';
  allowRun();
  byId('outcome-heading').focus({ preventScroll: true });
  byId('outcome').scrollIntoView({ behavior: scrollBehavior(), block: 'start' });
}

/** Ends the current experiment; its results so far stay on the page. */
async function end(ended = job): Promise<void> {
  // A retry may come when another experiment is on the page.
  if (ended === job) outcome.stop();
  if (ended === undefined) return;
  try {
    await service.job(ended).end();
  } catch (error) {
    notices.failure(asFailure(error), () => void end(ended));
  }
}

/** A job that was opened from a link brings its document. */
function onHead(asked: Members): void {
  if (shown === undefined) showDocument(asked, 'address');
  else compareOutcome(priced?.id);
}

/** @param again action of the retry button; by default, the experiment continues */
function onEnd(failure: ServiceFailure | undefined, again = goOn): void {
  const hadFocus = document.activeElement === stop;
  previews.drop();
  allowRun();
  if (hadFocus) run.focus({ preventScroll: true });
  if (failure === undefined || FINAL.includes(failure.kind)) describeIfUnknown();
  if (failure === undefined) return;
  if (failure.kind === 'refused') {
    showFault(failure);
    allowRun();
    byId('other-fault').scrollIntoView({ behavior: scrollBehavior(), block: 'nearest' });
  } else {
    notices.failure(failure, again);
    // An expired job leaves no document, so show an example.
    if (shown === undefined && failure.kind === 'ended') showDocument(EXAMPLES[0]!.document, 'suggestion');
  }
}

function goOn(): void {
  notices.clear();
  void outcome.goOn();
  allowRun();
}

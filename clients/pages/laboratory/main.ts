/** Starts the laboratory: the document in the address, the form beside it, and what comes of it. */
import { describeModelLine } from '../about.js';
import { byId, element, grouped } from '../dom.js';
import { Notices } from '../notices.js';
import type { DryRun, ExperimentHead } from '../../../src/experiments/run/result.js';
import { randomKey, type ExperimentDocument } from '#client';
import { asFailure, service, type ServiceFailure } from '../service/client.js';
import { jobLines, requestLines } from '../service/open-experiments.js';
import { documentHash } from '../document-link.js';
import { documentIn, exampleHash, jobHash, namedBy } from './address.js';
import { BrainMap } from './brain-map.js';
import { COMMAND_KINDS, type CommandKind, commandText } from './commands.js';
import { completeNames } from './completion.js';
import { type Change, DocumentForm, faultElement } from './document-form.js';
import { EXAMPLES, namedTruly, standings } from './examples.js';
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
import { Live } from './live.js';
import { NeuronSearch } from './neuron-search.js';
import { OutcomePanel } from './outcome-panel.js';
import { ownSetsOf } from './selectors.js';

const DRY_RUN_PAUSE_MS = 350;
/** Lines of the text field; a longer document scrolls. */
const MOST_LINES = 36;
const FEWEST_LINES = 12;

const notices = new Notices('page', {
  limited: 'The brain seconds of this minute are spent.',
  refused: 'The service refused this experiment.',
});
const run = byId<HTMLButtonElement>('run');
const stop = byId<HTMLButtonElement>('stop');
const asJob = byId<HTMLInputElement>('as-job');
const text = byId<HTMLTextAreaElement>('document');
const state = byId('document-state');
const outcome = new OutcomePanel(onHead, onEnd);
const form = new DocumentForm(change, showHeldFault);
const brainMap = new BrainMap();
const live = new Live(runLive, (sentence) => (byId('live-state').textContent = sentence));
/** Document in the text field; undefined while the text is none. */
let shown: Members | undefined;
/** A fault that waits until the field in which somebody types is left. */
let held: ServiceFailure | undefined;
/** Set where the experiment is to run once it has been checked: beside the form, or as if its button were pressed. */
let runsWhenChecked: 'live' | 'pressed' | undefined;
let commandKind: CommandKind = 'curl';
let priced: DryRun | undefined;
let isRefused = false;
/** Choice of the reader for documents that may also be one request. */
let wantsJob = false;
/** The job that is followed. */
let job: string | undefined;
let asked = new AbortController();
let pause: ReturnType<typeof setTimeout> | undefined;

new NeuronSearch((place, selector) => {
  // Text that was edited by hand is not to be lost to a button.
  if (!byId('by-hand').hidden) notices.status('The form cannot show the document, so nothing was added.');
  else form.add(place, selector);
});
completeNames(() => ownSetsOf(form.document));
offerExamples();
offerCommands();
listen();
openAddress(EXAMPLES[0]?.document ?? {});
await describe();
await describeExamples();

/** Asks again until the service has a model. */
async function describe(): Promise<void> {
  try {
    describeModelLine(await service.model());
  } catch (error) {
    notices.failure(asFailure(error), () => void describe(), true);
    return;
  }
  if (priced === undefined && !isRefused) checkSoon(0);
}

function offerExamples(): void {
  byId('examples').append(
    ...EXAMPLES.map(({ id, title }) => element('li', {}, element('a', { href: exampleHash(id) }, title))),
  );
}

/** Says before anything is run what of the published experiments this brain has. */
async function describeExamples(): Promise<void> {
  try {
    const items = byId('examples').querySelectorAll('li');
    (await standings()).forEach(({ text, canRun }, at) => {
      if (text === '') return;
      items[at]!.append(element('p', { class: canRun ? 'hint' : 'hint lacking' }, text));
    });
  } catch {
    // The dry run of each says the same once it is opened.
  }
}

function offerCommands(): void {
  byId('command-options').append(
    ...Object.entries(COMMAND_KINDS).map(([kind, label]) => {
      const radio = element('input', {
        type: 'radio',
        name: 'command-kind',
        value: kind,
        checked: kind === commandKind,
      });
      radio.addEventListener('change', () => {
        commandKind = kind as CommandKind;
        showCommand();
      });
      return element('label', {}, radio, label);
    }),
  );
}

function listen(): void {
  byId('draft').addEventListener('submit', (event) => {
    event.preventDefault();
    if (!run.disabled) void start();
  });
  addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!run.disabled) void start();
    else if (isRefused) {
      showHeldFault();
      form.focusFault();
    }
  });
  byId('new').addEventListener('click', () => showDocument({}, 'suggestion'));
  byId('hold-against').addEventListener('click', () => {
    if (shown === undefined) return;
    showDocument(
      namedTruly({ ...shown, controls: shown['controls'] ?? { shuffle: 'weights', count: 20 } }),
      'suggestion',
    );
    outcome.prefer('measured among controls');
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
  // While somebody writes there, nothing is written into the text.
  text.addEventListener('change', () => shown !== undefined && showDocument(shown, 'form'));
  byId('form-again').addEventListener('click', () => showDocument(form.document, 'suggestion'));
  addEventListener('hashchange', () => openAddress(undefined));
  byId('copy-command').addEventListener('click', () => copy(byId('command').textContent ?? ''));
  byId('copy-link').addEventListener('click', () => {
    const hash = shown === undefined ? undefined : documentHash(shown);
    if (hash === undefined) notices.status('This document is too long for a link.');
    else copy(new URL(hash, location.href).href);
  });
}

function change(document: Members, how: Change): void {
  showDocument(document, 'form');
  runsWhenChecked = how === 'settled' && byId<HTMLInputElement>('live').checked ? 'live' : undefined;
  if (how === 'dragged' && byId<HTMLInputElement>('live').checked && !asJob.checked)
    live.preview(document, priced);
}

/** Updates all parts that show the document, except the one where it was changed. */
function showDocument(given: Members, origin: 'form' | 'text' | 'address' | 'suggestion'): void {
  const document = origin === 'text' ? given : namedTruly(given);
  shown = document;
  if (origin !== 'text') {
    text.value = readableJson(document);
    text.rows = Math.min(MOST_LINES, Math.max(FEWEST_LINES, text.value.split('\n').length + 1));
  }
  setByHand(false);
  if (origin === 'form') form.rename(document);
  else form.write(document);
  if (origin !== 'address') {
    history.replaceState(null, '', documentHash(document) ?? location.pathname);
  }
  showCommand();
  checkSoon(DRY_RUN_PAUSE_MS);
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

/** Allows no run until there is a document again. */
function forgetDocument(): void {
  shown = undefined;
  asked.abort();
  clearTimeout(pause);
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
  byId('command').textContent = isMembers(shown)
    ? commandText(commandKind, shown, location.origin, asJob.checked)
    : '';
}

/** A job where the reader wants one, or nothing else is possible. */
function setTooLarge(isSo: boolean): void {
  asJob.checked = isSo || wantsJob;
  asJob.disabled = isSo;
  showCommand();
}

/** Asks the service for a dry run once the document has been unchanged for a while. */
function checkSoon(afterMs: number): void {
  clearTimeout(pause);
  asked.abort();
  isRefused = false;
  pause = setTimeout(() => void check(), afterMs);
  allowRun();
}

async function check(): Promise<void> {
  if (shown === undefined) return;
  const document = shown as unknown as ExperimentDocument;
  const { signal } = (asked = new AbortController());
  try {
    const { answer, tooLarge } = await priceOf(document, signal);
    forgetCheck();
    priced = answer;
    setTooLarge(tooLarge !== undefined);
    form.showResolved(answer.resolved);
    brainMap.show(shown, answer.resolved);
    byId('cost').textContent = describeCost(answer);
    byId('too-large').textContent =
      tooLarge === undefined ? '' : `Too large for one request, so it runs as a job. ${tooLarge}`;
  } catch (error) {
    if (signal.aborted) return;
    forgetCheck();
    setTooLarge(false);
    const failure = asFailure(error);
    if (failure.kind === 'refused') showFault(failure, true);
    else byId('cost').textContent = `The cost is not known: ${failure.message}`;
  }
  allowRun();
  const wanted = runsWhenChecked;
  runsWhenChecked = undefined;
  if (wanted === undefined || priced === undefined || isRefused) return;
  if (wanted === 'pressed') await start();
  else if (!asJob.checked) live.whole(shown, priced);
}

/** Runs beside the form, without taking the focus or the view of the reader. */
function runLive(document: Members, note: string): Promise<ServiceFailure | undefined> {
  job = undefined;
  notices.clear();
  const lines = requestLines(document as unknown as ExperimentDocument);
  const following = outcome.followLive(lines, priced?.conditions.length ?? 1, note);
  allowRun();
  return following;
}

/**
 * The cost as one request, or as a job where the reader wants one or it is too large for a request.
 * @returns `tooLarge` is the message of the service on its size, if it is too large
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

/** Conditions are counted by the check of the sweep. */
function mayBeJob({ place: { code, path } }: ServiceFailure): boolean {
  return code === 'TOO_EXPENSIVE' || (code === 'INVALID_PARAMETER' && path === '/sweep');
}

function forgetCheck(): void {
  priced = undefined;
  held = undefined;
  form.showResolved(undefined);
  form.clearFault();
  byId('other-fault').replaceChildren();
  byId('cost').textContent = '';
  byId('too-large').textContent = '';
}

function describeCost({ conditions, cost, experiment }: DryRun): string {
  const trials = `${grouped(experiment.trials)} ${experiment.trials === 1 ? 'trial' : 'trials'}`;
  // The number of responders is known only after the baseline has run.
  const isBound = experiment.sweep?.some(
    (axis) => 'each' in axis && isMembers(axis.each as Json) && 'responders_of' in (axis.each as object),
  );
  const many = isBound
    ? 'As many conditions as there are responders'
    : `${grouped(conditions.length)} ${conditions.length === 1 ? 'condition' : 'conditions'}`;
  return (
    `${many} of ${trials}: ${isBound ? 'at most ' : ''}${Number(cost.brain_seconds.toPrecision(6))} brain seconds, ` +
    `about ${grouped(Math.round(cost.input_events))} input events.` +
    (cost.spike_rows_at_most === undefined
      ? ''
      : ` At most ${grouped(cost.spike_rows_at_most)} rows of spikes.`) +
    (cost.membrane_rows === undefined ? '' : ` ${grouped(cost.membrane_rows)} rows of membrane potentials.`)
  );
}

/** @param mayWait true where the fault is of a document in which somebody may be typing */
function showFault(failure: ServiceFailure, mayWait = false): void {
  isRefused = true;
  held = mayWait && form.isTyping ? failure : undefined;
  if (held !== undefined) return;
  const { message, place } = failure;
  const mend = (suggestion: string): void => {
    if (shown === undefined) return;
    showDocument(mended(shown, place.path ?? '', message, suggestion) as Members, 'suggestion');
  };
  const isAtField = byId('by-hand').hidden && form.showFault(message, place, mend);
  byId('other-fault').replaceChildren(isAtField ? jumpToFault() : faultElement(message, place, mend));
}

function showHeldFault(): void {
  if (held !== undefined) showFault(held);
}

function jumpToFault(): HTMLElement {
  const button = element('button', { type: 'button', class: 'quiet' }, 'Show what is refused');
  button.addEventListener('click', () => form.focusFault());
  return button;
}

/** The document with the suggestion in place of what the message names: a value, or the name of a member. */
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
  run.disabled = isRefused || shown === undefined || outcome.isRunning;
  stop.hidden = !outcome.isRunning;
}

/** @param otherwise the document where the address says nothing */
function openAddress(otherwise: Members | undefined): void {
  const { document = otherwise, job: named, damage } = namedBy(location.hash);
  if (damage !== undefined) {
    text.value = '';
    state.textContent = `This link is damaged, so it opened no experiment: ${damage}`;
    forgetDocument();
    return;
  }
  // A job that was opened by its name alone brings its document.
  if (document !== undefined && !(named !== undefined && document === otherwise)) {
    showDocument(document as Members, 'address');
  }
  if (named !== undefined) follow(named);
}

async function start(): Promise<void> {
  if (shown === undefined) return;
  const document = shown as unknown as ExperimentDocument;
  live.drop();
  runsWhenChecked = undefined;
  notices.clear();
  notices.status('');
  job = undefined;
  if (!asJob.checked) {
    present(() => outcome.follow(requestLines(document), priced?.conditions.length ?? 1));
    return;
  }
  await submit(document, randomKey());
}

/** @param key the same where this is tried again: the job may have begun although no answer came */
async function submit(document: ExperimentDocument, key: string): Promise<void> {
  run.disabled = true;
  try {
    const { id: begun } = await service.submitExperiment(document, { key });
    history.pushState(null, '', jobHash(begun, document as unknown as Json));
    follow(begun);
  } catch (error) {
    onEnd(asFailure(error), () => void submit(document, key));
  }
}

/** Shows a job, begun here or elsewhere. */
function follow(named: string): void {
  job = named;
  present(() => outcome.follow(jobLines(named), 1));
}

function present(begin: () => Promise<void>): void {
  void begin();
  stop.textContent = job === undefined ? 'Stop' : 'End the job';
  allowRun();
  byId('outcome-heading').focus({ preventScroll: true });
  byId('outcome').scrollIntoView({ behavior: stillness(), block: 'start' });
}

/** Ends the experiment under way; its results so far stay on the page. */
async function end(): Promise<void> {
  const ended = job;
  outcome.stop();
  if (ended === undefined) return;
  try {
    await service.job(ended).end();
  } catch (error) {
    notices.failure(asFailure(error), () => void end());
  }
}

/** A job that was opened from a link brings its document. */
function onHead({ experiment }: ExperimentHead): void {
  if (shown === undefined) showDocument(experiment as unknown as Members, 'address');
}

/** @param again what the reader may try after a failure; by default, to go on where the experiment stopped */
function onEnd(failure: ServiceFailure | undefined, again = goOn): void {
  const hadFocus = document.activeElement === stop;
  allowRun();
  if (hadFocus) run.focus({ preventScroll: true });
  if (failure === undefined) return;
  if (failure.kind === 'refused') {
    showFault(failure);
    allowRun();
    byId('other-fault').scrollIntoView({ behavior: stillness(), block: 'nearest' });
  } else {
    notices.failure(failure, again);
    // A job that is gone leaves no document; the page is of use all the same.
    if (shown === undefined && failure.kind === 'ended') showDocument(EXAMPLES[0]!.document, 'suggestion');
  }
}

function goOn(): void {
  void outcome.goOn();
  allowRun();
}

function stillness(): ScrollBehavior {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth';
}

function copy(content: string): void {
  void navigator.clipboard.writeText(content).then(
    () => notices.status('Copied.'),
    () => notices.status('The browser did not allow copying.'),
  );
}

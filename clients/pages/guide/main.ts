/** Adds a Run button to each example of the guide that is a document. The first press loads the figures and the brain. */
import '../styles.css';
import './guide.css';
import type { ExperimentDocument } from '#client';
import { documentHash } from '../document-link.js';
import { element } from '../dom.js';

const RUN = 'Run in this tab';
const buttons: HTMLButtonElement[] = [];

document
  .querySelectorAll<HTMLElement>('[data-document]')
  .forEach((example, number) => offer(example, JSON.parse(example.dataset['document']!), number));

function offer(example: HTMLElement, posted: ExperimentDocument, number: number): void {
  const button = element('button', { type: 'button', class: 'primary' }, RUN);
  const progress = element('progress', { 'aria-label': 'Progress', hidden: true });
  const status = element('p', { class: 'hint', role: 'status' });
  const figure = element('div', { class: 'figure' });
  const warnings = element('div');
  const actions = element('div', { class: 'actions' }, button);
  const hash = documentHash(posted);
  if (hash !== undefined) {
    actions.append(element('a', { href: `../laboratory.html${hash}` }, 'Open in the laboratory'));
  }
  example.append(actions, progress, status, figure, warnings);
  buttons.push(button);
  let stop: AbortController | undefined;

  const run = async (signal: AbortSignal): Promise<void> => {
    status.className = 'hint';
    status.textContent = 'Loading …';
    warnings.replaceChildren();
    progress.removeAttribute('value');
    const { runHere } = await import('./run-here.js');
    const warned = await runHere(posted, figure, `example-${number}`, signal, (text, share) => {
      status.textContent = text;
      if (share !== undefined) progress.value = share;
    });
    status.textContent = 'Computed in this tab; the service gives the same answer.';
    if (warned.length === 0) return;
    const items = warned.map((sentence) => element('li', {}, sentence));
    const summary = element('summary', {}, `How far to trust it (${warned.length})`);
    warnings.replaceChildren(element('details', { class: 'hint' }, summary, element('ul', {}, ...items)));
  };

  button.addEventListener('click', () => {
    if (stop !== undefined) return stop.abort();
    const { signal } = (stop = new AbortController());
    show(true);
    run(signal)
      .catch((error: Error) => {
        status.className = signal.aborted ? 'hint' : 'alert';
        status.textContent = signal.aborted ? 'Stopped.' : error.message;
      })
      .finally(() => {
        stop = undefined;
        show(false);
      });
  });

  /** One example runs at a time, since all share one worker. */
  function show(isRunning: boolean): void {
    for (const each of buttons) each.disabled = isRunning && each !== button;
    button.textContent = isRunning ? 'Stop' : RUN;
    progress.hidden = !isRunning;
  }
}

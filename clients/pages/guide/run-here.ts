/** Runs documents in a brain of this tab and draws their figures. */
import type { Brain, ExperimentDocument, ExperimentLine } from '#client';
import type { ExperimentHead, ExperimentTotals } from '../../../src/experiments/document/result.js';
import { namesOnlyIds } from '../../../src/experiments/figures/condition-labels.js';
import { drawSvg } from '../../../src/experiments/figures/draw.js';
import { figureOfFile } from '../../../src/experiments/figures/experiment-figures.js';
import type { Figure } from '../../../src/experiments/figures/figure.js';
import { eventReports } from '../../../src/experiments/figures/report-figures.js';
import type * as Tab from '../../tab/open-brain.js';
import { grouped } from '../dom.js';
import { screenPalette, svgElement } from '../laboratory/figure.js';
import { findingsOf } from '../laboratory/findings.js';
import { loadingSentence } from '../service/loading.js';
import { type NeuronIndex, neuronIndexOfBrain } from '../service/neuron-index.js';
import type { ConditionLine } from '../service/open-experiments.js';
import { onThemeChange } from '../theme.js';

/** An answer in the types of the figures. */
type Answer = ExperimentHead & ExperimentTotals & { readonly conditions: readonly ConditionLine[] };

/** @param share from 0 to 1; undefined if unknown */
export type Report = (sentence: string, share?: number) => void;

interface Drawn {
  readonly figure: Figure;
  readonly idPrefix: string;
}

let brain: Brain | undefined;
let neurons: NeuronIndex | undefined;
const drawn = new Map<HTMLElement, Drawn>();
let width = innerWidth;

onThemeChange(() => drawn.forEach(draw));
addEventListener('resize', () => {
  if (innerWidth === width) return;
  width = innerWidth;
  drawn.forEach(draw);
});

/**
 * Runs a document and draws its figure into an element.
 * @returns the warnings of the answer
 * @throws ServiceError if the document is refused; CodedError if the brain cannot be opened; the reason of the signal
 */
export async function runHere(
  document: ExperimentDocument,
  into: HTMLElement,
  idPrefix: string,
  signal: AbortSignal,
  report: Report,
): Promise<string[]> {
  drawn.delete(into);
  into.replaceChildren();
  brain ??= await openHere(signal, report);
  report('Running …');
  const onEvent = (line: ExperimentLine): void => {
    if (!('progress' in line)) return;
    const { trials_done: done, trials } = line.progress;
    report(`Running: ${grouped(done)} of ${grouped(trials)} trials …`, done / trials);
  };
  const answer = (await brain.experiment(document, { onEvent, signal })) as unknown as Answer;
  if (eventReports(answer.experiment).length > 0 || namesOnlyIds(answer.experiment))
    neurons ??= await neuronIndexOfBrain(brain.client);
  const figure = figureOfFile(findingsOf(answer, answer.conditions, answer, neurons));
  drawn.set(into, { figure, idPrefix });
  draw({ figure, idPrefix }, into);
  return answer.warnings.map(({ message }) => message);
}

async function openHere(signal: AbortSignal, report: Report): Promise<Brain> {
  // brain.js is a file of the site, not of this bundle.
  const { href } = new URL('../brain.js', document.baseURI);
  const { openBrain } = (await import(/* @vite-ignore */ href)) as typeof Tab;
  return openBrain({
    signal,
    onProgress(progress) {
      const share = progress.totalBytes && progress.loadedBytes / progress.totalBytes;
      report(loadingSentence(progress), share);
    },
  });
}

function draw({ figure, idPrefix }: Drawn, into: HTMLElement): void {
  if (into.clientWidth === 0) return;
  const options = { palette: screenPalette(), idPrefix };
  into.replaceChildren(svgElement(drawSvg(figure, into.clientWidth, options)));
}

/** Runs documents in a brain of this tab and draws their figures. */
import type { Brain, ExperimentDocument, ExperimentLine } from '#client';
import { namesOnlyIds } from '../../../src/experiments/figures/condition-labels.js';
import { figureOfFile } from '../../../src/experiments/figures/experiment-figures.js';
import { eventReports } from '../../../src/experiments/figures/report-figures.js';
import type * as Tab from '../../tab/open-brain.js';
import { grouped } from '../dom.js';
import { findingsOf } from '../laboratory/findings.js';
import { FigureBox } from '../plots/figure-box.js';
import { loadingSentence } from '../service/loading.js';
import { type NeuronIndex, neuronIndexOfBrain } from '../service/neuron-index.js';
import type { WholeAnswer } from '../service/open-experiments.js';

/** @param share from 0 to 1; undefined if unknown */
export type Report = (sentence: string, share?: number) => void;

let brain: Brain | undefined;
let neurons: NeuronIndex | undefined;
const boxes = new Map<HTMLElement, FigureBox>();

/**
 * Runs a document and draws its figure into an element.
 * @returns the warnings of the answer
 * @throws ServiceError if the document is refused; CodedError if the brain cannot be opened; the reason of the signal
 */
export async function runHere(
  document: ExperimentDocument,
  into: HTMLElement,
  name: string,
  signal: AbortSignal,
  report: Report,
): Promise<string[]> {
  const box = boxes.get(into) ?? new FigureBox(into, name);
  boxes.set(into, box);
  box.show(undefined);
  brain ??= await openHere(signal, report);
  report('Running …');
  const onEvent = (line: ExperimentLine): void => {
    if (!('progress' in line)) return;
    const { trials_done: done, trials } = line.progress;
    report(`Running: ${grouped(done)} of ${grouped(trials)} trials …`, done / trials);
  };
  let answer: WholeAnswer;
  try {
    answer = (await brain.experiment(document, { onEvent, signal })) as unknown as WholeAnswer;
  } catch (error) {
    // The next run opens the brain again.
    if ((error as { code?: unknown }).code === 'WORKER_LOST') {
      brain.close();
      brain = undefined;
    }
    throw error;
  }
  if (eventReports(answer.experiment).length > 0 || namesOnlyIds(answer.experiment))
    neurons ??= await neuronIndexOfBrain(brain.client);
  box.show(figureOfFile(findingsOf(answer, answer.conditions, answer, neurons)));
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

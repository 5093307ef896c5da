/** Experiments for agents, with the table and the figure of the command line. */
import type { Brain, ExperimentDocument, ExperimentLine } from '#client';
import { haveSameNeurons } from '../../src/engine/connectome/model-id.js';
import type { ExperimentHead } from '../../src/experiments/document/result.js';
import { figureOfFile } from '../../src/experiments/figures/experiment-figures.js';
import { eventReports } from '../../src/experiments/figures/report-figures.js';
import { answerTable } from '../../src/tools/cli/experiment/answer-table.js';
import { plotter } from '../../src/tools/cli/experiment/plot-file.js';
import { findingsOf } from '../pages/laboratory/findings.js';
import { type NeuronIndex, neuronIndexOfBrain } from '../pages/service/neuron-index.js';
import type { WholeAnswer } from '../pages/service/open-experiments.js';
import type { Call, ToolAnswer } from './tools.js';

const drawPng = plotter('figure.png', { dpi: 96 });

export class Experiments {
  /** Labels for figures of single spikes. */
  #neurons: NeuronIndex | undefined;

  constructor(private readonly brain: Brain) {}

  async run(document: ExperimentDocument, { report, ...options }: Call): Promise<ToolAnswer> {
    const onEvent = progressTo(report);
    const content = await this.brain.experiment(document, { ...options, onEvent });
    const answer = content as unknown as WholeAnswer;
    const findings = findingsOf(answer, answer.conditions, answer, await this.#neuronsOf(answer));
    const collected = { head: answer, conditions: findings.conditions, totals: answer };
    const notes: string[] = [];
    const png = await drawPng(figureOfFile(findings), (sentence) => notes.push(`${sentence}\n`));
    const table = answerTable(collected, 'the structured content has more');
    return { text: table + notes.join(''), content, png: png as Uint8Array };
  }

  async #neuronsOf({ experiment, model }: WholeAnswer): Promise<NeuronIndex | undefined> {
    if (eventReports(experiment).length === 0) return undefined;
    if (this.#neurons === undefined || !haveSameNeurons(this.#neurons.model, model))
      this.#neurons = await neuronIndexOfBrain(this.brain.client);
    return this.#neurons;
  }
}

/** Counts trials. A service says how many are done only if it has sent no condition for a while. */
function progressTo(report: Call['report']): (line: ExperimentLine) => void {
  let all: number | undefined;
  let ofCondition = 0;
  let conditions = 0;
  return (line) => {
    if ('progress' in line) report(line.progress.trials_done, (all = line.progress.trials));
    else if ('id' in line) ofCondition = (line as ExperimentHead).experiment.trials;
    else if ('index' in line) report(++conditions * ofCondition, all);
  };
}

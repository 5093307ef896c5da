/** Writes the question of an experiment as a sentence, from its document. */
import { listed, MAX_NAMED, selectorWords } from '../../engine/connectome/set-selector.js';
import type { ExperimentDocument } from '../document/document.js';
import { axisKindOf, parameterOf } from '../kinds/axis-kinds.js';
import { editsOf } from '../kinds/edit-kinds.js';
import { controlWords } from '../kinds/controls.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import { kindOf } from '../kinds/report-kinds.js';
import { parameterWords } from './condition-labels.js';

/** @returns one sentence, which ends with a question mark */
export function questionOf(experiment: ExperimentDocument): string {
  const { inputs, sweep = [], controls, duration_ms: trialMs } = experiment;
  const swept = sweep.map(parameterOf);
  const stimulation = Object.entries(inputs).map(([name, input]) => {
    const prefix = `inputs.${name}.`;
    const members = swept.filter((set) => set.startsWith(prefix)).map((set) => set.slice(prefix.length));
    const { delay_ms: fromMs, duration_ms: lengthMs } = input;
    const since = fromMs > 0 && !members.includes('delay_ms') ? ` from ${fromMs} ms` : '';
    const isCut = lengthMs !== null && fromMs + lengthMs < trialMs && !members.includes('duration_ms');
    return `${inputKindOf(input).words(input, members)}${since}${isCut ? ` for ${lengthMs} ms` : ''}`;
  });
  const edits = editsOf(experiment).map(([, kind, value]) => kind.words(value, swept));
  const made = [...stimulation, ...edits].filter((words) => words !== '');
  const conditions = [
    made.length === 0 ? 'without any input' : `with ${listed(made, MAX_NAMED)}`,
    ...sweep.map((axis) => axisKindOf(axis).words(axis, ...parameterWords(parameterOf(axis)))),
    ...(controls === undefined
      ? []
      : controls.only === undefined
        ? [`held against ${controlWords(controls)}`]
        : [`with the neurons of control ${controls.only} in place of each group`]),
  ];
  return `${readWords(experiment)}, ${conditions.join(', ')}?`;
}

/** `What is the mean rate of MN9 by side and of giant_fibre (DNp01)` */
function readWords({ reports }: ExperimentDocument): string {
  const labels = new Map<string, string[]>();
  for (const [name, report] of Object.entries(reports)) {
    const neurons = selectorWords(report.node_set);
    const by = listed(report.group_by).replaceAll('_', ' ');
    const kind = kindOf(report);
    const [label, who] =
      kind.shape === 'events'
        ? [kind.noun, neurons]
        : [kind.label, `${name === neurons ? name : `${name} (${neurons})`}${by && ` by ${by}`}`];
    labels.set(label, [...(labels.get(label) ?? []), who]);
  }
  const parts = [...labels].map(([label, names]) => `the ${label} of ${listed(names, MAX_NAMED)}`);
  const isOne =
    parts.length === 1 && !Object.values(reports).some((report) => kindOf(report).shape === 'events');
  return `What ${isOne ? 'is' : 'are'} ${listed(parts)}`;
}

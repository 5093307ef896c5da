/** Formats a dry run (neurons, conditions and cost of an experiment) as text in 80 columns. */
import { eventKindOf, REPORT_KINDS } from '../../../experiments/kinds/report-kinds.js';
import { counted } from '../../../experiments/figures/figure.js';
import { preregistration } from '../../../experiments/figures/provenance.js';
import type { DryRun, ResolvedSet } from '../../../experiments/document/result.js';
import { RESOLVED_OF_EDITS } from '../../../experiments/kinds/edit-kinds.js';
import { closingOf, headingOf, parametersText } from './answer-table.js';
import { linesText, wrapped } from '../text.js';

const MAX_CONDITIONS = 10;
const MAX_TYPES = 5;

export function dryRunTable(dryRun: DryRun): string {
  const { resolved, conditions, cost } = dryRun;
  const swept = conditions.filter((condition) => parametersText(condition) !== '');
  return linesText([
    ...headingOf(dryRun),
    '',
    'Neurons',
    ...Object.entries(resolved)
      .flatMap(([name, set]) => linesOf(name, set))
      .flatMap(([name, text]) => wrapped(`${name.padEnd(20)} ${text}`, '  ', ' '.repeat(23))),
    '',
    `At most ${counted(cost.brain_seconds, 'brain second')} with ${counted(cost.input_events, 'input event')}`,
    ...rowsText(cost),
    ...(swept.length === 0 ? [] : ['', counted(conditions.length, 'condition')]),
    ...swept
      .slice(0, MAX_CONDITIONS)
      .flatMap((condition) => wrapped(`${condition.index}: ${parametersText(condition)}`, '  ', '    ')),
    ...(swept.length > MAX_CONDITIONS ? [`  … and ${swept.length - MAX_CONDITIONS} more`] : []),
    ...['', 'To preregister', ...wrapped(preregistration(dryRun), '  ')],
    ...closingOf(dryRun),
  ]);
}

/** The neurons of a selector, or facts about an edit of the network. */
function linesOf(name: string, resolved: ResolvedSet): readonly (readonly [name: string, text: string])[] {
  if (typeof resolved.neurons === 'number') return [[name, describedSet(resolved)]];
  return RESOLVED_OF_EDITS.find((edit) => edit.name === name)?.linesOf(resolved as never) ?? [];
}

/** Numbers of rows of tables of events, if they are known. */
function rowsText(costs: DryRun['cost']): string[] {
  const rows = Object.keys(REPORT_KINDS).flatMap((type) => {
    const kind = eventKindOf({ type });
    const count = kind && costs[kind.cost.member as keyof DryRun['cost']];
    return count === undefined ? [] : [`${kind!.cost.says} ${counted(count, 'row')} of ${kind!.noun}`.trim()];
  });
  return rows.length === 0 ? [] : wrapped(`Tables of ${rows.join(', ')}`, '', '  ');
}

function describedSet({ neurons, sides, types, missing }: ResolvedSet): string {
  const listed = Object.entries(types).map(([type, count]) => `${type || 'without a type'} ${count}`);
  const more = listed.length - MAX_TYPES;
  return [
    counted(neurons, 'neuron'),
    Object.entries(sides)
      .map(([side, count]) => `${side} ${count}`)
      .join(', '),
    listed.slice(0, MAX_TYPES).join(', ') + (more > 0 ? ` and ${counted(more, 'more type')}` : ''),
    ...(missing.length === 0 ? [] : [`missing: ${missing.join(', ')}`]),
  ]
    .filter((part) => part !== '')
    .join('; ');
}

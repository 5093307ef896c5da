import { MAX_LABEL_LENGTH, selector } from '../../../engine/connectome/selector-schema.js';
import { listed, selectorWords } from '../../../engine/connectome/set-selector.js';
import { refused } from '../../../engine/schema/json-path.js';
import { anyOf, integer, object, oneOf, printable, type Static } from '../../../engine/schema/json-schema.js';
import { groupBy, patternOf } from '../fields.js';
import { groupsOf, labelMember } from '../groups.js';
import type { AxisKind } from '../axis-kind.js';
import { editKindOf, sweptGroups } from '../edit-kinds.js';
import type { ParameterColumn } from '../result-rows.js';

const RESPONDERS = object(
  'The groups that responded in the baseline, the most active first.',
  {
    responders_of: oneOf('The condition without any group.', ['baseline']),
    top: integer('Groups at most.', { minimum: 1, maximum: 20_000, default: 200, examples: [200] }),
  },
  { component: 'Responders' },
);

const SCHEMA = object(
  'Groups of neurons that are silenced or stimulated, or are one end of an override, in turn, after a condition without any.',
  {
    each: anyOf(
      'The neurons that are grouped: a selector, or those that responded in the baseline.',
      [RESPONDERS, selector()],
      { examples: ['CB*'] },
    ),
    group_by: groupBy(
      'Labels that make a group; empty: all neurons are one. By default each neuron is a group.',
      ['neuron'],
    ),
    as: printable(
      `${sweptGroups().join(', ')} or inputs.NAME: each group takes the place of the neurons of that override or input.`,
      MAX_LABEL_LENGTH,
      { examples: ['silence'], publishes: { pattern: patternOf([...sweptGroups(), 'inputs.NAME']) } },
    ),
  },
  { component: 'SweepOfGroups' },
);

export type EachAxis = Static<typeof SCHEMA>;

/** Tables show this for the baseline. No cell type has this name. */
const NO_GROUP = 'none';
const ONE_GROUP = 'all';

/** An axis of groups: first a baseline without any group, then one group after the other is edited or stimulated. */
export const each = {
  schema: SCHEMA,
  parameter: 'as',
  selectorOf: ({ each }) => (isResponders(each) ? undefined : each),
  planned(connectome, { each, group_by: groupBy, as: name }, neurons, path) {
    const sparesSilent = editKindOf(name)?.groups?.sparesSilent === true;
    if (!isResponders(each))
      return { kind: 'groups', name, groups: groupsOf(connectome, neurons!, groupBy), sparesSilent };
    if (groupBy.length > 0) return { kind: 'responders', name, top: each.top, groupBy, sparesSilent };
    throw refused(
      [...path, 'group_by'],
      groupBy,
      'a list of at least one label, because groups of responders are ranked',
    );
  },
  columnsOf({ as, group_by: labels }) {
    const column = (
      name: string,
      text: (group: Readonly<Record<string, string>>) => string,
    ): ParameterColumn => ({
      column: { name, type: 'text' },
      valueIn: (parameters) => {
        const group = parameters[as];
        return group === null || typeof group !== 'object' ? NO_GROUP : text(group);
      },
    });
    if (labels.length === 0) return [column(as, () => ONE_GROUP)];
    return labels.map(labelMember).map((label) => column(`${as}.${label}`, (group) => group[label] ?? ''));
  },
  labelsOf: ({ group_by: labels }) => labels,
  words({ each, group_by: labels, as }) {
    const by = listed(labels).replaceAll('_', ' ');
    const who = isResponders(each)
      ? `each of the ${each.top} that respond most`
      : `${by && 'each of '}${selectorWords(each)}`;
    const done = editKindOf(as)?.groups?.done ?? `stimulated as ${as.replace('inputs.', '')}`;
    return `without and with ${who}${by && ` (by ${by})`} ${done}`;
  },
} satisfies AxisKind<EachAxis, EachAxis>;

export function isResponders(each: EachAxis['each']): each is Static<typeof RESPONDERS> {
  return typeof each === 'object' && 'responders_of' in each;
}

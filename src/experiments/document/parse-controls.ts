/** Checks the controls of a document against its reports, wiring and sweep. */
import { invalid, refused } from '../../engine/schema/json-path.js';
import { axisKindOf, type GivenAxis, parameterOf } from '../kinds/axis-kinds.js';
import { type Controls, DEFAULT_MATCH, formsOf, isMatchedAxis } from '../kinds/controls.js';
import { groupKindOf, REPORT_KINDS } from '../kinds/report-kinds.js';
import type { ExperimentDocument } from './document.js';

/**
 * @param sweep as given
 * @returns the controls with their defaults
 * @throws CodedError INVALID_PARAMETER if there is nothing to compare, or nothing that controls could replace
 */
export function parsedControls(
  controls: Controls,
  { wiring, reports }: Pick<ExperimentDocument, 'wiring' | 'reports'>,
  sweep: readonly GivenAxis[],
): Controls {
  checkReports(reports);
  const [form, other] = formsOf(controls);
  if (form === undefined) {
    throw invalid(
      ['controls', 'shuffle'],
      'controls must have one of shuffle, counts, signs, silence, inputs and connection_overrides, got none.',
    );
  }
  if (other !== undefined) {
    throw refused(['controls', other], controls[other], `left out, because there is ${form} too`);
  }
  if (form === 'shuffle' || form === 'counts' || form === 'signs') {
    for (const member of ['only', 'match'] as const) {
      if (controls[member] === undefined) continue;
      throw refused(['controls', member], controls[member], 'left out, because rewired brains match nothing');
    }
    if (wiring?.[form] === undefined) return controls;
    const reason = `left out where there are controls, whose ${form} takes its place`;
    throw refused(['wiring', form], wiring[form], reason);
  }
  const axes = sweep.filter(
    (axis) => axisKindOf(axis).labelsOf && isMatchedAxis(controls, parameterOf(axis)),
  );
  if (axes.length === 1) return { ...controls, match: controls.match ?? DEFAULT_MATCH };
  const as = {
    silence: 'silence',
    inputs: 'inputs.NAME',
    connection_overrides: 'connection_overrides.NAME.source',
  }[form];
  throw invalid(
    ['controls', form],
    `controls.${form} needs one axis of the sweep whose groups are replaced, got ${axes.length || 'none'}. ` +
      `{"each": SELECTOR, "group_by": [], "as": "${as}"} takes all neurons of a selector as one group.`,
  );
}

function checkReports(reports: ExperimentDocument['reports']): void {
  if (Object.values(reports).some((report) => groupKindOf(report)?.controlled)) return;
  const types = Object.keys(REPORT_KINDS).filter((type) => groupKindOf({ type })?.controlled);
  throw invalid(
    ['controls'],
    `controls needs a report of type ${types.join(' or ')}, whose groups are compared with them, got none.`,
  );
}

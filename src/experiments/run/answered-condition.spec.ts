import type { ReportDocument } from '../kinds/kind-schemas.js';
import type { RateCounts, RateGroup } from '../kinds/reports/rate.js';
import { conditions, connectome, eventsOf, experiment } from '../../../test/support/answered-experiment.js';
import { answerJson } from '../formats/answer-json.js';
import { answeredCondition } from './answered-condition.js';
import { answerWriter } from '../formats/answer-writer.js';
import { FORMATS, type Format } from '../formats/formats.js';
import { MAX_BATCH_ROWS } from '../formats/tables.js';
import type { Groups } from '../kinds/groups.js';
import type { AnsweredCondition, ExperimentEvent } from '../document/result.js';

/** Several times as many as may be made at once. */
const GROUPS = 4 * MAX_BATCH_ROWS + 7;
const RESPONDING = [0, 77, GROUPS - 1];

/** A report of many neurons, three of which respond; it counts the groups that were made. */
function manyNeurons() {
  const made = { groups: 0 };
  const groups: Groups = {
    count: GROUPS,
    groupOfPosition: Uint32Array.from({ length: GROUPS }, (_, position) => position),
    sizes: new Uint32Array(GROUPS).fill(1),
    labelsOf: (group) => {
      made.groups++;
      return { root_id: `${720_575_940_600_000_000n + BigInt(group)}`, side: 'left' };
    },
    neuronsOf: (group) => Uint32Array.of(group),
  };
  const result = answeredCondition(
    {
      index: 0,
      parameters: conditions[0]!.parameters,
      spikes: [3, 6],
      responding: [3, 3],
      respondingInAny: 3,
      synapticEvents: 0,
      reports: [
        {
          startStep: 0,
          endStep: 200,
          groups: Uint32Array.from(RESPONDING.toReversed()),
          spikes: Uint32Array.of(1, 2, 1, 2, 1, 2),
          responding: new Uint32Array(6).fill(1),
          respondingInAny: Uint32Array.of(1, 1, 1),
        } as RateCounts,
      ],
    },
    [{ name: 'cells', document: { type: 'rate' } as ReportDocument, groups }],
  );
  return { made, result };
}

async function* events(result: AnsweredCondition): AsyncGenerator<ExperimentEvent> {
  yield* eventsOf(experiment, [result]);
}

async function* bytesOf(format: Format, result: AnsweredCondition): AsyncGenerator<Uint8Array> {
  if (format === 'json') {
    yield* answerJson(events(result), connectome);
    return;
  }
  const writer = await answerWriter(format, { connectome, experiment });
  for await (const event of events(result)) yield* writer.write(event);
}

it.each(Object.keys(FORMATS) as Format[])(
  '%s makes few groups between two pieces of bytes',
  async (format) => {
    const { made, result } = manyNeurons();
    expect(made.groups).toBe(0);
    const madeFor: number[] = [];
    let before = 0;
    for await (const piece of bytesOf(format, result)) {
      void piece;
      madeFor.push(made.groups - before);
      before = made.groups;
    }
    expect(made.groups).toBe(GROUPS);
    // The main thread serves others between two pieces, never within one.
    expect(Math.max(...madeFor)).toBeLessThanOrEqual(MAX_BATCH_ROWS);
  },
);

it('gives the group that is asked for, the responding ones and those between them', () => {
  const { result } = manyNeurons();
  const groups = result.reports['cells']!;
  if ('table' in groups) throw new Error('these are groups');
  const responds = { responding: { mean: 1, sd: 0 }, responding_any: 1 };
  const rates = { rate_hz: { mean: 75, sd: 25, trials: [50, 100] } };
  const silent = { responding: { mean: 0, sd: 0 }, responding_any: 0 };
  const nothing = { rate_hz: { mean: 0, sd: 0, trials: [0, 0] } };
  for (const at of RESPONDING) expect(groups.at(at)).toMatchObject({ neurons: 1, ...responds, ...rates });
  for (const at of [1, 76, 78]) expect(groups.at(at)).toMatchObject({ neurons: 1, ...silent, ...nothing });
  expect(groups.at(GROUPS)).toBeUndefined();
  let at = 0;
  for (const group of groups)
    if ((group as RateGroup).responding_any === 1) expect(group).toEqual(groups.at(RESPONDING[at++]!));
  expect(at).toBe(RESPONDING.length);
});

/**
 * Writes one sentence on a run: the behaviour of the drawn fly and the neurons that cause it. Both follow from its
 * movement.
 */
import { drivesOf } from '../../src/experiments/presets/drives.js';
import { type Behaviour, behaviourOf } from '../fly/src/behaviour.js';
import { Choreography } from '../fly/src/choreography.js';
import { drivesOf as drivesOverTime } from '../fly/src/run-drives.js';
import type { Channel, FullRun, Model } from './service/client.js';

/** Behaviours of nearly every run. One of them is named only if there is no other; the last comes first. */
const USUAL: readonly Behaviour[] = ['stands', 'turns', 'walks'];

/** Drive that causes the behaviour; undefined if the fly stands. */
const DRIVE_OF: Readonly<Record<Behaviour, string | undefined>> = {
  'takes off': 'escape',
  flies: 'escape',
  'evades in flight': 'wing',
  lands: 'escape',
  'reaches for the ground': 'landing',
  'is startled': 'escape',
  'grooms its antennae': 'groom',
  'extends its proboscis': 'proboscis',
  'shrinks back from what it tastes': 'reject',
  stops: 'stop',
  'is receptive': 'courtship',
  'opens its wings': 'wing',
  'approaches a smell': 'approach',
  'turns away': 'avoid',
  'looks for light': 'phototaxis',
  'searches for moisture': 'hygrotaxis',
  'walks backward': 'backward',
  walks: 'walk',
  turns: 'turn',
  stands: undefined,
};

/** Channels of all neurons of a class, which stand for no action. */
const TOTALS = ['descending', 'motor'];

/** Phrases for channels whose label is an action. Labels of stations are phrases already. */
const WHO: Readonly<Record<string, string>> = {
  escape: 'the giant fibre fires',
  walk: 'descending neurons for walking fire',
  turn_left: 'descending neurons of the left side fire',
  turn_right: 'descending neurons of the right side fire',
  stop: 'Foxglove, which halts walking, fires',
  backward: 'the moonwalker neurons fire',
  landing: 'descending neurons for landing fire',
  wing: 'DNp03, which moves the wings, fires',
  groom: 'descending neurons for grooming fire',
  proboscis: 'motor neurons of the proboscis fire',
  courtship: 'vpoDN, which opens the vaginal plates of a female, fires',
  descending: 'descending neurons fire',
  motor: 'motor neurons fire',
};

export interface Verdict {
  readonly behaviour: Behaviour;
  /** Channel with the largest part in the behaviour's drive; undefined if the fly stands. */
  readonly channel: Channel | undefined;
  /** Such as `It takes off`; of a cue, such as `The drawn fly approaches a smell`. */
  readonly deed: string;
  /** Such as `the giant fibre fires at 160 Hz`. */
  readonly reason: string;
  /** Both, as a sentence. */
  readonly sentence: string;
  /** Behaviours in the order in which the fly shows them. */
  readonly course: readonly Behaviour[];
}

export function verdictOn(run: FullRun, model: Model): Verdict {
  const choreography = new Choreography(drivesOverTime(run, model));
  const times = new Map<Behaviour, number>();
  const course: Behaviour[] = [];
  for (let timeMs = 0; timeMs <= run.duration_ms; timeMs++) {
    const shown = behaviourOf(choreography.at(timeMs));
    times.set(shown, (times.get(shown) ?? 0) + 1);
    if (course.at(-1) !== shown) course.push(shown);
  }
  const behaviour = mainOf(times);
  const drives = drivesOf(model.channels.map(({ id }) => id));
  const loudestOf = (drive: string): Channel | undefined => {
    const read = drives.find(({ id }) => id === drive)?.channels ?? [];
    const loud = model.channels.filter(({ id }) => (read as string[]).includes(id) && run.channels[id]! > 0);
    return loud.sort((a, b) => run.channels[b.id]! - run.channels[a.id]!)[0];
  };
  const channel = DRIVE_OF[behaviour] === undefined ? undefined : loudestOf(DRIVE_OF[behaviour]);
  // Neurons before those of actions are only a cue, so the drawn movement has no neurons of its own.
  const isCue = channel?.kind === 'station';
  const acts = model.channels.some(
    ({ id, kind }) => kind !== 'station' && !TOTALS.includes(id) && run.channels[id]! > 0,
  );
  const deed = behaviour === 'stands' ? 'It stands still' : `${isCue ? 'The drawn fly' : 'It'} ${behaviour}`;
  const beyond = !isCue ? '' : acts ? ', upstream of actions' : '; no neuron for an action fires';
  const reason =
    channel !== undefined
      ? `${WHO[channel.id] ?? `the ${channel.label.toLowerCase()} fires`} at ${run.channels[channel.id]} Hz${beyond}`
      : run.spikes.total === 0
        ? 'no neuron fires'
        : 'no drive is strong enough';
  return { behaviour, channel, deed, reason, sentence: `${deed}: ${reason}.`, course };
}

/** The main behaviour of a run: a take-off of any length, else the longest behaviour that is not usual. */
function mainOf(times: ReadonlyMap<Behaviour, number>): Behaviour {
  if (times.has('takes off')) return 'takes off';
  const [special] = [...times].filter(([each]) => !USUAL.includes(each)).sort((a, b) => b[1] - a[1]);
  return special?.[0] ?? USUAL.findLast((each) => times.has(each)) ?? 'stands';
}

/** Two decimals, because the formulas of drives are engineered. */
export function shortDrive(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** One sentence on a run: what the drawn fly does in it, and which neurons make it. Both follow from its movement. */
import { drivesOf } from '../../src/presets/drives.js';
import { type Behaviour, behaviourOf } from '../fly/src/behaviour.js';
import { Choreography } from '../fly/src/choreography.js';
import { drivesOf as drivesOverTime } from '../fly/src/run-drives.js';
import type { Channel, FullRun, Model } from './service/client.js';

/** Below this a drive is not worth a word. */
const FAINTEST = 0.1;
const MOST_NUMBERS = 3;
/** Behaviours that nearly every run has: one of them is named where there is no other, the last first. */
const USUAL: readonly Behaviour[] = ['stands', 'turns', 'walks'];

/** Drive that makes the fly do it; none where it does nothing. */
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

/** Neurons of a channel in a sentence, where its label is an action; labels of stations are words already. */
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
  /** Channel that has most of the drive of that behaviour; none where the fly stands. */
  readonly channel: Channel | undefined;
  /** Such as `It takes off`. */
  readonly deed: string;
  /** Such as `the giant fibre fires at 160 Hz`. */
  readonly reason: string;
  /** Both, as a sentence. */
  readonly sentence: string;
  /** Behaviours in the order in which the fly shows them. */
  readonly course: readonly Behaviour[];
  /** The strongest drives and the channels that they read, a line each. */
  readonly numbers: readonly string[];
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
  const deed = behaviour === 'stands' ? 'It stands still' : `It ${behaviour}`;
  const reason =
    channel !== undefined
      ? `${WHO[channel.id] ?? `the ${channel.label.toLowerCase()} fires`} at ${run.channels[channel.id]} Hz`
      : run.spikes.total === 0
        ? 'no neuron fires'
        : 'no drive is strong enough';
  const numbers = model.drives
    .map(({ id, formula }) => ({ id, formula, value: run.drive[id] ?? 0 }))
    .filter(({ value }) => Math.abs(value) >= FAINTEST)
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, MOST_NUMBERS)
    .map(({ id, formula, value }) => `${id} ${shortDrive(value)} = ${formula}`);
  return { behaviour, channel, deed, reason, sentence: `${deed}: ${reason}.`, course, numbers };
}

/** Behaviour that stands for a run: a take-off, however short, or else what takes most time beyond the usual. */
function mainOf(times: ReadonlyMap<Behaviour, number>): Behaviour {
  if (times.has('takes off')) return 'takes off';
  const [special] = [...times].filter(([each]) => !USUAL.includes(each)).sort((a, b) => b[1] - a[1]);
  return special?.[0] ?? USUAL.findLast((each) => times.has(each)) ?? 'stands';
}

/** Two decimals: the formula of a drive is made up, so more would say nothing. */
export function shortDrive(value: number): string {
  return String(Math.round(value * 100) / 100);
}

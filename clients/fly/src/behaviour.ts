/** Names the behaviour of a fly in one or two words, for a caption. */
import { type Action, type Motion, shown } from './motion.js';

const ACTS = {
  groom: 'grooms its antennae',
  proboscis: 'extends its proboscis',
  reject: 'shrinks back from what it tastes',
  stop: 'stops',
  courtship: 'is receptive',
  wing: 'opens its wings',
  escape: 'is startled',
} as const satisfies Partial<Record<Action, string>>;
/** Responses to a cue. */
const CUES = {
  approach: 'approaches a smell',
  avoid: 'turns away',
  phototaxis: 'looks for light',
  hygrotaxis: 'searches for moisture',
} as const satisfies Partial<Record<Action, string>>;
type Word = (typeof ACTS)[keyof typeof ACTS] | (typeof CUES)[keyof typeof CUES];

export type Behaviour =
  | Word
  | 'takes off'
  | 'flies'
  | 'evades in flight'
  | 'reaches for the ground'
  | 'lands'
  | 'walks backward'
  | 'walks'
  | 'turns'
  | 'stands';

/** Level above which an action is visible. */
const SEEN = 0.5;

/** Names one behaviour. If there are several, acts come first, then the strongest cue, then walking. */
export function behaviourOf({ flight, takesOff, levels, speed, turning, groomReach }: Motion): Behaviour {
  const seen = (action: Action): boolean => shown(levels[action]) > SEEN;
  if (flight > 0) {
    if (!takesOff) return 'lands';
    if (flight < 1) return 'takes off';
    if (seen('wing')) return 'evades in flight';
    return seen('landing') ? 'reaches for the ground' : 'flies';
  }
  if (groomReach > SEEN) return ACTS.groom;
  if (speed < 0 && !seen('reject')) return 'walks backward';
  const act = keys(ACTS).find((each) => each !== 'groom' && seen(each));
  if (act !== undefined) return ACTS[act];
  const cue = keys(CUES).reduce((most, each) => (levels[each] > levels[most] ? each : most));
  if (seen(cue)) return CUES[cue];
  if (speed > 0) return 'walks';
  return turning === 0 ? 'stands' : 'turns';
}

function keys<K extends string>(record: Readonly<Record<K, string>>): readonly K[] {
  return Object.keys(record) as K[];
}

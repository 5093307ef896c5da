/** What a fly is doing, in a word or two, for a caption. */
import { type Action, type Motion, shown } from './motion.js';

const WORDS = {
  groom: 'grooms its antennae',
  proboscis: 'extends its proboscis',
  reject: 'shrinks back from what it tastes',
  stop: 'stops',
  courtship: 'is receptive',
  wing: 'opens its wings',
  hygrotaxis: 'searches for moisture',
  phototaxis: 'looks for light',
  avoid: 'turns away',
  approach: 'approaches a smell',
  escape: 'is startled',
} as const satisfies Partial<Record<Action, string>>;
type Word = (typeof WORDS)[keyof typeof WORDS];

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

/** A level from which an action is what one sees. */
const SEEN = 0.5;

/** Where it does several things at once: the first of those in WORDS, before walking. */
export function behaviourOf({ flight, takesOff, levels, speed, turning, groomReach }: Motion): Behaviour {
  const seen = (action: Action): boolean => shown(levels[action]) > SEEN;
  if (flight > 0) {
    if (!takesOff) return 'lands';
    if (flight < 1) return 'takes off';
    if (seen('landing')) return 'reaches for the ground';
    return seen('wing') ? 'evades in flight' : 'flies';
  }
  if (groomReach > SEEN) return WORDS.groom;
  if (speed < 0 && !seen('reject')) return 'walks backward';
  const action = (Object.keys(WORDS) as (keyof typeof WORDS)[]).find(
    (each) => each !== 'groom' && seen(each),
  );
  if (action !== undefined) return WORDS[action];
  if (speed > 0) return 'walks';
  return turning === 0 ? 'stands' : 'turns';
}

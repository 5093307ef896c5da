/** Buttons that stimulate the live fly for as long as a pointer, finger or key holds them. */
import { byId } from '../dom.js';

/** If a finger moves within this time, it scrolls the page and does not start a live fly. */
const FINGER_PATIENCE_MS = 150;

/** True if the fly is live, and not the actor of a recorded run. */
export function isLive(): boolean {
  return byId('stage').classList.contains('live');
}

interface Hand {
  readonly hold: (stimulus: string) => void;
  readonly letGo: (stimulus: string) => void;
}

export function listenForHolds(hand: Hand): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('.hold')) listenTo(button, hand);
}

/** It stimulates while it is pressed. A click from a program, such as a screen reader, counts as a tap. */
function listenTo(button: HTMLButtonElement, hand: Hand): void {
  const stimulus = button.dataset['act']!;
  let patience: ReturnType<typeof setTimeout> | undefined;
  const isHeld = (): boolean => button.ariaPressed === 'true';
  const hold = (): void => {
    patience = undefined;
    button.ariaPressed = 'true';
    hand.hold(stimulus);
  };
  const letGo = (): void => {
    clearTimeout(patience);
    patience = undefined;
    if (!isHeld()) return;
    button.ariaPressed = 'false';
    hand.letGo(stimulus);
  };
  const isKey = ({ key }: KeyboardEvent): boolean => key === ' ' || key === 'Enter';
  button.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    button.setPointerCapture(event.pointerId);
    if (event.pointerType === 'mouse' || isLive()) hold();
    else patience = setTimeout(hold, FINGER_PATIENCE_MS);
  });
  button.addEventListener('pointerup', () => {
    // The finger left before its patience ended: a tap.
    if (patience !== undefined) hold();
    letGo();
  });
  for (const end of ['pointercancel', 'lostpointercapture', 'blur']) button.addEventListener(end, letGo);
  button.addEventListener('keydown', (event) => {
    if (!isKey(event)) return;
    event.preventDefault();
    if (!isHeld()) hold();
  });
  button.addEventListener('keyup', (event) => isKey(event) && letGo());
  button.addEventListener('click', ({ detail }) => {
    if (detail > 0) return;
    hold();
    letGo();
  });
  button.addEventListener('contextmenu', (event) => event.preventDefault());
}

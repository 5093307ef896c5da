/** The buttons of what a hand does to the live fly: by pointer, finger or key, for as long as they are held. */

/** A finger that moves on within this time scrolls the page, and has not asked for a live fly. */
const FINGER_PATIENCE_MS = 150;

export interface Hand {
  /** Tells whether the fly is live already. */
  readonly isAtIt: () => boolean;
  readonly hold: (stimulus: string) => void;
  readonly letGo: (stimulus: string) => void;
}

/** @param isOffered tells whether the brain has a stimulus; buttons of others go */
export function listenForHolds(hand: Hand, isOffered: (stimulus: string) => boolean): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('.hold')) {
    if (isOffered(button.dataset['act']!)) listenTo(button, hand);
    else button.remove();
  }
}

/** It acts while it is pressed; a program that presses it, such as a screen reader, taps. */
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
    if (event.pointerType === 'mouse' || hand.isAtIt()) hold();
    else patience = setTimeout(hold, FINGER_PATIENCE_MS);
  });
  button.addEventListener('pointerup', () => {
    // A tap that was shorter than that.
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

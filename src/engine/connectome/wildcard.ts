/**
 * @param pattern each * stands for any characters, also for none
 * @returns a function that tells whether a whole text matches. No pattern makes it slow: its time is bounded by the
 *   lengths of both
 */
export function wildcard(pattern: string): (text: string) => boolean {
  // Several * in a row are the same as one.
  const [first, ...rest] = pattern.split(/\*+/);
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(first!)) return false;
    let at = first!.length;
    for (const part of rest) {
      // The earliest match leaves the most text for the later parts.
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - last.length >= at && text.endsWith(last);
  };
}

/**
 * @param pattern in which each * is any run of characters
 * @returns whether a whole text matches; in time that follows the length of both, whatever the pattern is
 */
export function wildcard(pattern: string): (text: string) => boolean {
  // Several in a row are one.
  const [first, ...rest] = pattern.split(/\*+/);
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(first!)) return false;
    let at = first!.length;
    for (const part of rest) {
      // The earliest place leaves most for the parts behind it.
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - last.length >= at && text.endsWith(last);
  };
}

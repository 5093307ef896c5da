/** Bytes without Node's Buffer, so that the engine also runs in a browser. */

/** @returns the pieces, one after the other, in memory of their own */
export function joinedBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** Lower-case hex digits. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** With more arguments, a call would overflow the stack. */
const MAX_ARGUMENTS = 8192;

/** @returns a character for each byte */
export function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += MAX_ARGUMENTS)
    text += String.fromCharCode(...bytes.subarray(at, at + MAX_ARGUMENTS));
  return text;
}

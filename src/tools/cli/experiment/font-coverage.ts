import { create, type Font } from 'fontkit';
import type { SvgNode } from '../../../experiments/figures/svg.js';

/** @returns the characters of a drawing's text that a font lacks, each once: they would be drawn as empty boxes */
export function missingGlyphs(drawing: SvgNode, font: Uint8Array): string {
  // A file of one font; collections are refused as --font.
  const { characterSet } = create(Buffer.from(font)) as Font;
  const known = new Set(characterSet);
  const missing = [...new Set(textOf(drawing))].filter((character) => !known.has(character.codePointAt(0)!));
  return missing.join('');
}

/** The characters that are drawn, of nodes within text as well. */
function textOf({ tag, children }: SvgNode): string {
  return children
    .map((child) => (typeof child !== 'string' ? textOf(child) : /^(text|tspan)$/.test(tag) ? child : ''))
    .join('');
}

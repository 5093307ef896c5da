/** SVG as a tree, from which text and PDF are made. */

type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface SvgNode {
  readonly tag: string;
  /** Numbers have at most two decimals. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (SvgNode | string)[];
}

export function element(tag: string, given: Attributes, ...children: (SvgNode | string)[]): SvgNode {
  const attributes = Object.entries(given).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [[name, typeof value === 'number' ? String(Math.round(100 * value) / 100) : value]],
  );
  return { tag, attributes: Object.fromEntries(attributes), children };
}

export function textAt(
  content: string,
  x: number,
  y: number,
  fill: string,
  attributes: Attributes = {},
): SvgNode {
  return element('text', { x, y, fill, ...attributes }, content);
}

export function lineAt(
  [x1, y1]: readonly [x: number, y: number],
  [x2, y2]: readonly [x: number, y: number],
  stroke: string,
  attributes: Attributes = {},
): SvgNode {
  return element('line', { x1, x2, y1, y2, stroke, ...attributes });
}

export function groupAt(x: number, y: number, children: readonly SvgNode[]): SvgNode {
  return element('g', { transform: `translate(${x} ${y})` }, ...children);
}

/** The title of a mark, which a reader sees who points at it; empty if there is no title. */
export function titles(title: string | undefined): SvgNode[] {
  return title === undefined ? [] : [element('title', {}, title)];
}

export function pathOf(points: readonly (readonly [number, number])[]): string {
  return `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}`;
}

/** Equal trees give equal text. */
export function svgText(node: SvgNode | string): string {
  if (typeof node === 'string') return escaped(node);
  const { tag, attributes, children } = node;
  const given = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  return `<${tag}${given.join('')}>${children.map(svgText).join('')}</${tag}>`;
}

/** Escapes text for XML and HTML. Removes control characters, except line ends: neither format allows them, even escaped. */
export function escaped(content: string): string {
  const named: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return content.replace(
    /[&<>"]|(?!\n)[\p{Cc}\p{Cs}\ufffe\uffff]/gu,
    (character) => named[character] ?? '\ufffd',
  );
}

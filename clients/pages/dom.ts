/** The element with this id in the HTML of the page. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element with the id ${id}.`);
  return found as E;
}

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A new element. Attributes with the value false are omitted, and those with true are empty. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) created.setAttribute(name, value === true ? '' : String(value));
  }
  created.append(...children);
  return created;
}

/** A new button that submits no form. It is a quiet one unless the attributes say otherwise. */
export function pushButton(
  text: string,
  onClick: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const created = element('button', { type: 'button', class: 'quiet', ...attributes }, text);
  created.addEventListener('click', onClick);
  return created;
}

/** A new choice. @param labels of the values */
export function choiceOf(
  labels: Iterable<readonly [value: string, label: string]>,
  chosen: string,
  onChange: (value: string) => void,
  attributes: Attributes = {},
): HTMLSelectElement {
  const options = Array.from(labels, ([value, label]) =>
    element('option', { value, selected: value === chosen }, label),
  );
  const created = element('select', attributes, ...options);
  created.addEventListener('change', () => onChange(created.value));
  return created;
}

/** Replaces the content of an element. If the focus was in it, its control of the same name has it then, or its first. */
export function refill(container: HTMLElement, children: readonly HTMLElement[]): void {
  const focused = document.activeElement;
  const hadFocus = container.contains(focused) && focused !== container;
  container.replaceChildren(...children);
  if (!hadFocus) return;
  const controls = [...container.querySelectorAll<HTMLElement>('button, a')];
  const nameOf = (control: Element | null | undefined) => control?.ariaLabel ?? control?.textContent;
  const next = controls.find((control) => nameOf(control) === nameOf(focused)) ?? controls[0];
  next?.focus({ preventScroll: true });
}

/** Moves the focus from a control that is now hidden or disabled; the next Tab would begin at the top of the page. */
export function passFocus(from: HTMLElement, to: HTMLElement): void {
  if (document.activeElement !== from) return;
  if (from.matches(':disabled') || from.getClientRects().length === 0) to.focus({ preventScroll: true });
}

/** A dot in the colour of styles.css with this name. */
export function swatch(colour: string): HTMLElement {
  const created = element('span', { class: 'swatch' });
  created.style.setProperty('--swatch', `var(--${colour})`);
  return created;
}

/** Integers with narrow no-break spaces between groups of three digits, in every locale. */
export function grouped(integer: number): string {
  return String(integer).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** Such as `1 neuron` or `1 234 neurons`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Numbers of neurons on each side, in words. */
export function sidesInWords(counts: Iterable<readonly [side: string, neurons: number]>): string {
  return Array.from(counts, ([side, count]) => `${grouped(count)} ${side || 'of unknown side'}`).join(', ');
}

/** Suggested names, each a button. */
export function suggested(names: readonly string[], onChoose: (name: string) => void): (Node | string)[] {
  return ['Did you mean ', ...names.map((name) => pushButton(name, () => onChoose(name)))];
}

/** The head of a table. */
export function tableHead(titles: readonly string[]): HTMLElement {
  const cells = titles.map((title) => element('th', { scope: 'col' }, title));
  return element('thead', {}, element('tr', {}, ...cells));
}

/** Terms and their descriptions, for a list of them. */
export function terms(descriptions: Readonly<Record<string, string>>): HTMLElement[] {
  return Object.entries(descriptions).flatMap(([term, text]) => [
    element('dt', {}, term),
    element('dd', {}, text),
  ]);
}

/** Downloads a file. */
export function save(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
  // By then the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

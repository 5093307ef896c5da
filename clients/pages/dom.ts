/** The element with this id in the HTML of the page. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`index.html has no element with the id ${id}.`);
  return found as E;
}

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A new element. Attributes that are false are left out, those that are true are empty. */
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

/** Integers with narrow spaces, at which no line breaks, between groups of three digits, the same in every locale. */
export function grouped(integer: number): string {
  return String(integer).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

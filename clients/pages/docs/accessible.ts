/**
 * Adds accessibility that Swagger UI lacks: names of controls, keyboard focus for scrolling areas, an order of
 * headings.
 */

/** @param root element of Swagger UI, which changes whenever the user opens an operation */
export function keepAccessible(root: HTMLElement): void {
  const mend = (): void => {
    const information = root.querySelector('.information-container:not([role])');
    information?.setAttribute('role', 'region');
    information?.setAttribute('aria-label', 'About the API');
    for (const control of root.querySelectorAll('select:not([aria-label]), textarea:not([aria-label])'))
      control.setAttribute('aria-label', nameOf(control));
    for (const code of root.querySelectorAll('pre:not([tabindex])')) code.setAttribute('tabindex', '0');
    for (const tag of root.querySelectorAll('h3.opblock-tag:not([aria-level])'))
      tag.setAttribute('aria-level', '2');
    for (const heading of root.querySelectorAll('h4:not([aria-level]), h5:not([aria-level])'))
      heading.setAttribute('aria-level', '3');
  };
  new MutationObserver(mend).observe(root, { childList: true, subtree: true });
  mend();
}

function nameOf(control: Element): string {
  const row = control.closest('tr');
  const parameter = row?.getAttribute('data-param-name') ?? row?.getAttribute('data-code');
  if (parameter != null) return /^\d/.test(parameter) ? `Answer ${parameter}` : `Parameter ${parameter}`;
  if (control.matches('textarea')) return 'Body of the request';
  return control.matches('.examples-select-element') ? 'Example' : 'Media type';
}

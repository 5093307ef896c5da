/** Puts the address of the service into the commands. The page of a static site is a file, and no service is beside it. */
if (!location.pathname.endsWith('.html')) {
  const address = new URL('.', location.href).href.replace(/\/$/, '');
  for (const each of document.querySelectorAll('.address')) each.textContent = address;
}

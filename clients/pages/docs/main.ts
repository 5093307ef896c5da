/** Puts the address of the service into the commands. No service is beside a static site. */
if (!document.documentElement.classList.contains('site')) {
  const address = new URL('.', location.href).href.replace(/\/$/, '');
  for (const each of document.querySelectorAll('.address')) each.textContent = address;
}

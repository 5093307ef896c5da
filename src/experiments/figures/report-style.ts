/** Style of a report: light and dark, narrow and wide, and on paper. */
export const REPORT_STYLE = `
:root { color-scheme: light dark; --text: #1c1e24; --muted: #545b66; --page: #fff; --line: #d5d2c9; --link: #0a5fa8; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8e6e1; --muted: #b3b7bf; --page: #14171d; --line: #3a404b; --link: #7cc4ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, Helvetica, Arial, sans-serif; }
main { max-width: 56rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { margin: 0 0 .5rem; font-size: 1.6rem; line-height: 1.25; }
h2 { margin: 2rem 0 .75rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); font-size: 1.2rem; }
h1, p, li, dd, figcaption, caption { overflow-wrap: anywhere; }
.question { margin: 0 0 .75rem; font-size: 1.1rem; }
a { color: var(--link); }
figure { margin: 0 0 1.5rem; }
.paper { padding: .5rem; border-radius: 4px; background: #fff; }
.paper svg { display: block; width: 100%; height: auto; }
figcaption, caption { padding: .5rem 0; color: var(--muted); font-size: .875rem; text-align: left; }
.table { margin-bottom: 1.5rem; overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th.number, .number { font-variant-numeric: tabular-nums; text-align: right; }
dt { color: var(--muted); font-size: .875rem; }
dd { margin: 0 0 .5rem; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: 4px; font-size: .8125rem; }
@media print {
  :root { --text: #000; --muted: #333; --page: #fff; --line: #999; --link: #000; }
  @page { margin: 18mm; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  .paper { padding: 0; }
  .table, pre { overflow: visible; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  h2 { break-after: avoid; }
  figure, tr, li { break-inside: avoid; }
  thead { display: table-header-group; }
}
`;

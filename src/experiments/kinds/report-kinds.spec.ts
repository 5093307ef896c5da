import { REPORT_KINDS, TABLES, tablesFilledBy, typesThatFill } from './report-kinds.js';

it('has each kind under the type that a document gives it', () => {
  const types = Object.values(REPORT_KINDS).map(
    ({ schema }) => (schema['properties'] as { type: { const: string } }).type.const,
  );
  expect(types).toEqual(Object.keys(REPORT_KINDS));
});

it('has a table for every kind', () => {
  expect(TABLES).toEqual(['rates', 'controls', 'histogram', 'spikes', 'inputs', 'latency', 'membrane']);
  for (const type of Object.keys(REPORT_KINDS)) {
    for (const table of tablesFilledBy(type)) expect(typesThatFill(table)).toContain(type);
  }
});

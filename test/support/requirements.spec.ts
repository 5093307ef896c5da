import { requirementsIn } from './requirements.js';

describe('REQUIRE', () => {
  it('is a comma list of requirements of tests', () => {
    expect(requirementsIn('')).toEqual([]);
    expect(requirementsIn('tables,python')).toEqual(['tables', 'python']);
  });

  it('is refused if it names a requirement of no test, as it would demand nothing', () => {
    expect(() => requirementsIn('tables,phyton,constructor')).toThrow(
      /^REQUIRE knows tables, golden, shiu, .*gpu; found phyton, constructor$/,
    );
  });
});

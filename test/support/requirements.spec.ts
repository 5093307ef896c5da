import { requirementsIn } from './requirements.js';

describe('REQUIRE', () => {
  it('is a comma list of what tests may need', () => {
    expect(requirementsIn('')).toEqual([]);
    expect(requirementsIn('tables,python')).toEqual(['tables', 'python']);
  });

  it('is refused where it names what no test needs, as it would demand nothing', () => {
    expect(() => requirementsIn('tables,phyton,constructor')).toThrow(
      /^REQUIRE knows tables, golden, shiu, .*gpu; found phyton, constructor$/,
    );
  });
});

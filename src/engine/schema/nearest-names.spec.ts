import { editDistance, nearestNames } from './nearest-names.js';

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['LC4', 'LC4', 0],
    ['LC4', 'LC6', 1],
    ['flaw', 'lawn', 2],
  ])('of "%s" and "%s" is %i', (a, b, edits) => {
    expect(editDistance(a, b)).toBe(edits);
    expect(editDistance(b, a)).toBe(edits);
    expect(editDistance(a, b, edits)).toBe(edits);
    if (edits > 0) expect(editDistance(a, b, edits - 1)).toBeGreaterThan(edits - 1);
  });
});

describe('nearestNames', () => {
  it('lists the nearest first, equal ones by name, at most five', () => {
    const names = ['LC9', 'LC10', 'LPLC4', 'LC4', 'LC6', 'LC11', 'LC12', 'Mi1', ''];
    expect(nearestNames('LC5', names)).toEqual(['LC4', 'LC6', 'LC9']);
    expect(nearestNames('LC15', names)).toEqual(['LC10', 'LC11', 'LC12', 'LC4', 'LC6']);
  });

  it('knows no upper and lower case and no wildcards', () => {
    expect(nearestNames('orn-dm1*', ['ORN_DM1', 'ORN_DM4'])).toEqual(['ORN_DM1', 'ORN_DM4']);
  });
});

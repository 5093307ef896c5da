import { RoundRobin } from './round-robin.js';

function taken(items: RoundRobin<string>): string[] {
  const order: string[] = [];
  for (let item = items.take(); item !== undefined; item = items.take()) order.push(item);
  return order;
}

describe('RoundRobin', () => {
  it('takes one of each owner in turn, each in order of arrival', () => {
    const items = new RoundRobin<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) items.add(item[0]!, item);
    expect(items.size).toBe(6);
    expect(items.peek()).toBe('a1');
    expect(taken(items)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
    expect([items.size, items.peek()]).toEqual([0, undefined]);
  });

  it('lets an owner who comes later wait for one item of each other', () => {
    const items = new RoundRobin<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'b2']) items.add(item[0]!, item);
    expect(items.take()).toBe('a1');
    items.add('c', 'c1');
    expect(taken(items)).toEqual(['b1', 'a2', 'c1', 'b2', 'a3']);
  });

  it('puts back before all that the owner has, in the order in which they came back', () => {
    const items = new RoundRobin<string>();
    for (const item of ['a1', 'a2', 'a3']) items.add('a', item);
    const [first, second] = [items.take()!, items.take()!];
    items.putBack('a', first);
    items.putBack('a', second);
    expect(items.size).toBe(3);
    expect(taken(items)).toEqual(['a1', 'a2', 'a3']);
  });

  it('deletes what waits, and nothing else', () => {
    const items = new RoundRobin<string>();
    for (const item of ['a1', 'a2', 'b1']) items.add(item[0]!, item);
    expect(items.delete('b', 'b1')).toBe(true);
    expect(items.delete('b', 'b1')).toBe(false);
    expect(items.delete('c', 'a1')).toBe(false);
    const first = items.take()!;
    expect(items.delete('a', first)).toBe(false);
    items.putBack('a', first);
    expect(items.delete('a', first)).toBe(true);
    expect(items.size).toBe(1);
    expect(taken(items)).toEqual(['a2']);
  });
});

import { Charges, FairQueue } from './fair-queue.js';

function taken(items: FairQueue<string>): string[] {
  const order: string[] = [];
  for (let item = items.take(); item !== undefined; item = items.take()) order.push(item);
  return order;
}

describe('FairQueue', () => {
  it('takes one of each owner in turn, each in order of arrival', () => {
    const items = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) items.add(item[0]!, item);
    expect(items.size).toBe(6);
    expect(items.peek()).toBe('a1');
    expect(taken(items)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
    expect([items.size, items.peek()]).toEqual([0, undefined]);
  });

  it('lets an owner who comes later wait for one item of each other', () => {
    const items = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'b2']) items.add(item[0]!, item);
    expect(items.take()).toBe('a1');
    items.add('c', 'c1');
    expect(taken(items)).toEqual(['b1', 'a2', 'c1', 'b2', 'a3']);
  });

  it('puts back before all that the owner has, in the order in which they came back', () => {
    const items = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'a3']) items.add('a', item);
    const [first, second] = [items.take()!, items.take()!];
    items.putBack('a', first);
    items.putBack('a', second);
    expect(items.size).toBe(3);
    expect(taken(items)).toEqual(['a1', 'a2', 'a3']);
  });

  it('deletes waiting tasks, and nothing else', () => {
    const items = new FairQueue<string>();
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

  it('takes of the owner that was charged least, and lets none save up turns', () => {
    const charges = new Charges();
    const items = new FairQueue<string>(charges);
    for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3']) items.add(item[0]!, item);
    const take = (cost: number) => {
      const item = items.take()!;
      charges.charge(item[0]!, cost);
      return item;
    };
    expect([take(100), take(30), take(30), take(50)]).toEqual(['a1', 'b1', 'b2', 'b3']);
    // c starts at b's charge at its last turn, 60; b has 110 now, and a has 100.
    for (const item of ['c1', 'c2', 'c3']) items.add('c', item);
    items.add('b', 'b4');
    expect([take(35), take(35), take(1), take(100)]).toEqual(['c1', 'c2', 'a2', 'a3']);
    expect(items.heads()).toEqual(['b4', 'c3', 'a4']);
    // Out of turn.
    items.takeItem('a', 'a4');
    expect(taken(items)).toEqual(['b4', 'c3']);
  });

  it('takes no charge that is no number, after which an owner would never be served', () => {
    const charges = new Charges();
    charges.charge('a', 5);
    expect(() => charges.charge('a', NaN)).toThrow(RangeError);
    expect(charges.of('a')).toBe(5);
  });
});

import { describe, expect, it } from 'vitest';
import { at, diff, diffLines, patch, put } from '../src/lib/diff';
import { merge } from '../src/lib/merge';
import { added, badLines, covers, entries, lineOf, parseLines } from '../src/lib/whitelist';
import { agrees, phrase } from '../src/lib/typed';
import { meaning, offered, scopeGroups } from '../src/lib/scopelist';

describe('whitelists', () => {
  it('marks the lines that the service refuses', () => {
    const list = '10.0.0.0/8\n203.0.113.300\n\n2001:db8::1\nnot an address\r\n 192.0.2.7 \n10.0.0.0/33\n010.0.0.1\nfe80::1%eth0\n1.2.3\n::ffff:10.0.0.0/95';
    expect(badLines(list)).toEqual([2, 5, 7, 8, 9, 10, 11]);
  });
  it.each(['::', '::1', '1::', '2001:db8::/32', '::ffff:192.0.2.1', '::ffff:10.0.0.0/104', '0.0.0.0/0', '255.255.255.255', '64:ff9b::192.0.2.33', '1:2:3:4:5:6:7:8', '::/0'])('takes %s', (text) => {
    expect(badLines(text)).toEqual([]);
  });
  it.each(['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1::2::3', ':1', '1:', '1:2:3:4:5:6:7::8', '12345::', '1.2.3.4.5', '1.2.3.04', '1.2.3.4/', '1.2.3.4/08', '1.2.3.4/33', '::1/129', '/8', 'x', '1.2.3.4:', '1.2.3.4:1::'])('refuses %s', (text) => {
    expect(badLines(text)).toEqual([1]);
  });
  it('numbers lines as the service does, with the empty ones', () => {
    expect(parseLines('a\n\nb').map((l) => l.number)).toEqual([1, 2, 3]);
    expect(lineOf('\n10.0.0.1\n\nbad', 1)).toBe(4);
    expect(lineOf('10.0.0.1', 5)).toBe(0);
    expect(entries(' 10.0.0.1 \r\n\n::1\n')).toEqual(['10.0.0.1', '::1']);
  });
  it('knows who is exempt', () => {
    const list = '10.0.0.0/8\n2001:db8::/33\nbad\n::ffff:192.0.2.9';
    expect(covers(list, '10.255.0.1')).toBe(true);
    expect(covers(list, '11.0.0.1')).toBe(false);
    expect(covers(list, '::ffff:10.1.2.3')).toBe(true);
    expect(covers(list, '192.0.2.9')).toBe(true);
    expect(covers(list, '2001:db8:7fff::1')).toBe(true);
    expect(covers(list, '2001:db8:8000::1')).toBe(false);
    expect(covers('::/0', '10.0.0.1')).toBe(false);
    expect(covers(list, 'nonsense')).toBe(false);
    expect(covers('', '10.0.0.1')).toBe(false);
  });
  it('adds at the end', () => {
    expect(added('', '::1')).toBe('::1');
    expect(added('10.0.0.1\n\n', '::1')).toBe('10.0.0.1\n::1');
  });
});

describe('differences', () => {
  it('finds leaves', () => {
    expect(diff({ a: { x: 1, y: 2 }, b: [1] }, { a: { x: 1, y: 3 }, b: [1, 2] })).toEqual([
      { path: 'a.y', before: 2, after: 3 }, { path: 'b', before: [1], after: [1, 2] },
    ]);
  });
  it('takes null for nothing', () => {
    expect(diff(null, { id: 1, of: { x: 1 } })).toEqual([{ path: 'id', before: undefined, after: 1 }, { path: 'of.x', before: undefined, after: 1 }]);
    expect(diff({ id: 1 }, null)).toEqual([{ path: 'id', before: 1, after: undefined }]);
    expect(diff(null, null)).toEqual([]);
  });
  it('takes values of other shapes whole', () => {
    expect(diff({ a: 1 }, { a: { b: 2 } })).toEqual([{ path: 'a', before: 1, after: { b: 2 } }]);
    expect(diff('x', 'y')).toEqual([{ path: '', before: 'x', after: 'y' }]);
  });
  it('makes the least that has to be sent', () => {
    expect(patch({ admin: { status: 0, method: 'Email' }, client: { status: 0 } }, { admin: { status: 1, method: 'Email' }, client: { status: 0 } })).toEqual({ admin: { status: 1 } });
    expect(patch({ a: 1 }, { a: 1 })).toEqual({});
  });
  it('puts without changing in place', () => {
    const before = { a: { b: 1 }, c: 2 };
    expect(put(before, 'a.b', 5)).toEqual({ a: { b: 5 }, c: 2 });
    expect(before.a.b).toBe(1);
    expect(at(before, 'a.b')).toBe(1);
    expect(at(before, 'x.y')).toBeUndefined();
  });
  it('compares texts by line', () => {
    expect(diffLines('a\nb\nc', 'a\nc\nd').map((l) => l.sign + l.text)).toEqual([' a', '-b', ' c', '+d']);
    expect(diffLines('', 'a')).toEqual([{ sign: '+', text: 'a' }]);
    expect(diffLines('a', '')).toEqual([{ sign: '-', text: 'a' }]);
    const [many, more] = [Array(2000).fill('x').join('\n'), 'y'];
    expect(diffLines(many, more)).toHaveLength(2001);
  });
});

describe('changes of two people', () => {
  const base = { admin: { status: 0, whitelist: '' }, client: { status: 0, whitelist: '' } };
  it('keeps both where they touch different fields', () => {
    const mine = put(base, 'admin.status', 1);
    const theirs = put(base, 'client.status', 1);
    expect(merge(base, mine, theirs)).toEqual({ value: put(mine, 'client.status', 1), conflicts: [], taken: ['client.status'] });
  });
  it('says where they touch the same', () => {
    const m = merge(base, put(base, 'admin.whitelist', '::1'), put(base, 'admin.whitelist', '::2'));
    expect(m.conflicts).toEqual([{ path: 'admin.whitelist', mine: '::1', theirs: '::2' }]);
    expect(m.value.admin.whitelist).toBe('::1');
  });
  it('has nothing against the same change', () => {
    const both = put(base, 'admin.status', 1);
    expect(merge(base, both, both).conflicts).toEqual([]);
  });
});

describe('what has to be typed', () => {
  it('holds the number', () => {
    expect(phrase(1)).toBe('delete 1 record');
    expect(phrase(1204)).toBe('delete 1,204 records');
  });
  it('is taken however it is written', () => {
    expect(agrees(' Delete 1204 records ', phrase(1204))).toBe(true);
    expect(agrees('delete 1.204 records', phrase(1204))).toBe(true);
    expect(agrees('delete 120 records', phrase(1204))).toBe(false);
    expect(agrees('delete', phrase(1204))).toBe(false);
    expect(agrees('', '')).toBe(false);
  });
});

describe('scopes', () => {
  it('have a meaning, patterns too', () => {
    for (const g of scopeGroups) for (const s of g.scopes) expect(meaning(s.name)).not.toBe('');
    expect(meaning('Tools/*')).toContain('errors');
    expect(meaning('*')).toBe('everything');
    expect(meaning('Nobody/Knows')).toBe('');
  });
  it('are offered by kind', () => {
    expect(offered('ops', 'Ops/Read')).toBe(true);
    expect(offered('ops', 'Keys/Manage')).toBe(false);
    expect(offered('ing', 'Events/Write')).toBe(true);
    expect(offered('adm', 'Keys/Manage')).toBe(true);
  });
});

import { describe, expect, test } from 'vitest';
import { searchedTag, tagsOf, withTag, active, asName, pageSizes, chips, emptied, namesOf, narrowing, scopeWords, toCommand, withName, describe as words, noRecord, recordOf, recordParams, fromQuery, instantOf, localOf, members, parseViews, toggled, toRequest, viewQuery, withView, filterNames, orderNames } from '../src/lib/filters';

describe('filters and the address', () => {
  test('every name goes there and back', () => {
    const query = new URLSearchParams([...filterNames, ...orderNames].map((name, i) => [name, name === 'tag' ? 'a:b' : `v${i}`]));
    const filters = fromQuery(query);
    expect(Object.keys(filters)).toHaveLength(filterNames.length + orderNames.length);
    expect(toRequest(filters).toString()).toBe(query.toString());
  });
  test('what is no filter, or blank, is left out', () => {
    expect(fromQuery(new URLSearchParams('view=errors&record=ab&search=%20&levels=error'))).toEqual({ levels: 'error' });
  });
  test('the page size is ours unless named', () => {
    expect(toRequest({}).get('limit')).toBe('50');
    expect(toRequest({ limit: '100' }).get('limit')).toBe('100');
  });
  test('the page size of an address can be chosen too', () => {
    expect(pageSizes(50)).toEqual([25, 50, 100]);
    expect(pageSizes(2)).toEqual([2, 25, 50, 100]);
    expect(pageSizes(60)).toEqual([25, 50, 60, 100]);
  });
  test('characters with a meaning in addresses stay what they are', () => {
    const filters = { search: 'a&b=c #1 + ü %41' };
    expect(fromQuery(new URLSearchParams(toRequest(filters).toString())).search).toBe(filters.search);
  });
  test('active filters are those that narrow', () => {
    expect(active({ order: 'count', page: '2', limit: '25' })).toEqual([]);
    expect(active({ ip: '::1', search: 'x', order: 'count' })).toEqual(['search', 'ip']);
  });
});

describe('the open record', () => {
  const signature = '0123456789abcdef0123456789abcdef';
  const of = (params: Record<string, string>) => recordOf(new URLSearchParams(params));
  test.each(['system', 'database'] as const)('in the book %s goes there and back', (type) => {
    expect(of(recordParams({ type, signature }))).toEqual({ type, signature });
  });
  test('none, or no signature', () => {
    expect(of(noRecord)).toBeNull();
    expect(of({ record: 'abc' })).toBeNull();
    expect(of({ record: signature.toUpperCase() })?.signature).toBe(signature);
  });
});

test('a chip for each filter without a control', () => {
  expect(chips(fromQuery(new URLSearchParams('search=x&status=open&levels=error&types=system&hide_noise=1&file=a&ip=::1&order=count')))).toEqual(['file', 'ip']);
});

describe('comma lists', () => {
  const all = ['open', 'resolved', 'muted'];
  test('toggle in and out, in the order of all', () => {
    expect(toggled(undefined, 'muted', all)).toBe('muted');
    expect(toggled('muted', 'open', all)).toBe('open,muted');
    expect(toggled('open,muted', 'muted', all)).toBe('open');
    expect(toggled('open', 'open', all)).toBe('');
  });
  test('all of them is none of them', () => expect(toggled('open,muted', 'resolved', all)).toBe(''));
  test('what is not known stays', () => expect(toggled('snoozed', 'open', all)).toBe('open,snoozed'));
  test('case and blanks do not matter', () => expect(members(' Error, ,FATAL')).toEqual(['error', 'fatal']));
});

describe('saved views', () => {
  test('leave out page and record', () => {
    expect(viewQuery(new URLSearchParams('record=ab&page=3&levels=fatal&order=count&view=errors'))).toBe('levels=fatal&order=count');
  });
  test('read what was stored and nothing else', () => {
    expect(parseViews(JSON.stringify([{ name: 'a', query: 'b=c' }, { name: 1 }, null, 'x']))).toEqual([{ name: 'a', query: 'b=c' }]);
    expect(parseViews('{"a":1}')).toEqual([]);
    expect(parseViews('broken')).toEqual([]);
    expect(parseViews(null)).toEqual([]);
  });
  test('one of the same name is replaced in its place', () => {
    const list = [{ name: 'a', query: '1' }, { name: 'b', query: '2' }];
    expect(withView(list, { name: 'a', query: '3' })).toEqual([{ name: 'a', query: '3' }, { name: 'b', query: '2' }]);
    expect(withView(list, { name: 'c', query: '3' })).toHaveLength(3);
  });
});

test('values in words', () => {
  expect(words('min_occurrence', '5')).toBe('Seen at least 5×');
  expect(words('hide_noise', '1')).toBe('Noise hidden');
  expect(words('date_range', '2026-11-01..2026-11-02')).toBe('Last seen: 2026-11-01 to 2026-11-02');
});

test('local times become instants and come back', () => {
  const local = '2026-11-21T03:58';
  expect(instantOf(local)).toMatch(/^2026-11-2\dT\d\d:58:00Z$/);
  expect(localOf(instantOf(local))).toBe(local);
  expect(instantOf('')).toBe('');
  expect(instantOf('soon')).toBe('');
  expect(localOf('soon')).toBe('');
});

describe('environments and releases', () => {
  test('names keep their case, each once', () => expect(namesOf(' Prod, prod ,Prod,')).toEqual(['Prod', 'prod']));
  test('in and out of the list', () => {
    expect(withName(undefined, 'Prod')).toBe('Prod');
    expect(withName('Prod,1.*', 'EU')).toBe('Prod,1.*,EU');
    expect(withName('Prod,EU', 'Prod')).toBe('EU');
  });
  test('a name with a comma, and none', () => {
    expect(asName('a,b')).toBe('a*b');
    expect(asName('')).toBe('(unknown)');
  });
  test('in words', () => {
    expect(scopeWords({})).toBe('');
    expect(scopeWords({ environment: 'staging' })).toBe('environment staging');
    expect(scopeWords({ environment: 'staging,eu*', release: '1.4.2' })).toBe('environments staging or eu* and release 1.4.2');
  });
});

test('emptying the filters leaves the project', () => {
  const filters = { project: 'shop', levels: 'error', search: 'x', order: 'count', page: '2' };
  expect(narrowing(filters)).toEqual(['search', 'levels']);
  expect(emptied(filters)).toEqual({ search: '', levels: '', page: '' });
});

describe('a command over the list', () => {
  test('has its filters, and neither order nor page', () => {
    expect(toCommand(fromQuery(new URLSearchParams('levels=fatal&project=shop&hide_noise=1&order=count&page=3&limit=25&record=ab')))).toEqual({ levels: 'fatal', project: 'shop', hide_noise: '1' });
  });
  test('over everything says so', () => expect(toCommand({ order: 'count' })).toEqual({ types: 'system,database' }));
});

describe('tags', () => {
  test('several in an address, each by itself, in one request', () => {
    const filters = fromQuery(new URLSearchParams('tag=feature:checkout&tag=tenant:a,b&tag=nokey&tag=:x&tag=feature:checkout'));
    expect(tagsOf(filters.tag)).toEqual(['feature:checkout', 'tenant:a,b']);
    expect(toRequest(filters).getAll('tag')).toEqual(['feature:checkout', 'tenant:a,b']);
    expect(toCommand(filters)).toEqual({ tag: ['feature:checkout', 'tenant:a,b'] });
    expect(fromQuery(new URLSearchParams(viewQuery(new URLSearchParams('tag=a:1&tag=b:2')))).tag).toBe('a:1\nb:2');
    expect(words('tag', filters.tag!)).toBe('Tag: feature:checkout and tenant:a,b');
  });
  test('in and out', () => {
    expect(withTag(undefined, 'a:1')).toBe('a:1');
    expect(withTag('a:1\nb:2', 'a:1')).toBe('b:2');
  });
  test.each([['tag:a:b', 'a:b'], [' tag:url:http://x y ', 'url:http://x y'], ['tag:a', ''], ['tag:a:', ''], ['a tag:a:b', ''], ['stag:a:b', '']])('%s is the tag %s', (text, tag) => expect(searchedTag(text)).toBe(tag));
});

test('a record is opened at an occurrence, and closed with it', () => {
  expect(recordParams({ type: 'system', signature: 's' }, 12).occurrence).toBe('12');
  expect(recordParams({ type: 'system', signature: 's' }).occurrence).toBe('');
  expect(noRecord.occurrence).toBe('');
});

import { describe, expect, test } from 'vitest';
import { bytes, pieces, plural, safeLink, shortClass, shortCount, visible } from '../src/lib/text';

const of = (...codes: number[]) => String.fromCharCode(...codes);

describe('what would be invisible', () => {
  test('plain text is one piece', () => {
    expect(pieces('order 42 failed, ä 日本 \t\n')).toEqual([{ text: 'order 42 failed, ä 日本 \t\n' }]);
    expect(pieces('')).toEqual([{ text: '' }]);
  });
  test('control characters get their pictures', () => {
    expect(pieces(`a${of(0x1b)}[31mb${of(0)}`)).toEqual([{ text: 'a' }, { text: '␛', name: 'U+001B' }, { text: '[31mb' }, { text: '␀', name: 'U+0000' }]);
    expect(visible(of(0x7f, 0x85))).toBe('␡[U+0085]');
    expect(visible(of(0x0d))).toBe('␍');
  });
  test('what turns text around is named and does nothing', () => {
    const text = `abc${of(0x202e)}gpj.exe${of(0x2066)}x${of(0x2069)}`;
    expect(visible(text)).toBe('abc[RLO]gpj.exe[LRI]x[PDI]');
    expect(pieces(text).map((p) => p.text).join('')).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });
  test('joiners stay between emoji and are shown in plain words', () => {
    const family = `👨${of(0x200d)}👩`;
    expect(visible(family)).toBe(family);
    expect(visible(`pay${of(0x200d)}pal`)).toBe('pay[ZWJ]pal');
    expect(visible(`pay${of(0x200b)}pal`)).toBe('pay[ZWSP]pal');
    expect(visible(of(0xfeff))).toBe('[BOM]');
  });
  test('every control and bidi character is caught', () => {
    for (let c = 0; c < 0xffff; c++) {
      const hide = (c < 0x20 && c !== 9 && c !== 10) || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
      if (hide) expect(pieces(of(c))[0]!.name, c.toString(16)).toBeDefined();
    }
  });
});

describe('links', () => {
  test('only http and https', () => {
    expect(safeLink('https://a.example/x?y=1')).toBe('https://a.example/x?y=1');
    expect(safeLink('HTTP://a.example')).toBe('http://a.example/');
    for (const bad of ['javascript:alert(1)', ' javascript:alert(1)', 'data:text/html,x', 'vbscript:x', '//a.example', 'java\nscript:alert(1)', 'https:alert(1)', 'http://', 'ftp://a', 'blob:https://a/b', '']) {
      expect(safeLink(bad), bad).toBe('');
    }
  });
});

test('numbers', () => {
  expect(shortCount(99_999)).toBe('99,999');
  expect(shortCount(1_234_567)).toBe('1.2M');
  expect(plural(1, 'record')).toBe('1 record');
  expect(plural(1200, 'record')).toBe('1,200 records');
  expect(plural(2, 'entry', 'entries')).toBe('2 entries');
  expect(bytes(999)).toBe('999 B');
  expect(bytes(1_500_000_000)).toBe('1.5 GB');
});

test.each([
  ['App\\Orders\\OrderMissing', 'OrderMissing'], ['java.lang.NullPointerException', 'NullPointerException'], ['net/http.Error', 'http.Error'], ['*errors.errorString', '*errors.errorString'],
  ['std::runtime_error', 'runtime_error'], ['TypeError', 'TypeError'], ['</script><script>', '</script><script>'], ['a/b c', 'a/b c'], ['', ''], ['\\', '\\'], ['a.b.', 'a.b.'],
])('the class %s is %s for short', (name, short) => expect(shortClass(name)).toBe(short));

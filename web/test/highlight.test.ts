import { describe, expect, test } from 'vitest';
import { highlight, marked, type Kind } from '../src/lib/highlight';

const of = (file: string, ...lines: string[]) => highlight(lines, file).map((line) => line.filter((t) => t.text.trim() !== '').map((t): [Kind, string] => [t.kind, t.text.trim()]));

describe('source lines in tokens', () => {
  test.each<[string, string, [Kind, string][]]>([
    ['a.go', 'return fmt.Errorf("no %s", id) // why', [['word', 'return'], ['plain', 'fmt.Errorf('], ['string', '"no %s"'], ['plain', ', id)'], ['comment', '// why']]],
    ['a.py', "x = 'it''s' # no", [['plain', 'x ='], ['string', "'it''s'"], ['comment', '# no']]],
    ['a.php', '$a = 3.5; # hash', [['plain', '$a ='], ['number', '3.5'], ['plain', ';'], ['comment', '# hash']]],
    ['a.rs', "fn f<'a>(x: &'a str)", [['word', 'fn'], ['plain', "f<'a>(x: &'a"], ['word', 'str'], ['plain', ')']]],
    ['q.sql', 'SELECT 1 -- one', [['word', 'SELECT'], ['number', '1'], ['comment', '-- one']]],
    ['a.js', 'f("a\\"b")', [['plain', 'f('], ['string', '"a\\"b"'], ['plain', ')']]],
    ['a.constructor', 'if (x) y', [['word', 'if'], ['plain', '(x) y']]],
    ['nothing', 'if (x) y', [['word', 'if'], ['plain', '(x) y']]],
  ])('of %s: %s', (file, line, want) => expect(of(file, line)).toEqual([want]));
  test('a comment and a string over lines', () => {
    expect(of('a.js', '/* a', 'b */ if')).toEqual([[['comment', '/* a']], [['comment', 'b */'], ['word', 'if']]]);
    expect(of('a.py', '"""doc', 'more"""', 'pass')).toEqual([[['string', '"""doc']], [['string', 'more"""']], [['word', 'pass']]]);
  });
  test('a quote without its end ends with its line', () => expect(of('a.go', "it's", 'if')).toEqual([[['plain', 'it'], ['string', "'s"]], [['word', 'if']]]));
  test('the text stays what it is', () => {
    const lines = ['\tif a > "b{', '🙂 `x` ${y} */ // <script>', '', '"', "'''"];
    for (const file of ['a.ts', 'a.py', 'a.php', 'a.rb', 'a.rs', 'a.sql', '']) expect(highlight(lines, file).map((l) => l.map((t) => t.text).join(''))).toEqual(lines);
  });
  test('a long line takes no time', () => {
    const begin = performance.now();
    highlight(Array.from({ length: 11 }, () => '"\\'.repeat(20_000)), 'a.js');
    expect(performance.now() - begin).toBeLessThan(2_000);
  });
});

describe('the column', () => {
  const list = [{ kind: 'plain' as const, text: 'ab' }, { kind: 'word' as const, text: 'if' }];
  test.each([[1, 'a'], [2, 'b'], [4, 'f']])('%d is marked', (column, text) => {
    const parts = marked(list, column);
    expect(parts.filter((p) => p.here).map((p) => p.text)).toEqual([text]);
    expect(parts.map((p) => p.text).join('')).toBe('abif');
  });
  test.each([[undefined], [0], [5], [-3]])('%s is none', (column) => expect(marked(list, column).some((p) => p.here)).toBe(false));
});

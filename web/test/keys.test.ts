import { describe, expect, test } from 'vitest';
import { idle, moved, press, sheet, type Press } from '../src/lib/keys';

const plain: Press = { key: '', modified: false, typing: false, control: false, inList: false };
const at = (key: string, more: Partial<Press> = {}, prefix = false) => press({ prefix }, { ...plain, key, ...more });

describe('presses', () => {
  test.each([
    ['j', 'next'], ['k', 'previous'], ['Enter', 'open'], ['x', 'select'], ['e', 'resolve'], ['m', 'mute'], ['u', 'reopen'], ['z', 'undo'], ['#', 'delete'],
    ['/', 'search'], ['?', 'help'], ['Escape', 'close'], ['*', 'select-all'], [']', 'next-page'],
  ])('%s', (key, action) => expect(at(key).action).toBe(action));
  test('letters are text where one types, and Escape leaves', () => {
    for (const key of ['j', 'e', '#', '?', '/', 'g', 'Enter']) expect(at(key, { typing: true })).toEqual({ state: idle, action: undefined });
    expect(at('Escape', { typing: true }).action).toBe('close');
  });
  test('what the browser does with Control and Alt is left alone', () => {
    for (const key of ['e', 'r', 'f', 'g', '/']) expect(at(key, { modified: true }).action).toBeUndefined();
  });
  test('Enter on a control is the control\'s, other keys are not', () => {
    expect(at('Enter', { control: true }).action).toBeUndefined();
    expect(at('x', { control: true }).action).toBe('select');
  });
  test('arrows scroll, except in the list', () => {
    expect(at('ArrowDown').action).toBeUndefined();
    expect(at('ArrowDown', { inList: true }).action).toBe('next');
    expect(at('Home', { inList: true }).action).toBe('first');
  });
  test('g waits for a place and forgets', () => {
    const g = at('g');
    expect(g).toEqual({ state: { prefix: true } });
    expect(at('o', {}, true)).toEqual({ state: idle, action: 'go-overview' });
    expect(at('e', {}, true).action).toBe('go-errors');
    expect(at('p', {}, true).action).toBe('go-projects');
    expect(at('x', {}, true)).toEqual({ state: idle, action: undefined });
    expect(at('s', { modified: true }, true)).toEqual({ state: idle });
  });
});

describe('the cursor', () => {
  test('stays within the rows', () => {
    expect(moved(-1, 3, 'next')).toBe(0);
    expect(moved(-1, 3, 'previous')).toBe(0);
    expect(moved(2, 3, 'next')).toBe(2);
    expect(moved(0, 3, 'previous')).toBe(0);
    expect(moved(1, 3, 'first')).toBe(0);
    expect(moved(1, 3, 'last')).toBe(2);
    expect(moved(1, 0, 'next')).toBe(-1);
    expect(moved(1, 3, 'resolve')).toBe(1);
  });
});

test('the sheet names only keys that do something', () => {
  for (const part of sheet) {
    for (const [keys] of part.keys) {
      const list = keys.split(' ').filter(Boolean).map((k) => (k === 'Esc' ? 'Escape' : k));
      const prefixed = list[0] === 'g';
      for (const key of prefixed ? list.slice(1) : list) expect(at(key, { inList: true }, prefixed).action, keys).toBeDefined();
    }
  }
});

// Which action a key has, as a function of the keys before it.

export type Action =
  | 'next' | 'previous' | 'first' | 'last' | 'open' | 'select' | 'select-all' | 'resolve' | 'mute' | 'reopen' | 'delete' | 'undo'
  | 'older' | 'newer' | 'oldest' | 'newest' | 'search' | 'project' | 'help' | 'close' | 'refresh' | 'filters' | 'next-page' | 'previous-page' | 'go-errors' | 'go-overview' | 'go-projects' | 'go-settings';

export interface Press {
  key: string;
  /** Control, Alt or Meta is held. */
  modified: boolean;
  /** The focus is in a text field. */
  typing: boolean;
  /** The focus is on a control that uses Enter or Space itself. */
  control: boolean;
  /** The focus is in the list, where arrows move the cursor; elsewhere they scroll. */
  inList: boolean;
}

export interface KeyState {
  /** g was pressed, and the next key says where to go. */
  prefix: boolean;
}

export interface Pressed {
  state: KeyState;
  action?: Action;
}

export const idle: KeyState = { prefix: false };

const actions: Record<string, Action> = {
  j: 'next', ArrowDown: 'next', k: 'previous', ArrowUp: 'previous', Home: 'first', End: 'last', o: 'open', Enter: 'open', x: 'select', '*': 'select-all',
  e: 'resolve', m: 'mute', u: 'reopen', z: 'undo', '#': 'delete', '/': 'search', '?': 'help', Escape: 'close', r: 'refresh', f: 'filters', p: 'project',
  ']': 'next-page', '[': 'previous-page', h: 'older', l: 'newer', H: 'oldest', L: 'newest',
};

const moves = new Set(['ArrowDown', 'ArrowUp', 'Home', 'End']);

const places: Record<string, Action> = { e: 'go-errors', o: 'go-overview', p: 'go-projects', s: 'go-settings' };

/** The action of a key. In a text field only Escape has one. */
export function press(state: KeyState, p: Press): Pressed {
  if (p.modified) return { state: idle };
  if (p.typing) return { state: idle, action: p.key === 'Escape' ? 'close' : undefined };
  if (state.prefix) return { state: idle, action: places[p.key] };
  if (p.key === 'g') return { state: { prefix: true } };
  if (p.control && (p.key === 'Enter' || p.key === ' ')) return { state: idle };
  if (!p.inList && moves.has(p.key)) return { state: idle };
  return { state: idle, action: actions[p.key] };
}

/** The cursor after a move through n rows; -1 is no row. */
export function moved(at: number, n: number, action: Action): number {
  if (n === 0) return -1;
  switch (action) {
    case 'next': return Math.min(at + 1, n - 1);
    case 'previous': return at < 0 ? 0 : Math.max(at - 1, 0);
    case 'first': return 0;
    case 'last': return n - 1;
    default: return at;
  }
}

/** The list of shortcuts. */
export const sheet: readonly { title: string; keys: readonly (readonly [string, string])[] }[] = [
  {
    title: 'In the list',
    keys: [
      ['j  k', 'next, previous record'], ['Home  End', 'first, last record'], ['Enter  o', 'open it'], ['x', 'select it'], ['*', 'select all on the page, or none'],
      ['[  ]', 'previous, next page'], ['/', 'search'], ['f', 'filters'], ['r', 'show new records'],
    ],
  },
  {
    title: 'For the selected records, else the open one, else the one under the cursor',
    keys: [['e', 'resolve'], ['m', 'mute'], ['u', 'reopen'], ['z', 'undo the last, for ten seconds'], ['#', 'delete, after you confirm']],
  },
  {
    title: 'In a record',
    keys: [['h  l', 'previous, next occurrence'], ['H  L', 'first, latest occurrence']],
  },
  {
    title: 'Everywhere',
    keys: [['p', 'choose a project, in errors and overview'], ['g e', 'errors'], ['g o', 'overview'], ['g p', 'projects'], ['g s', 'settings'], ['Esc', 'close, or clear the selection'], ['?', 'this list']],
  },
];

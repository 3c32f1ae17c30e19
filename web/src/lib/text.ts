// How texts of strangers are shown. They only ever become text nodes. Here,
// characters that are invisible or change the direction of the line are made
// visible.

export interface Piece {
  text: string;
  /** The character, when this piece is one that is made visible. */
  name?: string;
}

const named: Record<number, string> = {
  0x00ad: 'SHY', 0x061c: 'ALM', 0x180e: 'MVS', 0x200b: 'ZWSP', 0x200c: 'ZWNJ', 0x200d: 'ZWJ', 0x200e: 'LRM', 0x200f: 'RLM',
  0x2028: 'LSEP', 0x2029: 'PSEP', 0x202a: 'LRE', 0x202b: 'RLE', 0x202c: 'PDF', 0x202d: 'LRO', 0x202e: 'RLO',
  0x2060: 'WJ', 0x2066: 'LRI', 0x2067: 'RLI', 0x2068: 'FSI', 0x2069: 'PDI', 0xfeff: 'BOM',
};

// C0, DEL, C1, and the characters above. Tab and line feed are kept.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;

// ZWJ joins emoji and ZWNJ stands in Persian words: both are harmless between
// characters that are not ASCII.
const harmless = (text: string, at: number, code: number): boolean =>
  (code === 0x200c || code === 0x200d) && text.charCodeAt(at - 1) > 0x2ff && text.charCodeAt(at + 1) > 0x2ff;

/** Splits text into plain pieces and characters that are made visible. */
export function pieces(text: string): Piece[] {
  const out: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(hidden)) {
    const at = match.index;
    const code = text.charCodeAt(at);
    if (harmless(text, at, code)) continue;
    if (at > from) out.push({ text: text.slice(from, at) });
    out.push(shown(code));
    from = at + 1;
  }
  if (from < text.length || out.length === 0) out.push({ text: text.slice(from) });
  return out;
}

function shown(code: number): Piece {
  const hex = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  // The Control Pictures of Unicode, one for each C0 character.
  if (code < 0x20) return { text: String.fromCharCode(0x2400 + code), name: hex };
  if (code === 0x7f) return { text: '\u2421', name: hex };
  return { text: named[code] ?? hex, name: hex };
}

/** The same as one string, for attributes and titles. */
export function visible(text: string): string {
  return pieces(text).map((p) => (p.name && p.text.length > 1 ? `[${p.text}]` : p.text)).join('');
}

/** The URL if it is http or https; else ''. */
export function safeLink(text: string): string {
  if (!/^https?:\/\//i.test(text)) return '';
  try {
    const url = new URL(text);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : '';
  } catch {
    return '';
  }
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat('en');

/** 12,345 up to 99,999 and then 1.2M, so that columns of numbers stay narrow. */
export function shortCount(n: number): string {
  return n < 100_000 ? whole.format(n) : compact.format(n);
}

export function fullCount(n: number): string {
  return whole.format(n);
}

/** One thing, many things: plural(3, 'record') is "3 records". */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${whole.format(n)} ${n === 1 ? one : many}`;
}

/** 1.5 GB of 1,500,000,000. */
export function bytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  while (n >= 1000 && i < units.length - 1) {
    n /= 1000;
    i++;
  }
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

/** The last part of a qualified class name; other texts stay as they are. */
export function shortClass(name: string): string {
  if (!/^[\p{L}\p{N}_$\\.:/*-]+$/u.test(name)) return name;
  const last = name.split(/\\|::|\//).filter(Boolean).pop() ?? name;
  const dotted = last.split('.');
  // http.Error says more than Error; java.lang.Error does not.
  return dotted.length > 2 ? dotted[dotted.length - 1]! || name : last;
}

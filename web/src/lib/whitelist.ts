// Lists of addresses and prefixes, one a line, parsed as the service parses them,
// so that a wrong line is marked before it is sent. The service decides.

/** An address as a number, of 32 or 128 bits. */
interface Address {
  bits: 32 | 128;
  value: bigint;
}

interface Prefix extends Address {
  length: number;
}

export interface Line {
  /** From 1, as in errors. */
  number: number;
  text: string;
  /** null: neither an address nor a prefix; blank lines are valid. */
  prefix: Prefix | null;
  blank: boolean;
}

/** The lines of a list. Lines end with LF or CRLF; blanks around an entry do not count. */
export function parseLines(list: string): Line[] {
  return list.split('\n').map((line, i) => {
    const text = line.replace(/^[ \t\r]+|[ \t\r]+$/g, '');
    return { number: i + 1, text, prefix: text === '' ? null : parsePrefix(text), blank: text === '' };
  });
}

/** The numbers of the lines that the service would refuse. */
export function badLines(list: string): number[] {
  return parseLines(list).filter((l) => !l.blank && !l.prefix).map((l) => l.number);
}

/** The entries, without empty lines. */
export function entries(list: string): string[] {
  return parseLines(list).filter((l) => !l.blank).map((l) => l.text);
}

/** The line of the entry with this index, counted without empty lines; 0 for none. */
export function lineOf(list: string, index: number): number {
  return parseLines(list).filter((l) => !l.blank)[index]?.number ?? 0;
}

/** Whether an address is on the list. */
export function covers(list: string, address: string): boolean {
  const at = parseAddress(address.replace(/%.*$/, ''));
  if (!at) return false;
  return parseLines(list).some(({ prefix: p }) => p !== null && p.bits === at.bits && p.value === masked(at, p.length));
}

/** The list with an entry added at its end. */
export function added(list: string, entry: string): string {
  const before = list.replace(/\s+$/, '');
  return before === '' ? entry : `${before}\n${entry}`;
}

function parsePrefix(text: string): Prefix | null {
  const slash = text.indexOf('/');
  if (slash < 0) {
    const address = parseAddress(text);
    return address && { ...address, length: address.bits };
  }
  const raw = parseRaw(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (!raw || !/^(0|[1-9][0-9]{0,2})$/.test(digits)) return null;
  let length = Number(digits);
  if (length > raw.bits) return null;
  let address: Address = raw;
  if (isMapped(raw)) {
    // A shorter text is neither IPv4 nor IPv6.
    if (length < 96) return null;
    address = unmapped(raw);
    length -= 96;
  }
  return { bits: address.bits, value: masked(address, length), length };
}

/** An address; IPv4 inside IPv6 becomes IPv4. */
function parseAddress(text: string): Address | null {
  const raw = parseRaw(text);
  return raw && unmapped(raw);
}

function parseRaw(text: string): Address | null {
  return text.includes(':') ? parseSix(text) : parseFour(text);
}

// Leading zeros mean octal to some programs, so they are refused.
const decimal = /^(0|[1-9][0-9]{0,2})$/;

function parseFour(text: string): Address | null {
  const parts = text.split('.');
  if (parts.length !== 4 || parts.some((p) => !decimal.test(p) || Number(p) > 255)) return null;
  return { bits: 32, value: parts.reduce((sum, p) => (sum << 8n) | BigInt(p), 0n) };
}

function parseSix(text: string): Address | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [head, tail] = [groups(halves[0]!, halves.length === 1), halves.length === 2 ? groups(halves[1]!, true) : []];
  if (!head || !tail) return null;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const all = [...head, ...Array<number>(Math.max(missing, 0)).fill(0), ...tail];
  return { bits: 128, value: all.reduce((sum, g) => (sum << 16n) | BigInt(g), 0n) };
}

/** 16 bits each; the last one may be IPv4 where the address ends. */
function groups(text: string, atEnd: boolean): number[] | null {
  if (text === '') return [];
  const out: number[] = [];
  const parts = text.split(':');
  for (const [i, part] of parts.entries()) {
    if (atEnd && i === parts.length - 1 && part.includes('.')) {
      const four = parseFour(part);
      if (!four) return null;
      out.push(Number(four.value >> 16n), Number(four.value & 0xffffn));
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) out.push(parseInt(part, 16));
    else return null;
  }
  return out;
}

function isMapped(a: Address): boolean {
  return a.bits === 128 && a.value >> 32n === 0xffffn;
}

function unmapped(a: Address): Address {
  return isMapped(a) ? { bits: 32, value: a.value & 0xffff_ffffn } : a;
}

function masked(a: Address, length: number): bigint {
  const rest = BigInt(a.bits - length);
  return (a.value >> rest) << rest;
}

// A record as text, to paste elsewhere.
import type { Detail, Exception, Frame } from '../api/types';

/** The record as indented JSON. */
export function toJSON(record: Detail): string {
  return JSON.stringify(record, null, 2);
}

/** The call that reads the record. The key is a variable, so that it is never pasted with it. */
export function toCurl(record: Detail, origin: string): string {
  const url = `${origin}/api/v1/admin/tools/logs/errors/${record.signature}?type=${record.type}`;
  return `curl -sS ${quote(url)} \\\n  -H "Authorization: Bearer $ERRATA_KEY"`;
}

/** A word for a POSIX shell. */
export function quote(text: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The record for an issue tracker. Texts of strangers are code, in which Markdown has no effect. */
export function toMarkdown(record: Detail, link: string): string {
  const p = record.payload;
  const lines = [`### ${code(record.exception_class || record.level)}`, '', fence(p.message || record.message_preview), ''];
  const facts: [string, string | undefined][] = [
    ['Level', record.level],
    ['Status', record.regressed ? `${record.status}, regressed` : record.status],
    ['Seen', `${record.count.toLocaleString('en')} times, first ${record.first_seen}, last ${record.last_seen}`],
    ['Where', place(record.file, record.line)],
    ['Request', [record.request_method, record.request_uri].filter(Boolean).join(' ')],
    ['Release', p.release],
    ['Environment', p.environment],
    ['Signature', `${record.signature} (${record.type})`],
  ];
  for (const [name, value] of facts) {
    if (value) lines.push(`- **${name}:** ${name === 'Level' || name === 'Status' || name === 'Seen' ? value : code(value)}`);
  }
  const stack = stackText(p.exceptions);
  if (stack) lines.push('', '#### Stack', '', fence(stack));
  if (link) lines.push('', `<${link}>`);
  return `${lines.join('\n')}\n`;
}

/** All exceptions, the thrown one first, the latest call first. */
export function stackText(exceptions: readonly Exception[] | undefined): string {
  if (!Array.isArray(exceptions)) return '';
  return [...exceptions].reverse().map((e, i) => {
    const head = [e.class, e.message].filter(Boolean).join(': ');
    const frames = [...(Array.isArray(e.frames) ? e.frames : [])].reverse().map((f) => `    at ${frameText(f)}`);
    return [(i > 0 ? 'caused by ' : '') + head, ...frames].join('\n');
  }).join('\n');
}

/** One line of a stack. */
export function frameText(frame: Frame): string {
  const name = [frame.module, frame.function].filter(Boolean).join('.');
  const args = frame.args?.length ? `(${frame.args.join(', ')})` : '';
  const where = place(frame.file, frame.line, frame.column);
  if (!name) return where;
  return `${name}${args}${where ? ` (${where})` : ''}`;
}

/** file:line:column, or the part of it that is known. */
export function place(file: string | undefined, line: number | undefined, column?: number): string {
  if (!file) return '';
  return line ? `${file}:${line}${column ? `:${column}` : ''}` : file;
}

// More backticks than inside the text.
function ticks(text: string, least: number): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  return '`'.repeat(Math.max(least, longest + 1));
}

function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const around = ticks(line, 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return around + pad + line + pad + around;
}

function fence(text: string): string {
  const around = ticks(text, 3);
  return `${around}\n${text}\n${around}`;
}

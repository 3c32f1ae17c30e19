// Source lines in tokens, to colour them. It knows families of languages, not
// grammars: a few lines out of a file do not say more, and a wrong colour costs
// nothing.

export type Kind = 'plain' | 'word' | 'string' | 'number' | 'comment';

export interface Token {
  kind: Kind;
  text: string;
}

interface Family {
  words: ReadonlySet<string>;
  /** What begins a comment up to the end of the line. */
  line: readonly string[];
  /** What begins and ends a longer one. */
  block: readonly (readonly [string, string])[];
  /** Quotes; the longest first, because one may begin with another. */
  quotes: readonly string[];
  /** Those of them that may hold line ends. */
  long: readonly string[];
}

const set = (words: string) => new Set(words.split(' '));

const common = 'if else for while do switch case default break continue return try catch finally throw new class static const var true false null this in import package';

const families = {
  c: {
    words: set(`${common} function let async await yield of typeof instanceof void delete export from extends implements interface enum public private protected abstract final super undefined throws int long short byte char float double boolean bool string struct union using namespace template virtual override readonly get set where foreach is as out ref sizeof typedef unsigned auto val fun when object companion data sealed suspend by lateinit guard func defer protocol init self nil type chan go select range map fallthrough goto error any uint8 uint64 int64 int32`),
    line: ['//'], block: [['/*', '*/']], quotes: ['"', "'", '`'], long: ['`'],
  },
  php: {
    words: set(`${common} function echo foreach as namespace use public private protected extends implements interface trait abstract final fn match array string int bool float self parent instanceof elseif endif endforeach isset empty unset require include require_once include_once global yield from and or xor clone print`),
    line: ['//', '#'], block: [['/*', '*/']], quotes: ['"', "'", '`'], long: ['"', "'"],
  },
  python: {
    words: set('and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield match case self'),
    line: ['#'], block: [], quotes: ['"""', "'''", '"', "'"], long: ['"""', "'''"],
  },
  ruby: {
    words: set('alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require raise attr_reader attr_accessor puts fi esac done local export echo function'),
    line: ['#'], block: [], quotes: ['"', "'", '`'], long: ['"', "'"],
  },
  rust: {
    words: set('as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while u8 u16 u32 u64 i8 i16 i32 i64 usize isize bool str String Option Result Some None Ok Err'),
    // A single quote is more often a lifetime than a character.
    line: ['//'], block: [['/*', '*/']], quotes: ['"'], long: ['"'],
  },
  sql: {
    words: set('select from where insert into values update set delete join left right inner outer on group by order having limit offset and or not null is in as create table index drop alter begin commit rollback end if then else local function return while do for nil true false'),
    line: ['--'], block: [['/*', '*/']], quotes: ["'", '"'], long: ["'"],
  },
} satisfies Record<string, Family>;

// A map, since a file may be called x.constructor.
const byEnding = new Map(Object.entries<keyof typeof families>({
  py: 'python', pyx: 'python', rb: 'ruby', rake: 'ruby', ex: 'ruby', exs: 'ruby', sh: 'ruby', bash: 'ruby', pl: 'ruby', pm: 'ruby', yml: 'ruby', yaml: 'ruby',
  php: 'php', phtml: 'php', rs: 'rust', sql: 'sql', lua: 'sql', hs: 'sql',
}));

/** The tokens of lines that follow each other; a comment or a string may go over several. */
export function highlight(lines: readonly string[], file: string): Token[][] {
  const ending = /\.(\w+)(?:$|[?#(])/.exec(file)?.[1]?.toLowerCase() ?? '';
  const family: Family = families[byEnding.get(ending) ?? 'c'];
  let open: Open | null = null;
  return lines.map((line) => {
    const read = tokens(line, family, open);
    open = read.open;
    return read.list;
  });
}

/** What goes on in the next line. */
interface Open {
  kind: 'string' | 'comment';
  end: string;
}

function tokens(line: string, family: Family, open: Open | null): { list: Token[]; open: Open | null } {
  const list: Token[] = [];
  let at = 0;
  const take = (kind: Kind, to: number) => {
    const last = list[list.length - 1];
    const text = line.slice(at, to);
    if (last && last.kind === kind) last.text += text;
    else if (text) list.push({ kind, text });
    at = to;
  };
  while (at < line.length) {
    if (open) {
      const end = endOf(line, at, open);
      take(open.kind, end < 0 ? line.length : end);
      if (end < 0) return { list, open };
      open = null;
      continue;
    }
    if (family.line.some((c) => line.startsWith(c, at))) {
      take('comment', line.length);
      continue;
    }
    const block = family.block.find(([begin]) => line.startsWith(begin, at));
    const quote = block ? undefined : family.quotes.find((q) => line.startsWith(q, at));
    if (block) {
      take('comment', at + block[0].length);
      open = { kind: 'comment', end: block[1] };
    } else if (quote) {
      const end = endOf(line, at + quote.length, { kind: 'string', end: quote });
      take('string', end < 0 ? line.length : end);
      // Without its end, most quotes are an apostrophe or were cut.
      if (end < 0 && family.long.includes(quote)) open = { kind: 'string', end: quote };
    } else {
      const word = /[\p{L}_$][\p{L}\p{N}_$]*|\d[\w.]*/uy;
      word.lastIndex = at;
      const found = word.exec(line)?.[0] ?? line[at]!;
      take(/^\d/.test(found) ? 'number' : family.words.has(found) || (family === families.sql && family.words.has(found.toLowerCase())) ? 'word' : 'plain', at + found.length);
    }
  }
  return { list, open };
}

/** Behind the end of a string or comment; -1 when it is not in this line. */
function endOf(line: string, from: number, open: Open): number {
  for (let at = from; at < line.length; at++) {
    if (open.kind === 'string' && line[at] === '\\') at++;
    else if (line.startsWith(open.end, at)) return at + open.end.length;
  }
  return -1;
}

/** The tokens with the one character at the column, from 1, by itself; the same tokens when there is none. */
export function marked(list: readonly Token[], column: number | undefined): (Token & { here?: boolean })[] {
  let left = (column ?? 0) - 1;
  if (left < 0) return [...list];
  return list.flatMap((token) => {
    const at = left;
    left -= token.text.length;
    if (at < 0 || at >= token.text.length) return [token];
    const here = [...token.text.slice(at)][0]!;
    const parts = [token.text.slice(0, at), here, token.text.slice(at + here.length)];
    return parts.flatMap((text, i) => (text ? [i === 1 ? { ...token, text, here: true } : { ...token, text }] : []));
  });
}

import type { ComponentChildren } from 'preact';

export interface Column<T> {
  /** Also names the column's class, col-NAME. */
  name: string;
  head: ComponentChildren;
  cell: (row: T) => ComponentChildren;
  /** Numbers are aligned to the right. */
  right?: boolean;
}

interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  id: (row: T) => string;
  empty?: ComponentChildren;
}

/** A plain, dense table; on a narrow page it scrolls by itself. */
export function Table<T>({ label, columns, rows, id, empty }: TableProps<T>) {
  if (rows.length === 0 && empty) return <>{empty}</>;
  return (
    <div class="table-wrap" role="region" aria-label={label} tabIndex={0}>
      <table class="table">
        <thead>
          <tr>{columns.map((c) => <th key={c.name} scope="col" class={`col-${c.name}${c.right ? ' right' : ''}`}>{c.head}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={id(row)}>
              {columns.map((c) => <td key={c.name} class={`col-${c.name}${c.right ? ' right' : ''}`}>{c.cell(row)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

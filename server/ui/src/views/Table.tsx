// The one form of table of all views.

import type { ComponentChildren, ComponentProps } from "preact";
import { formatDuration, formatExact } from "../model/format";

export interface Column<Row> {
  title: string;
  /** What it means, on hovering. */
  hint?: string;
  /** Whether the title is for those alone who do not see. */
  isBare?: boolean;
  isNumber?: boolean;
  /** Class of its cells. */
  kind?: string;
  /** A duration in nanoseconds; the exact one is shown on hovering. */
  ns?: (row: Row) => number;
  /** What stands in a cell; without, the duration. */
  cell?: (row: Row) => ComponentChildren;
  /** What is told of a cell on hovering. */
  hintOf?: (row: Row) => string;
}

export interface Sort<By extends string = string> {
  by: By;
  descending: boolean;
}

interface Props<Row> extends Omit<ComponentProps<"table">, "rows"> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Number of the column that names a row. */
  head?: number;
  /** Needed where rows change their places. */
  keyOf?: (row: Row) => string;
  isPicked?: (row: Row) => boolean;
  /** Class of the table. */
  kind?: string;
  /** For each column in turn what sorts by it, and the order there is. */
  sort?: { by: readonly string[]; is: Sort; choose: (by: string) => void };
}

export function Table<Row>({ caption, columns, rows, head = 0, keyOf, isPicked, sort, kind = "", children, ...rest }: Props<Row>) {
  const kindOf = ({ isNumber, ns, kind = "" }: Column<Row>): string => (isNumber || ns ? `is-number ${kind}` : kind);
  const titleOf = ({ title, isBare, hint }: Column<Row>, column: number) => {
    if (isBare) return <span class="sr-only">{title}</span>;
    if (sort === undefined) return title;
    const { by, is, choose } = sort;
    return (
      <button type="button" class="vw-sort" title={hint} onClick={() => choose(by[column])}>
        {title}
        <span class="vw-sort-sign" aria-hidden="true">
          {is.by === by[column] && (is.descending ? "▼" : "▲")}
        </span>
      </button>
    );
  };
  return (
    <div class="vw-scroll-x">
      <table {...rest} class={`vw-table ${kind}`}>
        <caption class="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, i) => (
              <th
                key={column.title}
                scope="col"
                class={kindOf(column)}
                title={column.hint}
                aria-sort={sort && (sort.is.by !== sort.by[i] ? "none" : sort.is.descending ? "descending" : "ascending")}
              >
                {titleOf(column, i)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={keyOf?.(row) ?? i} class={isPicked?.(row) ? "is-picked" : ""}>
              {columns.map((column, i) => {
                const { ns, cell, hintOf } = column;
                const Cell = i === head ? "th" : "td";
                return (
                  <Cell key={i} scope={i === head ? "row" : undefined} class={kindOf(column)} title={ns ? formatExact(ns(row)) : hintOf?.(row)}>
                    {cell ? cell(row) : formatDuration(ns!(row))}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
        {children}
      </table>
    </div>
  );
}

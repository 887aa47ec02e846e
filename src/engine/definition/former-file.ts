/**
 * What the headings of a file mean that the platform wrote from which a merchant comes. Headings are in lower case, columns are named as
 * in exports; a list of `namedLists` is a column too.
 */
export interface FormerFile {
  readonly columns: Readonly<Record<string, string>>
  /** Of `columns`: headings whose cells are names of records, also those of digits. */
  readonly byName: readonly string[]
  /** Headings whose meaning is not certain: what a person is asked, and what is suggested. */
  readonly asked: Readonly<
    Record<string, { readonly question: string } & ({ readonly column: string } | { readonly reason: string })>
  >
  /** Headings that are not taken in, and why: a sentence without its subject. */
  readonly leftOut: Readonly<Record<string, string>>
}

/** A list of which a cell of a file gives the items by the names of records. */
export interface NamedList {
  /** What stands between two items. Omitted: a cell is one item. */
  readonly between?: string
  /** What stands between the names of an item, of which each record lies below the one before, by the field `parent`. Omitted: an item is one name. */
  readonly levels?: { readonly separator: string; readonly parent: string }
}

import type { Caller } from '../../../engine/caller.ts'
import type { Filters } from '../../../engine/definition/filters.ts'
import type { Phrase } from '../../../foundation/texts/text.ts'
import type { Wire } from '../frame/pages.ts'
import type { Chip } from './order-words.ts'
import type { Value } from './services.ts'

/** What the pages of a service have beyond those that follow from its definition. */
export interface Special {
  /** The address, behind the service's, of the page of a record that follows from its definition. */
  readonly recordPath: string
  /** Of what stands below the title of a record's page; null: nothing. */
  readonly template: string | null
  /** Of the parts that stand before the groups on a record's page; null: none. */
  readonly partsTemplate: string | null
  /** What the templates read. `parts` are the headings of the second one, for the index of the page. */
  readonly read: (
    caller: Caller,
    record: Wire,
  ) => Promise<Readonly<Record<string, unknown>> & { readonly parts?: readonly { slug: string; title: Phrase }[] }>
  /** Slugs of the groups and lists that these parts show instead. */
  readonly sections: readonly string[]
  /** Behind the address of a record, the forms of groups and lists that have one of their own, by slugs. */
  readonly forms: Readonly<Record<string, string>>
  /** Tables of the referring records that these parts show instead. */
  readonly referrers: readonly string[]
  /** Wire names of values that only who connects programs needs: they stand folded at the end of a record's page. */
  readonly technical: readonly string[]
  /** The template of a link to the page that a record has elsewhere; null: none has. */
  readonly ownPage: string | null
  /** The template of what stands beside the heading of the list; null: nothing. */
  readonly listLinks: string | null
  /** The names of the columns of the list, where nobody has chosen any; empty: what it can be filtered by. */
  readonly columns: readonly string[]
  /** What pages say beside a value. */
  readonly markOf: (name: string, record: Wire) => Chip | null
  /** The names of the values, and of lists of references, that a new record is asked for first; empty: those of its first group. */
  readonly asks: readonly string[]
  /** Whether the shop does not show the record, which its list says. */
  readonly isHidden: (record: Wire) => boolean
  /**
   * What can be done with the records of the list that are chosen: the template of its buttons, and the address of one of them;
   * `isAskedOnPage`: what is to be done is asked on a page that is opened again from the preview.
   */
  readonly selection: { readonly template: string; readonly action: string; readonly isAskedOnPage?: true } | null
  /** The names of the filters that are always in sight. */
  readonly inSight: readonly string[]
  /** Filters that only the list has. */
  readonly listFilters: Filters
  /** Values that only the list has, which `shownAs` of the words gives. */
  readonly listValues: readonly Value[]
  /** The template of further files that the list can be taken along as; null: there are none. */
  readonly listFiles: string | null
  /** For a list of the records with these ids. */
  readonly wordsOf: (caller: Caller, ids: readonly number[]) => Promise<Partial<Words>>
  /** Whether people add records by a form of its own. */
  readonly isAddedElsewhere: boolean
  /** The template of what a list says that has no records yet; null: how to add them. */
  readonly emptyTemplate: string | null
  /** Whether only those get or send a file of its records who have shown a password or a passkey in the last 15 minutes. */
  readonly isFileProved: boolean
}

/** Of a service whose pages follow from its definition. */
export const plain: Special = {
  recordPath: '/:id',
  template: null,
  partsTemplate: null,
  read: async () => ({}),
  sections: [],
  forms: {},
  referrers: [],
  technical: [],
  ownPage: null,
  listLinks: null,
  columns: [],
  markOf: () => null,
  asks: [],
  isHidden: () => false,
  selection: null,
  inSight: ['find'],
  listFilters: {},
  listValues: [],
  listFiles: null,
  wordsOf: async () => ({}),
  isAddedElsewhere: false,
  emptyTemplate: null,
  isFileProved: false,
}

/** The words for values that would otherwise be numbers, by wire names. */
export interface Words {
  /** What filters offer to choose from, by the names of what they compare. */
  readonly choices: Readonly<Record<string, readonly (readonly [value: string, text: Phrase])[]>>
  /** Those of `choices` that people may give chosen records. */
  readonly targets: Words['choices']
  /** With a tone as a badge of this class. Null: the value speaks for itself. */
  readonly shownAs: (name: string, record: Wire) => { readonly text: Phrase; readonly tone?: string } | null
}

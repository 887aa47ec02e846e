import type { Caller } from '../../../engine/caller.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import type { Phrase } from '../../../foundation/texts/text.ts'
import type { Wire } from '../frame/request.ts'
import { categoryExtras } from '../shop/categories/extras.ts'
import { customerExtras } from '../shop/customers/extras.ts'
import { productExtras } from '../shop/products/extras.ts'

/** A part of a page, to which its index leads. */
export interface Part {
  readonly slug: string
  readonly title: Phrase
}

/** What the pages of a service have beyond those that follow from its definition. */
export interface Extras {
  /** Of what stands below the title of a record's page; null: nothing. */
  readonly template: string | null
  /** Of the parts that stand before the groups on a record's page; null: none. */
  readonly partsTemplate: string | null
  /** What the templates read. `parts` are the headings of the second one, for the index of the page. */
  readonly read: (
    caller: Caller,
    record: Wire,
  ) => Promise<Readonly<Record<string, unknown>> & { readonly parts?: readonly Part[] }>
  /** Slugs of the groups and lists that these parts show instead. */
  readonly sections: readonly string[]
  /** Tables of the referring records that these parts show instead. */
  readonly referrers: readonly string[]
  /** Beside the heading of the list. */
  readonly listLinks: readonly { readonly address: string; readonly text: Phrase }[]
  /** Whether the shop does not show the record, which its list says. */
  readonly isHidden: (record: Wire) => boolean
  /** Wire names of values that only who connects programs needs: they stand folded at the end of a record's page. */
  readonly technical: readonly string[]
  /** What can be done with the records of the list that are chosen: the template of its buttons, and the address of one of them. */
  readonly selection: { readonly template: string; readonly action: string } | null
}

const none: Extras = {
  template: null,
  partsTemplate: null,
  read: async () => ({}),
  sections: [],
  referrers: [],
  listLinks: [],
  isHidden: () => false,
  technical: [],
  selection: null,
}

const extras: Readonly<Record<string, Extras>> = {
  Products: productExtras,
  Category: categoryExtras,
  Customers: customerExtras,
  Orders: { ...none, selection: { template: '/pages/shop/orders/selection', action: '/admin/orders/bulk/slips' } },
}

export function extrasOf({ service }: Resource): Extras {
  return extras[service] ?? none
}

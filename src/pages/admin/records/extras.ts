import type { Caller } from '../../../engine/caller.ts'
import type { Resource } from '../../../engine/definition/define.ts'
import { categoryExtras } from '../categories/extras.ts'
import { customerExtras } from '../customers/extras.ts'
import { productExtras } from '../products/extras.ts'
import type { Wire } from './values.ts'

/** What the pages of a service have beyond those that follow from its definition. */
export interface Extras {
  /** Of the parts that stand above the groups on a record's page; null: none. */
  readonly template: string | null
  /** What the template reads. */
  readonly read: (caller: Caller, record: Wire) => Promise<Readonly<Record<string, unknown>>>
  /** Slugs of the groups and lists that these parts show instead. */
  readonly sections: readonly string[]
  /** Tables of the referring records that these parts show instead. */
  readonly referrers: readonly string[]
  /** Beside the heading of the list. */
  readonly listLinks: readonly { readonly address: string; readonly text: string }[]
}

const none: Extras = {
  template: null,
  read: async () => ({}),
  sections: [],
  referrers: [],
  listLinks: [],
}

const extras: Readonly<Record<string, Extras>> = {
  Products: productExtras,
  Category: categoryExtras,
  Customers: customerExtras,
}

export function extrasOf({ service }: Resource): Extras {
  return extras[service] ?? none
}

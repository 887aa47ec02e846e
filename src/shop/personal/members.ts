import personal from './personal.json' with { type: 'json' }

// What is personal of the records, by the table personal.json (docs/decisions/erasure.md).

/** The services whose records may be of a customer. */
export const services = ['Customers', 'Orders', 'GiftRegistries', 'RMA'] as const

type MemberTreatment = 'sought' | 'emptied' | 'fixed' | 'kept' | 'other'

export type Named<Treatment extends string> = Readonly<Record<string, { readonly [T in Treatment]?: string }>>

const members = new Map<string, MemberTreatment>(
  Object.entries(personal.members as Named<MemberTreatment>).flatMap(([at, treatments]) =>
    Object.entries(treatments).flatMap(([treatment, names]) =>
      names.split(' ').map((name): [string, MemberTreatment] => [`${at}.${name}`, treatment as MemberTreatment]),
    ),
  ),
)

/** What erasure makes of a member, by service and path: `Orders.ShipmentList.ShipmentCity`; undefined: of no definition, or a list. */
export function treatmentOf(path: string): MemberTreatment | undefined {
  return members.get(path)
}

/** The members of which erasure leaves nothing, and the lists and objects that have some. */
const erased = new Set(
  [...members].flatMap(([path, treatment]) => {
    const parts = path.split('.')
    return treatment === 'kept' || treatment === 'other' ? [] : parts.map((_, at) => parts.slice(0, at + 1).join('.'))
  }),
)

/** Whether erasure leaves nothing of a member, or of a list with such members. */
export function isErased(path: string): boolean {
  return erased.has(path)
}

import { allows } from '../../access/applications/privileges.ts'
import type { Seeker } from '../../engine/definition/finders.ts'

/** The sources of words (SearchText) that name no person: tracking codes, transactions, and what else names a record. */
const nameless = [2, 3, 4]

/** The sources of words that the seeker may be led by: names of people only where customers may be read. Null: all. */
export function sourcesFor({ privileges }: Seeker): readonly number[] | null {
  return allows(privileges, 'Customers', 'read') ? null : nameless
}

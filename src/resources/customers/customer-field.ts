import type { ValueField } from '../../engine/fields.ts'
import { customers } from './customers.ts'

/** A field of a customer by its wire name, also one that REST does not show. Throws for a name that is none. */
export function customerField(name: string): ValueField {
  const field = customers.storedFields.get(name)
  if (field === undefined || field.kind === 'object' || field.kind === 'list') {
    throw new Error(`Customers have no value ${name}`)
  }
  return field
}

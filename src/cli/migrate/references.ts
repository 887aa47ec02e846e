import type { FieldSet, ListField } from '../../engine/definition/fields.ts'
import type { Resource } from '../../engine/definition/resource.ts'
import { resourceNamed, targetOf } from '../../shop/registry.ts'
import type { Shaped } from './shape.ts'

/** A reference in a record to a record of another service. */
export interface Naming {
  readonly target: Resource
  /** Such as `OrderItemList[2].CatalogID`. */
  readonly member: string
  readonly id: number
  /** Sets the reference to 0; removes the list item if the reference is its key. */
  readonly clear: () => void
}

/** Lists the references of a shaped record. */
export function namingsOf(resource: Resource, record: Shaped): Naming[] {
  return namingsIn(resource, resource.fields, { record, path: '' })
}

interface Place {
  readonly record: Shaped
  readonly path: string
  /** The list that contains the record. */
  readonly within?: { readonly items: Shaped[]; readonly field: ListField }
}

function namingsIn(resource: Resource, fields: FieldSet, { record, path, within }: Place): Naming[] {
  return fields.entries.flatMap(([name, field]): Naming[] => {
    const value = record[name]
    const member = path === '' ? name : `${path}.${name}`
    if (field.kind === 'object') {
      return namingsIn(resource, field.fields, { record: (value ?? {}) as Shaped, path: member })
    }
    if (field.kind === 'list') {
      const items = (value ?? []) as Shaped[]
      return items.flatMap((item, index) => {
        const place = { record: item, path: `${member}[${index}]`, within: { items, field } }
        return namingsIn(resource, field.fields, place)
      })
    }
    if (typeof value !== 'number' || value < 1 || (field.access === 'key' && within === undefined)) return []
    // Definitions name members without indices.
    const plain = member.replaceAll(/\[\d+\]/g, '')
    const target = field.names ? resourceNamed(field.names.service) : targetOf(resource, plain)
    if (target === null) return []
    const isItem = within?.field.key === name
    const clear = () => {
      if (isItem) within.items.splice(within.items.indexOf(record), 1)
      else record[name] = 0
    }
    return [{ target, member, id: value, clear }]
  })
}

import { Prisma } from './generated/client.ts'

/**
 * SQL as values: fragments compose, and each carries its parameters, so that nobody numbers them. `sql` is a template tag whose
 * values become parameters, or parts of the text where they are fragments themselves; `empty` is no
 * text. Statements run by `$queryRaw` and `$executeRaw`.
 */
export const { sql, empty } = Prisma
export type Sql = Prisma.Sql

/** Fragments with a separator between them; of none, no text. */
export function join(fragments: readonly Sql[], separator = ', '): Sql {
  return fragments.length === 0 ? empty : Prisma.join([...fragments], separator)
}

/** A table or column by its name in the schema. Throws for any other text, so that no caller's input becomes SQL. */
export function identifier(name: string): Sql {
  const known = identifiers.get(name)
  if (known) return known
  if (!/^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(name)) throw new Error(`${name} is no name of a table or column`)
  const quoted = Prisma.raw(`"${name}"`)
  identifiers.set(name, quoted)
  return quoted
}

/** The names of the definitions: a few hundred. */
const identifiers = new Map<string, Sql>()

/** A whole number as a part of the text, where PostgreSQL has to know it to plan the statement well. */
export function constant(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is no whole number`)
  return Prisma.raw(String(value))
}

/**
 * A store's id, to be compared with a column. It is not a plain parameter: of a store that had nothing when PostgreSQL last
 * counted, the planner would believe that any index that begins with the store gives nearly nothing, and read the whole store
 * through a wrong one.
 */
export function storeId(store: { readonly id: number }): Sql {
  return sql`(SELECT ${store.id}::int)`
}

/** To be compared with a column by `=`: any of the ids of a batch of records. One value: each one has its price. */
export function anyOf(ids: readonly (number | string)[]): Sql {
  return sql`ANY (string_to_array(${ids.join(',')}, ',')::int[])`
}

/**
 * The same for what runs with every change, of a few records at a time: PostgreSQL cannot look into it, and keeps its plan
 * instead of planning each time anew (0.7 ms for 0.1 ms of work).
 */
export function anyOfFew(ids: readonly (number | string)[]): Sql {
  return sql`ANY (ARRAY (SELECT unnest(string_to_array(${ids.join(',')}, ',')::int[])))`
}

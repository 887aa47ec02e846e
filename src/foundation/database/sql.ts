import { Prisma } from './generated/client.ts'

/**
 * SQL as values: fragments compose, and each carries its parameters. `sql` is a template tag: its values become parameters, or
 * parts of the text if they are fragments; `empty` is the empty fragment. `$queryRaw` and `$executeRaw` run statements.
 */
export const { sql, empty } = Prisma
export type Sql = Prisma.Sql

/** Joins fragments with a separator; of no fragments, returns `empty`. */
export function join(fragments: readonly Sql[], separator = ', '): Sql {
  return fragments.length === 0 ? empty : Prisma.join([...fragments], separator)
}

/** Quotes the name of a table or column. Throws for any other text, so that input never becomes SQL. */
export function identifier(name: string): Sql {
  const known = identifiers.get(name)
  if (known) return known
  if (!/^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(name)) throw new Error(`${name} is no name of a table or column`)
  const quoted = Prisma.raw(`"${name}"`)
  identifiers.set(name, quoted)
  return quoted
}

/** A few hundred, from definitions. */
const identifiers = new Map<string, Sql>()

/** A whole number in the text of the statement, for numbers that the planner needs to know. */
export function constant(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is no whole number`)
  return Prisma.raw(String(value))
}

/**
 * A store's id, to compare with a column. Not a plain parameter: if the store was empty at the last ANALYZE, the planner would
 * expect almost no rows from any index that begins with the store, and read the whole store through the wrong one.
 */
export function storeId(store: { readonly id: number }): Sql {
  return sql`(SELECT ${store.id}::int)`
}

/** Any of the ids, to compare with a column by `=`. A single parameter, because each parameter has a cost. */
export function anyOf(ids: readonly (number | string)[]): Sql {
  return sql`ANY (string_to_array(${ids.join(',')}, ',')::int[])`
}

/**
 * The same for the few records of a change. The planner cannot estimate it and keeps a generic plan, instead of planning each
 * execution (0.7 ms for 0.1 ms of work).
 */
export function anyOfFew(ids: readonly (number | string)[]): Sql {
  return sql`ANY (ARRAY (SELECT unnest(string_to_array(${ids.join(',')}, ',')::int[])))`
}

/**
 * An array of texts without line feeds, such as JSON: a list of lines is read sooner than JSON in JSON. A null stands for an
 * empty text.
 */
export function lines(values: readonly (string | number | null)[]): Sql {
  return sql`string_to_array(${values.join('\n')}, E'\\n', '')`
}

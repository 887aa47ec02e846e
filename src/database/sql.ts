import { Prisma } from './generated/client.ts'

/**
 * SQL as values: fragments compose, and each carries its parameters, so that nobody numbers them. `sql` is a template tag whose
 * values become parameters, or parts of the text where they are fragments themselves; `join` puts a separator between
 * fragments; `empty` is no text. Statements run by `$queryRaw` and `$executeRaw`.
 */
export const { sql, join, empty } = Prisma
export type Sql = Prisma.Sql

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

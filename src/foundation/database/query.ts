import pg from 'pg'

/** A connection of its own that is asked by SQL text. */
export interface Query {
  readonly query: <T extends object>(sql: string, values?: readonly (string | number)[]) => Promise<T[]>
}

export function queryOf(client: pg.ClientBase) {
  return async <T extends object>(sql: string, values: readonly (string | number)[] = []) =>
    (await client.query<T>(sql, [...values])).rows
}

export function qualified(name: string): string {
  return `"public".${pg.escapeIdentifier(name)}`
}

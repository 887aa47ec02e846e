import pg from 'pg'
import { vi } from 'vitest'

export interface SentStatement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Runs `work` and returns the statements that the process sent to PostgreSQL meanwhile, over all of its connections. */
export async function statementsOf(work: () => Promise<unknown>): Promise<SentStatement[]> {
  const { Query } = pg as unknown as PgWithQuery
  const spy = vi.spyOn(Query.prototype, 'submit')
  try {
    await work()
    const sent = spy.mock.contexts as (typeof Query.prototype)[]
    return sent.map(({ text, values }) => ({ text, values: values ?? [] }))
  } finally {
    spy.mockRestore()
  }
}

/** What sends a statement over a connection; pg's types leave it out. */
interface PgWithQuery {
  readonly Query: { readonly prototype: { text: string; values?: unknown[]; submit(connection: unknown): unknown } }
}

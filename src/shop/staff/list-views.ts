import { fieldFault } from '../../access/people/passwords.ts'
import { type DataServices, inTransaction } from '../../foundation/database/client.ts'
import type { ListView as Row } from '../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isOneLine } from '../../foundation/values/input.ts'

/** A list of records as a person of a store keeps it: the query of its address has its filters, columns and order. */
export type ListView = Pick<Row, 'name' | 'query'>

const VIEW_NAME_MAX = 50
const QUERY_MAX = 2_000
/** Of a person and service. */
const VIEWS_MAX = 20

interface Whose {
  /** The account in the store. */
  readonly userId: number
  readonly service: string
}

/** The person's views of a service, by name. */
export function listViews({ db }: Pick<DataServices, 'db'>, { userId, service }: Whose): Promise<ListView[]> {
  const select = { name: true, query: true } as const
  return db.listView.findMany({ where: { userId, service }, select, orderBy: { name: 'asc' } })
}

/** Keeps a view under a name, in place of the one that has it. Throws for an empty or long name (400), and where there are 20 already (409). */
export async function saveView({ db }: Pick<DataServices, 'db'>, { userId, service }: Whose, view: ListView) {
  const { query } = view
  const name = view.name.trim()
  if (name === '' || name.length > VIEW_NAME_MAX || !isOneLine(name)) {
    throw fieldFault('name', `must have 1 to ${VIEW_NAME_MAX} characters, without line breaks`)
  }
  if (query.length > QUERY_MAX) throw new StoreFailure('too-long', 'The filters and columns are too many to be kept')
  await inTransaction(db, async (transaction) => {
    // Two forms at once must not keep more together than each may.
    await transaction.$queryRaw`SELECT "id" FROM "StoreUser" WHERE "id" = ${userId} FOR UPDATE`
    const others = await transaction.listView.count({ where: { userId, service, NOT: { name } } })
    if (others >= VIEWS_MAX)
      throw new StoreFailure('limit-reached', `You keep ${VIEWS_MAX} views of this list. Delete one of them first`)
    const key = { userId_service_name: { userId, service, name } }
    await transaction.listView.upsert({ where: key, create: { userId, service, name, query }, update: { query } })
  })
}

/** Deletes a view, if there is one of this name. */
export async function deleteView({ db }: Pick<DataServices, 'db'>, { userId, service }: Whose, name: string) {
  await db.listView.deleteMany({ where: { userId, service, name } })
}

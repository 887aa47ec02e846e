import { createAuthenticator } from '../../src/access/applications/authenticate.ts'
import { buildApp } from '../../src/app.ts'
import { connect } from '../../src/foundation/database/client.ts'
import { openLine } from './line.ts'
import type { TestServer } from './store.ts'

/** Another process on the server's database, with connections and a memory of its own, and a line that can be cut. */
export async function otherProcess({ services, database }: TestServer, poolMax = 1) {
  const { url, cutAfterCommit, close } = await openLine(database.url)
  const db = connect(url, { poolMax })
  const app = buildApp({ ...services, db, authenticator: createAuthenticator({ ...services, db }) })
  return {
    app,
    cutAfterCommit,
    close: async () => {
      await app.close()
      await db.$disconnect()
      close()
    },
  }
}

import pg from 'pg'

/** A bare connection, for what is said about PostgreSQL itself. */
export async function openClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // A server that is killed under it says so here too.
  client.on('error', () => {})
  await client.connect()
  return client
}

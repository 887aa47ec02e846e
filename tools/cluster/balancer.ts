import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'
import { ordinaryUser } from '../../test/support/postgres-15.ts'
import { freePort } from '../../test/support/run-server.ts'
import type { Node } from './database.ts'
import { haproxy, pgbouncer } from './packages.ts'
import { keepProgram, until } from './processes.ts'
import type { Run } from './run.ts'

export interface Balancer {
  /** Where clients reach the servers. */
  readonly baseUrl: string
  /** Where the primary is reached. */
  readonly databasePort: number
  /** The names of the servers that are up, and of the PostgreSQL that is the primary. */
  readonly up: (backend: 'servers' | 'database') => Promise<string[]>
  /** Kills it, and starts it again. */
  readonly restart: () => Promise<void>
}

/** Starts HAProxy by the configuration of `cluster/`, in front of servers on these ports and of the databases. */
export async function startBalancer(
  run: Run,
  serverPorts: readonly number[],
  nodes: readonly Node[],
): Promise<Balancer> {
  const [clients, database, status] = [await freePort(), await freePort(), await freePort()]
  const config = await run.copy('haproxy.cfg', {
    'bind :8080': `bind 127.0.0.1:${clients}`,
    'bind :5432': `bind 127.0.0.1:${database}`,
    'bind :8404': `bind 127.0.0.1:${status}`,
    ...Object.fromEntries(serverPorts.map((port, index) => [`server-${index + 1}:3000`, `127.0.0.1:${port}`])),
    ...Object.fromEntries(
      nodes.map(({ name, postgresPort, restPort }) => [
        `${name}:5432 port 8008`,
        `127.0.0.1:${postgresPort} port ${restPort}`,
      ]),
    ),
  })
  const restart = keepProgram(run, { program: haproxy, args: ['-db', '-f', config], log: run.log('haproxy') })
  const up = async (backend: string) => {
    const text = await (await request(`http://127.0.0.1:${status}/;csv`)).body.text()
    const [head = [], ...rows] = text.split('\n').map((line) => line.split(','))
    const column = head.indexOf('status')
    return rows.flatMap((row) => {
      const [proxy, name = ''] = row
      return proxy === backend && name !== 'BACKEND' && row[column]?.startsWith('UP') ? [name] : []
    })
  }
  await until('HAProxy', () => up('database').then(({ length }) => length === 1))
  return { baseUrl: `http://127.0.0.1:${clients}`, databasePort: database, up, restart }
}

export interface Pooler {
  readonly port: number
  /** Kills it, and starts it again. */
  readonly restart: () => Promise<void>
}

/** Starts PgBouncer by the configuration of `cluster/`. */
export async function startPooler(run: Run, databasePort: number, password: string): Promise<Pooler> {
  const port = await freePort()
  const users = join(run.folder, 'userlist.txt')
  await writeFile(users, `"store" "${password}"\n`, { mode: 0o600 })
  if (ordinaryUser.uid !== undefined) await chown(users, ordinaryUser.uid, ordinaryUser.gid)
  const config = await run.copy('pgbouncer.ini', {
    'host=haproxy port=5432': `host=127.0.0.1 port=${databasePort}`,
    'listen_addr = 0.0.0.0': 'listen_addr = 127.0.0.1',
    'listen_port = 6432': `listen_port = ${port}`,
    '/run/pgbouncer/userlist.txt': users,
  })
  return { port, restart: keepProgram(run, { program: pgbouncer, args: [config], log: run.log('pgbouncer') }) }
}

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { request } from 'undici'
import { programs15 } from '../../test/support/postgres-15.ts'
import { freePort } from '../../test/support/run-server.ts'
import { etcd, patroni } from './packages.ts'
import { endPid, keepProgram, type Started, startProgram, until } from './processes.ts'
import type { Run } from './run.ts'

/** A PostgreSQL and the Patroni that looks after it. */
export interface Node {
  readonly name: string
  readonly postgresPort: number
  readonly restPort: number
  readonly start: () => void
  /** By SIGKILL, Patroni and its PostgreSQL. */
  readonly kill: () => Promise<void>
}

export interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

export interface Passwords {
  readonly superuser: string
  readonly store: string
}

export interface Database {
  readonly nodes: readonly Node[]
  readonly etcd: Etcd
}

/** Starts etcd, and three PostgreSQL under Patroni by the configuration of `cluster/`. Comes back when two standbys follow. */
export async function startDatabase(run: Run, passwords: Passwords): Promise<Database> {
  const etcd = await startEtcd(run)
  const script = await run.copy('create-database.sh', {})
  const config = await run.copy('patroni.yml', { '/cluster/create-database.sh': script })
  const nodes: Node[] = []
  for (const name of ['database-1', 'database-2', 'database-3']) {
    nodes.push(await prepareNode(run, { name, config, etcdHosts: etcd.hosts, passwords }))
  }
  for (const { start } of nodes) start()
  await untilComplete(nodes)
  return { nodes, etcd }
}

interface Etcd {
  /** As Patroni takes them. */
  readonly hosts: string
  /** Kills one of the three, and starts it again. */
  readonly restartOne: () => Promise<void>
}

async function startEtcd(run: Run): Promise<Etcd> {
  const members: { name: string; client: string; peer: string }[] = []
  for (const name of ['etcd-1', 'etcd-2', 'etcd-3']) {
    members.push({ name, client: `127.0.0.1:${await freePort()}`, peer: `http://127.0.0.1:${await freePort()}` })
  }
  const cluster = members.map(({ name, peer }) => `${name}=${peer}`).join(',')
  const restarts = members.map(({ name, client, peer }) => {
    const args = [
      `--name=${name}`,
      `--data-dir=${join(run.folder, name)}`,
      `--listen-client-urls=http://${client}`,
      `--advertise-client-urls=http://${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${cluster}`,
    ]
    return keepProgram(run, { program: etcd, args, log: run.log(name) })
  })
  for (const { client } of members) {
    await until('etcd', async () => (await request(`http://${client}/health`)).statusCode === 200)
  }
  return { hosts: members.map(({ client }) => client).join(','), restartOne: restarts[0] ?? (async () => {}) }
}

interface NodeOptions {
  readonly name: string
  readonly config: string
  readonly etcdHosts: string
  readonly passwords: Passwords
}

async function prepareNode(run: Run, { name, config, etcdHosts, passwords }: NodeOptions): Promise<Node> {
  const [postgresPort, restPort] = [await freePort(), await freePort()]
  const data = join(run.folder, name)
  const env = {
    PATH: `${programs15}:/usr/bin:/bin`,
    PATRONI_NAME: name,
    PATRONI_ETCD3_HOSTS: etcdHosts,
    PATRONI_RESTAPI_LISTEN: `127.0.0.1:${restPort}`,
    PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${restPort}`,
    PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${postgresPort}`,
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${postgresPort}`,
    PATRONI_POSTGRESQL_DATA_DIR: data,
    PATRONI_POSTGRESQL_BIN_DIR: programs15,
    PATRONI_POSTGRESQL_PGPASS: `${data}.pgpass`,
    PATRONI_SUPERUSER_PASSWORD: passwords.superuser,
    PATRONI_REPLICATION_PASSWORD: passwords.superuser,
    STORE_PASSWORD: passwords.store,
  }
  let started: Started | undefined
  const postgresPid = () => readFile(join(data, 'postmaster.pid'), 'utf8').then((text) => Number.parseInt(text, 10))
  const end = async (signal: NodeJS.Signals) => {
    if (started === undefined) return
    await endPid(started.pid, 'SIGKILL')
    started = undefined
    const pid = await postgresPid().catch(() => 0)
    if (pid > 0) await endPid(pid, signal)
  }
  // SIGQUIT has PostgreSQL end its own processes, and its shared memory.
  run.add(() => end('SIGQUIT'))
  return {
    name,
    postgresPort,
    restPort,
    start: () => {
      started = startProgram({ program: patroni, args: [config], env, log: run.log(name) })
    },
    kill: () => end('SIGKILL'),
  }
}

/** Waits until there are a primary, a synchronous and an asynchronous standby. */
export async function untilComplete(nodes: readonly Node[], waitMs = 120_000): Promise<void> {
  const wanted = ['leader', 'replica', 'sync_standby']
  const isComplete = async () => {
    const members = await membersOf(nodes)
    const isRunning = members.every(({ state }) => state === 'running' || state === 'streaming')
    return isRunning && String(members.map(({ role }) => role).sort()) === String(wanted)
  }
  await until('a primary, a synchronous and an asynchronous standby', isComplete, { waitMs })
}

async function membersOf(nodes: readonly Node[]): Promise<Member[]> {
  for (const { restPort } of nodes) {
    const answer = await request(`http://127.0.0.1:${restPort}/cluster`).catch(() => null)
    if (answer !== null) return ((await answer.body.json()) as { members: Member[] }).members
  }
  throw new Error('No Patroni answers')
}

/** The node of this role, by Patroni's health checks. */
export async function nodeOf(nodes: readonly Node[], role: 'primary' | 'sync' | 'async'): Promise<Node> {
  return until(`a node that is ${role}`, async () => {
    for (const node of nodes) {
      const answer = await request(`http://127.0.0.1:${node.restPort}/${role}`).catch(() => null)
      await answer?.body.dump()
      if (answer?.statusCode === 200) return node
    }
    return null
  })
}

/** Has Patroni make the synchronous standby the primary. Comes back when it says that it has. */
export async function switchOver(nodes: readonly Node[]): Promise<void> {
  const [primary, standby] = [await nodeOf(nodes, 'primary'), await nodeOf(nodes, 'sync')]
  const answer = await request(`http://127.0.0.1:${primary.restPort}/switchover`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ leader: primary.name, candidate: standby.name }),
  })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`The switchover was answered ${answer.statusCode}: ${text}`)
}

/** Resolves with the time (of `performance`) at which one of the standbys says that it is no standby any more. */
export async function promotionOf(standbys: readonly Node[], { superuser }: Passwords): Promise<number> {
  const clients = standbys.map(
    ({ postgresPort }) =>
      new pg.Client({
        host: '127.0.0.1',
        port: postgresPort,
        user: 'postgres',
        password: superuser,
        database: 'store',
      }),
  )
  for (const client of clients) client.on('error', () => {})
  try {
    await Promise.all(clients.map((client) => client.connect()))
    const isPrimary = async (client: pg.Client) => {
      const { rows } = await client.query('SELECT pg_is_in_recovery() AS "isStandby"')
      return rows[0].isStandby === false
    }
    return await until(
      'a promotion',
      async () => ((await Promise.all(clients.map(isPrimary))).some(Boolean) ? performance.now() : null),
      { everyMs: 20 },
    )
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}
